//! Pages that are longer than anybody reads: what fits a few of them is shown, and what is left out is said.

use pfaff_expr::Expr;

use super::{Label, Presentation, Section};

/// Characters of text on some four pages, abbreviations included.
const PAGES: usize = 14_000;
/// The same on two pages.
const TWO_PAGES: usize = 6_000;
/// Abbreviations of ours that one line may need.
const MOST_NAMES: usize = 6;
/// Characters of a line that somebody may read.
const LONGEST_LINE: usize = 1_500;

/// The equations of motion.
const EQUATIONS: [&str; 3] = ["reduced_equations", "equations", "hamilton_equations"];

/// Sections that follow from the equations.
const BEHIND: [&str; 5] = [
    "multipliers",
    "accelerations",
    "total_force",
    "velocities_of_momenta",
    "constraints_of_momenta",
];

impl Presentation {
    /// At most some four pages: lines that do not fit any more are left out, with the abbreviations that only they
    /// need, and the remarks say so.
    #[must_use]
    pub fn on_few_pages(mut self, whole: &str) -> Self {
        // What people do not read takes no room.
        self.sections.retain(|s| s.key != "kinetic");
        self.leave_out_long_divergence();
        let shown: Vec<String> = self.shown_definitions().map(|d| d.0.clone()).collect();
        self.definitions.retain(|d| shown.contains(&d.0));
        self.number_names();
        let length: Vec<usize> = self
            .definitions
            .iter()
            .map(|(name, e)| name.len() + self.graph.to_text(*e).len() + 5)
            .collect();
        if self.text_length() <= PAGES && !self.has_puzzles() {
            return self;
        }
        let mut needed = vec![false; self.definitions.len()];
        let mut used = 0;
        let mut left_out = Vec::new();
        let mut sections = std::mem::take(&mut self.sections);
        for section in in_reading_order(&mut sections) {
            let count = section.lines.len();
            // NOTE: what a motion keeps has words and `observe` lines of its own, place by place.
            let is_kept = section.key == "conserved";
            // What follows from the equations is shown as a whole or not at all.
            let is_whole = !BEHIND.contains(&section.key)
                || !section.lines.iter().any(|line| self.is_puzzle(section.key, line));
            let key = section.key;
            section.lines.retain(|line| {
                let own = self.needs(line, &needed);
                let more: usize = own.iter().map(|&i| length[i]).sum();
                let cost = self.line_length(line) + more;
                let is_readable = is_whole && !self.is_puzzle(key, line);
                let fits = is_kept || (used + cost <= PAGES && is_readable);
                if fits {
                    used += cost;
                    own.into_iter().for_each(|i| needed[i] = true);
                }
                fits
            });
            if section.lines.len() < count {
                let missing = count - section.lines.len();
                left_out.push(format!("  {}: {missing} of {count} lines", section.heading));
            }
        }
        sections.retain(|s| !s.lines.is_empty());
        self.sections = sections;
        let mut keep = needed.into_iter();
        self.definitions.retain(|_| keep.next().unwrap_or(false));
        self.number_names();
        self.remarks.push(format!(
            "What is longer than some four pages, or unreadable, is left out ({whole}):"
        ));
        self.remarks.extend(left_out);
        self
    }

    /// Whether everything fits two pages.
    pub fn fits_two_pages(&self) -> bool {
        self.text_length() <= TWO_PAGES && !self.has_puzzles()
    }

    /// Characters of all lines and abbreviations.
    fn text_length(&self) -> usize {
        let lines = self.sections.iter().flat_map(|s| &s.lines);
        let all: usize = lines.map(|line| self.line_length(line)).sum();
        let names = self.definitions.iter();
        all + names
            .map(|(name, e)| name.len() + self.graph.to_text(*e).len() + 5)
            .sum::<usize>()
    }

