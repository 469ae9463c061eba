//! `pfaff variations`

use pfaff::{NoVariations, Request, VariationRequest, variations as vary};

use crate::arguments::{PlainFormat, VariationsArguments};
use crate::output::{Exit, failed, print, rejected};

pub(crate) fn variations(arguments: &VariationsArguments) -> Result<Exit, Exit> {
    let run = Request {
        principle: arguments.principle.as_deref().map(crate::derive::principle).transpose()?,
        t0: arguments.t0,
        t1: arguments.t1,
        at: arguments.at.as_deref().map(crate::run::times).transpose()?,
        samples: arguments.samples,
        ..Request::default()
    };
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let request = VariationRequest {
        vary: arguments.vary.clone(),
        motion: arguments.motion.clone(),
        run,
    };
    let found = vary(&model, &request).map_err(|none| match none {
        NoVariations::Rejected(r) => rejected(&r),
        NoVariations::Failure(f) => failed(&f, &model.source),
    })?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    print(&if json { format!("{}\n", found.to_json()) } else { found.to_text() })?;
    Ok(Exit::Done)
}
