//! `pfaff check`

use pfaff::survey;

use crate::arguments::{CheckArguments, PlainFormat};
use crate::output::{Exit, print};

pub(crate) fn check(arguments: &CheckArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, None)?;
    let survey = survey(&model);
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    print(&if json { format!("{}\n", survey.to_json()) } else { survey.to_text() })?;
    Ok(Exit::Done)
}
