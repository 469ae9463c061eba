//! Motions with memory: tables, constraints, high orders, general kernels.

mod breaks;
mod constraints;
mod kernels;
mod motions;
mod nested;
mod orders;
mod units;
