//! `pfaff geometry`

use pfaff::{GeometryRequest, NoGeometry, geometry as geometry_of};

use crate::arguments::{FormulaFormat, GeometryArguments};
use crate::output::{Exit, failed, print, rejected, usage};

pub(crate) fn geometry(arguments: &GeometryArguments) -> Result<Exit, Exit> {
    let format = match arguments.format {
        _ if arguments.json => FormulaFormat::Json,
        format => format.unwrap_or(FormulaFormat::Text),
    };
    if format == FormulaFormat::Latex && arguments.state.is_some() {
        return Err(usage("--state gives numbers: use it with text or json"));
    }
    let model = crate::input::model(&arguments.model, None)?;
    let request = GeometryRequest {
        dependent: arguments.dependent.clone(),
        state: arguments.state.clone(),
    };
    let report = geometry_of(&model, &request).map_err(|none| match none {
        NoGeometry::Rejected(r) => rejected(&r),
        NoGeometry::Failure(f) => failed(&f, &model.source),
    })?;
    print(&match format {
        FormulaFormat::Text => report.to_text(),
        FormulaFormat::Latex => report.to_latex(),
        FormulaFormat::Json => format!("{}\n", report.to_json()),
    })?;
    Ok(Exit::Done)
}
