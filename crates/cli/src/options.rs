//! Messages of the engine → messages for a command line: the engine knows no options, so they are added here.

use pfaff::{Diagnostic, Source};

/// Texts beside the model, by the names that the engine gives them, and the options that hold them.
const TEXTS: &[(&str, &str)] = &[
    ("<at>", "--at"),
    ("<guess>", "--guess"),
    ("<initial>", "--initial"),
    ("<motion>", "--motion"),
    ("<on>", "--on"),
    ("<orders>", "--fractional"),
    ("<path>", "--path"),
    ("<set>", "--set"),
    ("<state>", "--state"),
    ("<vary>", "--vary"),
    ("<with>", "--with"),
];

/// What an option can do about a diagnostic, by its code; `NAME` stands for the text that it underlines.
const HINTS: &[(&str, &str)] = &[
    ("E0428", "leave out `--dependent`"),
    ("E0432", "`--dependent` chooses other coordinates, `--form multipliers` another form"),
    ("E0433", "use `--form multipliers`"),
    ("E0434", "use `--form multipliers`"),
    ("E0435", "use `--part forms`"),
    ("E0436", "use `--form multipliers`"),
    ("E0501", "or use `--set NAME=…`"),
    ("E0605", "`--with \"t=2\"` gives values, `--from` and `--to` the ends of an interval"),
    ("E0613", "use `--dependent` or `--curve autoparallel`"),
    ("E0614", "use `--state` or `--dependent`"),
];

/// Advice of the engine that an option follows.
const ADVICE: &[(&str, &str)] = &[
    ("set `t1`", "use --t1"),
    ("set `step`", "use --step"),
    ("give a guess or a motion to start from", "use --guess or --from"),
];

/// The source with its texts called by their options.
pub(crate) fn named(source: &Source) -> Source {
    let option = |name: &str| TEXTS.iter().find(|(text, _)| *text == name).map(|(_, o)| *o);
    source.clone().renamed(|name| option(name).unwrap_or(name).to_owned())
}

/// The diagnostic with a hint at an option, if one helps.
pub(crate) fn hinted(diagnostic: &Diagnostic, source: &Source) -> Diagnostic {
    let mut diagnostic = diagnostic.clone();
    if let Some((_, option)) = HINTS.iter().find(|(code, _)| *code == diagnostic.code) {
        let option = option.replace("NAME", source.slice(diagnostic.span));
        diagnostic.hint = Some(match diagnostic.hint {
            Some(hint) => format!("{hint}; {option}"),
            None => option,
        });
    }
    diagnostic
}

/// A sentence about wrong usage, with options where it advises settings.
pub(crate) fn advised(message: &str) -> String {
    ADVICE
        .iter()
        .fold(message.to_owned(), |text, (advice, option)| text.replace(advice, option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_belong_to_codes_that_exist() {
        for (code, _) in HINTS {
            assert!(pfaff::explanation(code).is_some(), "{code}");
        }
    }

    #[test]
    fn texts_are_called_by_their_options() {
        let mut source = Source::new("model.pfaff", "coordinates x");
        let at = source.append_part("<set>", "m=2");
        let named = named(&source);
        assert_eq!((named.name(), named.name_at(at)), ("model.pfaff", "--set"));
    }
}
