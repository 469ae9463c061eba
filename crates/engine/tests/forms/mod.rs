//! Differential forms of a system: exterior algebra, foliations, identities, tables.

mod exterior;
mod foliation;
mod gallery;
mod identities;
mod tables;
