//! The variable `PFAFF_CODE`: which backend evaluates compiled expressions. All of them give the same numbers;
//! they differ in time.

use pfaff::{Backend, Run};

use crate::output::{Exit, usage};

/// A run as the model says, measured, with the backend that the environment names.
pub(crate) fn base_run() -> Result<Run, Exit> {
    Ok(Run { backend: from_environment()?, ..crate::clock::measured_run() })
}

/// The backend that the variable names, if it is there and not empty.
pub(crate) fn from_environment() -> Result<Option<Backend>, Exit> {
    let Some(word) = std::env::var_os("PFAFF_CODE").filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
    let word = word.to_string_lossy();
    let Some(backend) = Backend::ALL.into_iter().find(|backend| backend.name() == word) else {
        let names = Backend::ALL.map(Backend::name).join(", ");
        return Err(usage(&format!("PFAFF_CODE is `{word}`; it can be {names}")));
    };
    if !backend.is_available() {
        let why = match backend {
            Backend::Cranelift => {
                "this pfaff was built without the feature `cranelift`, or for a processor that Cranelift does not know"
            }
            Backend::Interpreter | Backend::Native => {
                "there is no native code for this processor"
            }
        };
        return Err(usage(&format!("PFAFF_CODE is `{word}`: {why}")));
    }
    Ok(Some(backend))
}
