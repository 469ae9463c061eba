//! Choices → a model that is right → its equations and a step.

use pfaff::{GalleryFiles, Model, Overrides, Run, Source};

use crate::choices::Choices;
use crate::writer::Writer;

/// Derives a valid model and takes a step.
pub(crate) fn moves(bytes: &[u8]) {
    let text = Writer::new(Choices::new(bytes)).valid_model();
    let model = Model::read(Source::new("fuzz", &text), &Overrides::default(), &GalleryFiles);
    let model = match model {
        Ok(model) => model,
        Err(refused) => {
            let shown: Vec<String> =
                refused.diagnostics.iter().map(|d| d.render(&refused.source)).collect();
            panic!("{}\n{text}", shown.join("\n"));
        }
    };
    let Ok(equations) = pfaff::derive(&model, None) else { panic!("no equations:\n{text}") };
    let request = Run { max_steps: Some(1), samples: Some(2), ..Run::default() };
    // NOTE: random constraints may contradict each other; that is a refusal and no panic.
    if let Ok(motion) = equations.run(request) {
        assert_eq!(motion.t.first(), Some(&0.0), "{text}");
    }
}
