//! Figures and the page of a sweep.

use pfaff_present::{
    Block, Figure, Keep, Look, SweepPage, SweepPlot, SweepRows, SweepSummary, sweep_page,
};
use serde_json::Value;

use super::batches::Sweep;
use super::{SweepArguments, word};
use crate::command::plot::{Format, split};
use crate::figure_file::is_page;
use crate::output::{Exit, say, usage};
use crate::whole_file::Place;

/// What is drawn of a sweep.
pub(super) struct Pictures {
    plot: Option<(String, Format)>,
    kind: Option<SweepPlot>,
    columns: Vec<String>,
    report: Option<String>,
    has_samples: bool,
    is_drawn: bool,
}

/// Rows that figures may have: they are kept in memory.
const MOST: usize = 20_000_000;

impl Pictures {
    pub(super) fn new(arguments: &SweepArguments) -> Result<Self, Exit> {
        let plot = match &arguments.plot {
            Some(name) => Some((name.clone(), Format::of(name)?)),
            None => None,
        };
        if let Some(name) = arguments.report.as_ref().filter(|name| !is_page(name)) {
            return Err(usage(&format!("`{name}`: a page must end in .html")));
        }
        let kind = arguments.plot_as.as_deref();
        let kind = kind.map(|kind| word("--plot-as", kind, &SweepPlot::ALL)).transpose()?;
        let keep = word("--keep", &arguments.keep, &Keep::ALL)?;
        Ok(Self {
            plot,
            kind,
            columns: arguments.columns.as_deref().map(split).unwrap_or_default(),
            report: arguments.report.clone(),
            has_samples: matches!(keep, Keep::Samples | Keep::Observe),
            is_drawn: arguments.draw.is_some() || arguments.cases.is_some(),
        })
    }

    fn is_wanted(&self) -> bool {
        self.plot.is_some() || self.report.is_some()
    }

    /// Refuses what cannot be drawn before anything is run.
    pub(super) fn check(&self, sweep: &Sweep<'_>) -> Result<(), Exit> {
        let varied = sweep.ensemble.columns();
        let rows = SweepRows {
            headings: sweep.table.headings(),
            block: &sweep.table.block(),
            varied: &varied,
            has_samples: self.has_samples,
            is_drawn: self.is_drawn,
        };
        let cases = sweep.range.end - sweep.range.start;
        let kind = self.kind.unwrap_or_else(|| rows.usual_of(cases as usize));
        if self.plot.is_none() || (kind == SweepPlot::Basins && self.columns.is_empty()) {
            return Ok(());
        }
        rows.drawable(kind, &self.columns).map(drop).map_err(|why| usage(&why))
    }

    /// Keeps rows for the figures.
    pub(super) fn take(&self, shown: &mut Block, block: &Block) {
        if self.is_wanted() && shown.rows() < MOST {
            shown.extend(block, 0, block.rows());
        }
    }

    /// Writes what is wanted.
    pub(super) fn write(
        &self,
        sweep: &Sweep<'_>,
        block: &Block,
        summary: &SweepSummary,
        about: &Value,
    ) -> Result<(), Exit> {
        if !self.is_wanted() {
            return Ok(());
        }
        if block.rows() >= MOST {
            say(&format!("note: figures show the first {MOST} rows"));
        }
        let varied = sweep.ensemble.columns();
        let rows = SweepRows {
            headings: sweep.table.headings(),
            block,
            varied: &varied,
            has_samples: self.has_samples,
            is_drawn: self.is_drawn,
        };
        let kind = self.kind.unwrap_or_else(|| rows.usual());
        let columns = match (kind, &self.columns[..]) {
            (SweepPlot::Basins, []) => vec!["stop".to_owned()],
            (_, columns) => columns.to_vec(),
        };
        let title = sweep.ensemble.first().name().to_owned();
        if let Some((name, format)) = &self.plot {
            let mut figure = rows.figure(kind, &columns).map_err(|why| usage(&why))?;
            if figure.title.is_empty() {
                figure.title.clone_from(&title);
            }
            let look = Look::default();
            let bytes = match format {
                Format::Svg => figure.to_svg(look).into_bytes(),
                Format::Pdf => figure.to_pdf(look),
                Format::Png => figure.to_png(look, 2.0),
            };
            written(name, &bytes)?;
        }
        if let Some(name) = &self.report {
            let mut figures: Vec<(String, Figure<'_>)> = Vec::new();
            let own =
                rows.figure(kind, &columns).map(|figure| (heading(kind).to_owned(), figure));
            figures.extend(own.ok());
            for (other, _) in SweepPlot::ALL {
                if other == kind || other == SweepPlot::Overlay {
                    continue;
                }
                let columns = match other {
                    SweepPlot::Basins => vec!["stop".to_owned()],
                    _ => columns.iter().filter(|c| *c != "stop").cloned().collect(),
                };
                let figure = rows.figure(other, &columns);
                figures.extend(figure.ok().map(|figure| (heading(other).to_owned(), figure)));
            }
            let page = sweep_page(&SweepPage {
                title: &title,
                runs: &sweep.how(),
                summary,
                figures: &figures,
                headings: sweep.table.headings(),
                block,
                manifest: about,
            });
            written(name, page.as_bytes())?;
        }
        Ok(())
    }
}

fn heading(kind: SweepPlot) -> &'static str {
    match kind {
        SweepPlot::Fan => "Spread over time",
        SweepPlot::Heat => "Over two quantities",
        SweepPlot::Histogram => "Frequencies",
        SweepPlot::Basins => "Which cases end alike",
        SweepPlot::Overlay => "Curves",
    }
}

fn written(name: &str, bytes: &[u8]) -> Result<(), Exit> {
    let place = Place::new(name, &[])?;
    place
        .write(bytes)
        .map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    say(&format!("{name}: {:.0} kB", bytes.len() as f64 / 1e3));
    Ok(())
}
