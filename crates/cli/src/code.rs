//! The variable `PFAFF_CODE`: in which way programs are evaluated. All ways give the same numbers; they differ in time.

use pfaff::Backend;

use crate::output::{Exit, usage};

/// Prefers the way that the variable names, if it is there and not empty.
pub(crate) fn choose() -> Result<(), Exit> {
    let Some(word) = std::env::var_os("PFAFF_CODE").filter(|word| !word.is_empty()) else {
        return Ok(());
    };
    let word = word.to_string_lossy();
    let Some(way) = Backend::ALL.into_iter().find(|way| way.name() == word) else {
        let names = Backend::ALL.map(Backend::name).join(", ");
        return Err(usage(&format!("PFAFF_CODE is `{word}`; it can be {names}")));
    };
    if !way.is_available() {
        let why = match way {
            Backend::Cranelift => {
                "this pfaff was built without the feature `cranelift`, or for a processor that Cranelift does not know"
            }
            Backend::Interpreter | Backend::Native => {
                "there is no native code for this processor"
            }
        };
        return Err(usage(&format!("PFAFF_CODE is `{word}`: {why}")));
    }
    Backend::prefer(Some(way));
    Ok(())
}
