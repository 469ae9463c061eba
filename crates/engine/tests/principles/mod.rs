//! The principles against reference tables and as executable identities.

mod chetaev;
mod identities;
mod theorems;
mod vakonomic;
