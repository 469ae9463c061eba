//! How a function is typeset, in LaTeX, MathML and Typst.

/// How a function of one argument is typeset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// A name before its argument.
    Name {
        /// The name.
        name: FunctionName,
        /// What may be left out, and where powers stand.
        style: NameStyle,
    },
    /// $\sqrt a$
    Root,
    /// $\mathrm e^a$
    Exponential,
    /// $|a|$
    Bars,
}

/// How a name goes with its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameStyle {
    /// $\sin^2 x$: a symbol needs no brackets, powers stand at the name.
    Power,
    /// $\arcsin x$: a symbol needs no brackets, powers stand outside.
    Plain,
    /// $\Gamma(x)$: always brackets.
    Brackets,
}

/// How a function of two arguments is typeset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryNotation {
    /// A name before both arguments in brackets.
    Name(FunctionName),
    /// $\psi^{(n)}(x)$: the first argument is the order of a derivative.
    Derivative(FunctionName),
}

/// A name in each language of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionName {
    pub(crate) latex: &'static str,
    pub(crate) mathml: &'static str,
    pub(crate) typst: &'static str,
}

/// A language of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkupLanguage {
    Latex,
    MathMl,
    Typst,
}

impl FunctionName {
    pub(crate) fn of(self, language: MarkupLanguage) -> &'static str {
        match language {
            MarkupLanguage::Latex => self.latex,
            MarkupLanguage::MathMl => self.mathml,
            MarkupLanguage::Typst => self.typst,
        }
    }
}