    fn has_puzzles(&self) -> bool {
        let is_puzzle = |s: &Section| s.lines.iter().any(|line| self.is_puzzle(s.key, line));
        self.sections.iter().any(is_puzzle)
    }

    /// Whether a line of a section is too long to be read, with the abbreviations of ours that it needs, or only with
    /// more of these than anybody keeps in mind. Without the equations of motion a page says nothing: they may be
    /// longer.
    fn is_puzzle(&self, key: &str, line: &super::Line) -> bool {
        let patience = if EQUATIONS.contains(&key) { 2 } else { 1 };
        let none = vec![false; self.definitions.len()];
        let mut needed = self.needs(line, &none);
        needed.retain(|&i| !self.names.contains(&self.definitions[i].0));
        let meanings = needed.iter().map(|&i| self.graph.to_text(self.definitions[i].1).len());
        let length = self.line_length(line) + meanings.sum::<usize>();
        needed.len() > MOST_NAMES || length > patience * LONGEST_LINE
    }

    /// A divergence of the flow that has to be written with several abbreviations of its own tells nobody anything.
    fn leave_out_long_divergence(&mut self) {
        const MOST: usize = 2;
        let mut needed = vec![false; self.definitions.len()];
        let is_divergence = |s: &&Section| s.key == "divergence";
        for line in self.sections.iter().filter(|s| !is_divergence(s)).flat_map(|s| &s.lines) {
            self.needs(line, &needed).into_iter().for_each(|i| needed[i] = true);
        }
        let own = self.sections.iter().filter(is_divergence).flat_map(|s| &s.lines);
        let count: usize = own.map(|line| self.needs(line, &needed).len()).sum();
        if count > MOST {
            self.sections.retain(|s| s.key != "divergence");
            let mut keep = needed.into_iter();
            self.definitions.retain(|_| keep.next().unwrap_or(false));
            self.remarks.push(format!(
                "The divergence of the flow on (q, p) is left out: it needs {count} abbreviations (--json writes it)."
            ));
        }
    }

    fn line_length(&self, line: &super::Line) -> usize {
        self.left(&line.label).len() + self.graph.to_text(line.right).len() + 5
    }

    /// The abbreviations that a line needs and that are not there yet.
    fn needs(&self, line: &super::Line, there: &[bool]) -> Vec<usize> {
        let mut roots: Vec<Expr> = vec![line.right];
        roots.extend(if let Label::Expression(left) = line.label { Some(left) } else { None });
        let mut found = Vec::new();
        while let Some(e) = roots.pop() {
            for symbol in self.graph.symbols(&[e]) {
                let Some(name) = self.graph.symbol_of(symbol).map(|s| s.name) else { continue };
                let place = self.definitions.iter().position(|d| d.0 == name);
                if let Some(i) = place.filter(|i| !there[*i] && !found.contains(i)) {
                    found.push(i);
                    roots.push(self.definitions[i].1);
                }
            }
        }
        found
    }
}

/// What a reader wants first: equations, constraints and velocities before the matrices that they are made of.
fn in_reading_order(sections: &mut [Section]) -> Vec<&mut Section> {
    const FIRST: [&str; 13] = [
        "conserved",
        "hamiltonian",
        "reduced_equations",
        "equations",
        "hamilton_equations",
        "quasi_velocities",
        "velocities",
        "constraints",
        "constraints_of_momenta",
        "energy",
        "lagrangian",
        "momenta",
        "canonical_momenta",
    ];
    let mut all: Vec<&mut Section> = sections.iter_mut().collect();
    all.sort_by_key(|s| FIRST.iter().position(|&key| key == s.key).unwrap_or(FIRST.len()));
    all
}

#[cfg(test)]
mod tests {
    use crate::ToText;
    use crate::equations::{present, present_reduced, present_reduced_shortly};
    use pfaff::{GALLERY, GalleryFiles, Model, Overrides, Source, derive};

