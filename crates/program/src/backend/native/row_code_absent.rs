//! Takes the place of `row_code.rs` where there is none: no value of [`RowCode`] can exist.

use std::convert::Infallible;

use super::simd::{RowCall, RowLoop};
use crate::backend::Backend;
use crate::backend::row_plan::{LoopLimits, LoopShape};
use crate::tape::layer::FamilyLoop;

/// A loop for another processor: there is none.
#[derive(Clone, Debug)]
pub(crate) struct RowCode(Infallible);

impl RowCode {
    pub(crate) fn limits(_: &FamilyLoop, _: Backend) -> Option<LoopLimits> {
        None
    }

    pub(crate) fn compile(_: &FamilyLoop, _: &LoopShape) -> Option<Self> {
        None
    }
}

impl RowLoop for RowCode {
    fn keeps(&self) -> bool {
        match self.0 {}
    }

    unsafe fn run(&mut self, _: RowCall<'_>) {
        match self.0 {}
    }
}
