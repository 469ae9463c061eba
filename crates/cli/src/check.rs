//! `pfaff check`

use pfaff::{Failure, Json, Model, Thermal, derive, survey, thermal};

use crate::arguments::{CheckArguments, PlainFormat};
use crate::output::{Exit, print, show, usage};

pub(crate) fn check(arguments: &CheckArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, None)?;
    let survey = survey(&model);
    let tested = arguments.temperature.map(|kt| temperature(&model, kt)).transpose()?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    if json {
        let mut object = survey.to_json();
        if let (Json::Object(members), Some(tested)) = (&mut object, &tested) {
            members.push(("temperature".into(), tested.to_json()));
        }
        print(&format!("{object}\n"))?;
    } else {
        let tested = tested.map_or(String::new(), |t| t.to_text());
        print(&format!("{}{tested}", survey.to_text()))?;
    }
    Ok(Exit::Done)
}

/// Whether the model keeps the temperature.
fn temperature(model: &Model, kt: f64) -> Result<Thermal, Exit> {
    let refused = |diagnostic| {
        show(std::slice::from_ref(&diagnostic), &model.source);
        Exit::BadModel
    };
    let derivation = derive(model, None).map_err(|r| refused(r.diagnostic()))?;
    thermal(&derivation, kt).map_err(|failure| match failure {
        Failure::Usage(message) => usage(&message),
        Failure::Model(diagnostics) => {
            show(&diagnostics, &model.source);
            Exit::BadModel
        }
    })
}