    fn derivation(name: &str) -> pfaff::Derivation {
        let entry = GALLERY.iter().find(|m| m.name == name).expect("a model of the gallery");
        let source = Source::new(name, entry.text);
        let model = Model::read(source, &Overrides::default(), &GalleryFiles).expect("right");
        derive(&model, None).expect("it has equations")
    }

    /// Long forms have a few pages and say what is missing; every abbreviation in them is explained, and no other.
    #[test]
    fn long_forms_fit_a_few_pages() {
        for page in [
            present_reduced(&derivation("rattleback")).expect("a form"),
            present(&derivation("rattleback")),
        ] {
            let whole = page.to_text();
            let page = page.on_few_pages("ask for all");
            let text = page.to_text();
            assert!(text.len() < 18_000 && text.len() < whole.len(), "{}", text.len());
            assert!(text.contains("(ask for all)") && text.contains(" lines"), "{text}");
            for (i, (name, _)) in page.definitions.iter().enumerate() {
                let symbols = crate::equations::names::symbols_of(&page.graph, name);
                let later = page.definitions[i + 1..].iter().map(|d| d.1);
                let is_used = page
                    .outputs()
                    .into_iter()
                    .chain(later)
                    .any(|e| page.graph.contains(e, &symbols));
                assert!(is_used, "{name} is not used");
            }
        }
        let short = present(&derivation("sleigh"));
        assert_eq!(short.clone().on_few_pages("").to_text(), short.to_text());
    }

    /// The equations of a rolling body are there, in the vectors of its text, and each name in them is explained.
    #[test]
    fn a_rolling_body_has_its_equations_on_the_page() {
        let derivation = derivation("rattleback");
        let page = present_reduced_shortly(&derivation).expect("a form").on_few_pages("");
        let text = page.to_text();
        let is_main = |s: &&crate::equations::Section| s.key == "reduced_equations";
        let equations = page.sections.iter().find(is_main).expect("they are there");
        assert_eq!(equations.lines.len(), 3, "{text}");
        let longest = equations.lines.iter().map(|l| page.line_length(l)).max();
        assert!(longest.is_some_and(|n| n < 500) && text.len() < 4_500, "{text}");
        assert!(text.contains("*rho[1]' ") && !text.contains("is left out"), "{text}");
        let model = derivation.workspace();
        let known = |name: &str| {
            name == "t"
                || model.coordinates.iter().any(|c| c.name == name)
                || model.parameters.iter().any(|p| p.name == name)
                || page.definitions.iter().any(|d| d.0 == name)
                || name.starts_with('w')
        };
        for symbol in page.graph.symbols(&page.outputs()) {
            let name = page.graph.symbol_of(symbol).expect("a symbol").name;
            assert!(known(&name), "{name} is not explained: {text}");
        }
    }

    /// Abbreviations of ours are numbered from one on; small lines beside long ones are as short as alone.
    #[test]
    fn abbreviations_have_no_gaps_and_small_lines_are_short() {
        let page =
            present_reduced(&derivation("car_trailers")).expect("a form").on_few_pages("");
        let ours = page.definitions.iter().filter(|d| !page.names.contains(&d.0));
        for (i, (name, _)) in ours.enumerate() {
            assert_eq!(*name, format!("s{}", i + 1));
        }
        let text = present_reduced(&derivation("flip")).expect("a form").to_text();
        let line = "  phi[1,1]*p[phi[1,1]] + phi[2,1]*p[phi[2,1]] + phi[3,1]*p[phi[3,1]] = 0\n";
        assert!(text.contains(line), "{text}");
    }

    /// What the energies of a model are made of is shown with the functions that the text defines.
    #[test]
    fn functions_of_the_text_are_shown_in_vectors() {
        let text =
            crate::equations::present_short(&derivation("bicycle")).expect("long").to_text();
        let line = "  T(m, P, J, A) = m*dot(P', P')/2 + dot(spin(A), J*spin(A))/2\n";
        assert!(text.contains(line), "{text}");
    }
}
