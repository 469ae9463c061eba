//! Connections, flags, foliations and sprays, against differences and closed forms.

mod connection;
mod distribution;
mod foliation;
mod lagrange_space;
mod work;
