//! Where there is no native code: no value of [`Code`] exists, so that nothing has to pretend.

use std::convert::Infallible;
use std::sync::Arc;

use crate::backend::Way;
use crate::backend::lanes::Lanes;
use crate::tape::instruction::Slot;
use crate::tape::program::Tape;

/// Code for another processor: there is none.
#[derive(Clone, Debug)]
pub(crate) struct Code(Infallible);

impl Code {
    pub(crate) fn compile(_: &Arc<Tape>, _: Lanes, _: Way) -> Option<Self> {
        None
    }

    pub(crate) fn exists(_: Way) -> bool {
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
}
