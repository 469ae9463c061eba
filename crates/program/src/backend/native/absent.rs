//! Takes the place of `machine_code.rs` where there is none: no value of [`MachineCode`] can exist.

use std::convert::Infallible;
use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::lanes::Lanes;
use crate::tape::instruction::Slot;
use crate::tape::program::Tape;

/// Code for another processor: there is none.
#[derive(Clone, Debug)]
pub(crate) struct MachineCode(Infallible);

impl MachineCode {
    pub(crate) fn compile(_: &Arc<Tape>, _: Lanes, _: Backend) -> Option<Self> {
        None
    }

    pub(crate) fn exists(_: Backend) -> bool {
        false
    }

    pub(crate) fn fixed(&self) -> &[Slot] {
        match self.0 {}
    }

    pub(crate) fn middle(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn memory(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn bytes(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn run(&self, _: &[f64], _: &mut [f64], _: &mut [f64]) {
        match self.0 {}
    }

    pub(crate) fn parts(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn run_part(&self, _: usize, _: &[f64], _: &mut [f64], _: &mut [f64]) {
        match self.0 {}
    }
}
