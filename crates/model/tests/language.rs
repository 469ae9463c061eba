//! Mistakes in models: each is reported once, with its code, its place and the user's own words.

use std::fmt::Write;

use pfaff_model::{
    Diagnostic, EXPLANATIONS, ExpressionScope, Files, FormulaValue, NoFiles, Overrides,
    Quantity, Severity, Shape, Source, read_assignments, read_expression, read_formula,
    read_model, read_numbers,
};

use crate::random::Random;

/// What stands around a line that is tried.
const MODEL: &str = "coordinates x, y, q[3], phi[2,2], th[0..2]\nparameters m = 2, N = 3, J = [[1, 2], [2, 5]], h = 0.5\n\
lagrangian m*(x'^2 + y'^2)/2\n";

/// Files that exist for the tests.
struct Shelf;
impl Files for Shelf {
    fn read(&self, name: &str) -> Result<String, String> {
        match name {
            "good.csv" => Ok("t,road,\"a, b\"\n0,1,2\n1,3,4\n2,0,1\n".into()),
            "gap.csv" => Ok("t,road\n0,1\n1,\n2,0\n".into()),
            "back.csv" => Ok("t;road\n0;1\n2;1\n1;0\n".into()),
            _ => Err("there is no such file".into()),
        }
    }
}

fn mistakes_with(text: &str, overrides: &Overrides) -> (Source, Vec<Diagnostic>) {
    match read_model(Source::new("m", text), overrides, &Shelf) {
        Ok(_) => (Source::new("m", text), Vec::new()),
        Err(errors) => (errors.source, errors.diagnostics),
    }
}

fn mistakes(text: &str) -> (Source, Vec<Diagnostic>) {
    mistakes_with(text, &Overrides::default())
}

/// `code underlined: message`, one line for each error.
fn shown((source, diagnostics): &(Source, Vec<Diagnostic>)) -> String {
    let mut out = String::new();
    for d in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        writeln!(out, "{} {}: {}", d.code, source.slice(d.span), d.message).expect("a string");
    }
    out.trim_end().to_owned()
}

/// A line added to [`MODEL`], and what is said about it.
const LINES: &[(&str, &str)] = &[
    // Names.
    ("let a = z + 1", "E0201 z: `z` is not declared"),
    ("let a = a + 1", "E0206 a: `a` is defined in terms of itself"),
    ("let f(u) = f(u - 1)", "E0206 f: `f` is defined in terms of itself"),
    ("let f(u) = u + w", "E0201 w: `w` is not declared"),
    ("coordinates x", "E0202 x: `x` is declared twice"),
    ("parameters q = 1", "E0202 q: `q` is declared twice"),
    ("let m = 1", "E0202 m: `m` is declared twice"),
    ("coordinates t", "E0203 t: `t` is reserved for the time"),
    ("let pi = 3", "E0203 pi: `pi` is reserved for the number π"),
    ("let sin(u) = u", "E0203 sin: `sin` is a built-in function"),
    ("let f(t) = 1", "E0203 t: `t` is reserved and cannot be an argument"),
    ("let f(u, u) = u", "E0202 u: the argument `u` appears twice"),
    ("let a = sum(x = 1..3, x)", "E0204 x: the index `x` hides a coordinate of this name"),
    (
        "let a = sum(t = 1..3, t)",
        "E0204 t: the index cannot be called `t`: this name is reserved",
    ),
    (
        "let a = sum(i = 1..2, sum(i = 1..2, i))",
        "E0204 i: the index `i` hides another index of this name",
    ),
    ("let X[m = 1..2] = m", "E0204 m: the index `m` hides a parameter of this name"),
    ("let a = foo(x)", "E0205 foo: there is no function `foo`"),
    ("let a = ln(x)", "E0205 ln: there is no function `ln`"),
    ("let a = m(x + 1)", "E0205 m: `m` is a parameter, not a function"),
    ("let a = sin + 1", "E0207 sin: `sin` is a function and needs its arguments"),
    ("let X[i = 1..2] = [i, x]\nlet a = X", "E0207 X: `X` is a family and needs an index"),
    ("constraint c: x' = 0\nlet a = c", "E0207 c: `c` is a constraint and has no value"),
    ("let X[i = 1..3] = X[i-1] + x", "E0206 X[i-1]: `X[0]` is used before it is defined"),
    ("let X[i = 1..3] = x\nlet X[2] = y", "E0202 X: `X[2]` is defined twice"),
    ("let X[i = 1..3] = x\nlet a = X[4]", "E0304 X[4]: `X` has no member `X[4]`"),
    ("let X[i = 1..3] = q\nlet a = X[1,2]", "E0305 X[1,2]: `X` takes 1 index, not 2"),
    (
        "let a = lambda(c)",
        "E0411 lambda(c): `lambda` is a result of the motion, so an abbreviation cannot use it",
    ),
    ("let a = energy", "E0411 energy: `energy` is not declared"),
    ("observe a = lambda(blade)", "E0201 blade: there is no constraint `blade`"),
    ("observe a = reaction(m)", "E0207 m: `m` is a parameter, not a coordinate"),
    ("constraint c: x' = 0\nconstraint c: y' = 0", "E0202 c: `c` is declared twice"),
    // Shapes.
    ("let a = q + phi", "E0301 q + phi: `+` between a vector of 3 and a 2×2 matrix"),
    ("let a = q + 1", "E0301 q + 1: `+` between a vector of 3 and a number"),
    ("let a = q*q", "E0301 q*q: `*` between a vector of 3 and a vector of 3"),
    ("let a = phi*q", "E0301 phi*q: `*` between a 2×2 matrix and a vector of 3"),
    ("let a = 1/q", "E0301 1/q: `/` between a number and a vector of 3"),
    ("let a = q^2", "E0301 q^2: a power of a vector of 3"),
    ("let a = sin(q)", "E0301 q: the argument of `sin` must be a number, not a vector of 3"),
    ("let a = det(q)", "E0301 det(q): `det` takes a square matrix, not a vector of 3"),
    (
        "let a = dot(q, [1, 2])",
        "E0301 dot(q, [1, 2]): `dot` takes two vectors of equal length, not a vector of 3 and a vector of 2",
    ),
    (
        "let a = [[1, 2], [3]]",
        "E0301 [3]: entry 2 of the brackets is a vector of 1, but entry 1 is a vector of 2",
    ),
    ("let a = [phi, phi]", "E0301 phi: a matrix cannot be an entry of brackets"),
    (
        "let a = if(x > 0, q, phi)",
        "E0301 if(x > 0, q, phi): the branches of `if` differ: a vector of 3 and a 2×2 matrix",
    ),
    (
        "constraint c: phi' = q",
        "E0301 phi' = q: the left side is a 2×2 matrix, but the right side is a vector of 3",
    ),
    (
        "kinetic q",
        "E0404 kinetic q: the lagrangian is given in two ways\nE0301 q: the kinetic energy must be a number, not a vector of 3",
    ),
    (
        "force q: [1, 2]",
        "E0301 [1, 2]: the force on `q` must be a vector of 3, not a vector of 2",
    ),
    ("let a = sin(x, y)", "E0302 sin(x, y): `sin` takes 1 argument, not 2"),
    ("let a = min(x)", "E0302 min(x): `min` takes at least 2 arguments, not 1"),
    ("let f(u) = u\nlet a = f(x, y)", "E0302 f(x, y): `f` takes 1 argument, not 2"),
    ("let a = if(x, 1, 2)", "E0303 x: the condition of `if` is a number, not a comparison"),
    ("let a = (x > 0) + 1", "E0303 (x > 0) + 1: `+` cannot be applied to a condition"),
    ("let a = x > 0", "E0303 x > 0: an abbreviation cannot be a condition"),
    ("let a = \"text\"", "E0303 \"text\": an abbreviation cannot be a text"),
    ("let a = q[4]", "E0304 q[4]: index 4 of `q` is outside 1..3"),
    ("let a = th[3]", "E0304 th[3]: index 3 of `th` is outside 0..2"),
    ("let a = phi[1,3]'", "E0304 phi[1,3]: second index 3 of `phi` is outside 1..2"),
    (
        "let a = (phi*phi)[3,1]",
        "E0304 (phi*phi)[3,1]: first index 3 of `phi*phi` is outside 1..2",
    ),
    ("let a = phi[1]", "E0305 phi[1]: `phi` is a 2×2 matrix and takes 2 indices, not 1"),
    ("let a = x[1]", "E0305 x[1]: `x` is a number and takes no index, not 1"),
    ("coordinates w[2,2,2]", "E0305 w: `w` has 3 indices"),
    ("coordinates w[x]", "E0306 x: a size must be constant, but depends on `x`"),
    (
        "let a = sum(i = 1..x, i)",
        "E0306 x: the end of a range must be constant, but depends on `x`",
    ),
    ("parameters b = 2*x", "E0306 2*x: the parameter `b` must be constant, but depends on `x`"),
    ("coordinates w[h]", "E0307 h: a size must be a whole number; `h` is 1/2"),
    ("let a = q[1.5]", "E0307 1.5: an index must be a whole number; `1.5` is 3/2"),
    (
        "let a = sum(i = 1..1000000000, i)",
        "E0308 sum(i = 1..1000000000, i): the range 1..1000000000 has more than 1000000 terms: all of \
         them would take about 700 GB",
    ),
    (
        "coordinates w[1000000000, 1000000000]",
        "E0308 w: `w` makes 1000000000000000012 coordinates, more than 10000: a run would take about 2e8 PB",
    ),
    ("coordinates w[0]", "E0308 w: `w` has no components"),
    (
        "let X[i = 1..100000, j = 1..100000] = i",
        "E0308 100000: the family has more than 1000000 members",
    ),
    ("let a = identity(0)", "E0308 0: `identity` takes a size from 1 to 100, not 0"),
    (
        "let a = det(identity(9))",
        "E0308 det(identity(9)): determinants and inverses are written out up to 8×8, but this matrix is 9×9",
    ),
    ("let a = x/0", "E0309 0: division by zero"),
    (
        "let a = 1/(sin(x)^2 + cos(x)^2 - 1)",
        "E0309 sin(x)^2 + cos(x)^2 - 1: division by `sin(x)^2 + cos(x)^2 - 1`, which is always zero",
    ),
    (
        "let a = inv([[1, 2], [2, 4]])",
        "E0309 [[1, 2], [2, 4]]: `[[1, 2], [2, 4]]` has no inverse: its determinant is zero",
    ),
    ("let a = 0^-1", "E0309 0: division by zero"),
    // Statements.
    ("constraint c: x'' = 0", "E0401 x'': constraint `c` depends on `x''`, an acceleration"),
    (
        "constraint c: (x*y')' = 0",
        "E0401 (x*y')': constraint `c` depends on `y''`, an acceleration",
    ),
    (
        "let v = [x', y']\nforce x: (v')[1]",
        "E0401 (v')[1]: the force on `x` depends on `x''`, an acceleration",
    ),
    (
        "let a = x''\nconstraint c: a = 0",
        "E0401 a: constraint `c` depends on `x''`, an acceleration",
    ),
    (
        "constraint c: caputo(x', 1) = 0",
        "E0401 caputo(x', 1): constraint `c` depends on `x''`, an acceleration",
    ),
    ("observe a = x'''", "E0401 x''': `x'''` contains a third derivative"),
    ("let a = m'", "E0402 m': `m` is a parameter and does not change"),
    ("let a = J'", "E0402 J': `J` is a parameter and does not change"),
    (
        "let a = caputo(x, h)'",
        "E0402 caputo(x, h)': `caputo(x, h)'` is the time derivative of a memory operator",
    ),
    ("observe a = energy'", "E0402 energy': `energy` has no derivative here"),
    ("lagrangian x'^2", "E0403 lagrangian x'^2: `lagrangian` is given twice"),
    ("title \"a\"\ntitle \"b\"", "E0403 title \"b\": `title` is given twice"),
    ("solve t = 0..1\nsolve t = 0..2", "E0403 solve t = 0..2: `solve` is given twice"),
    ("potential x", "E0404 potential x: the lagrangian is given in two ways"),
    (
        "equation x'' = 0",
        "E0405 equation x'' = 0: a model has either a `lagrangian` or `equation` lines, not both",
    ),
    (
        "constraint c: x' = x'",
        "E0407 constraint c: x' = x': constraint `c` always holds, so it constrains nothing",
    ),
    ("constraint c: 1 = 2", "E0407 constraint c: 1 = 2: constraint `c` contradicts itself"),
    (
        "constraint c: [x', m] = 0",
        "E0407 constraint c: [x', m] = 0: component [2] of constraint `c` contradicts itself",
    ),
    ("constraint c: t = 1", "E0407 constraint c: t = 1: constraint `c` contains no coordinate"),
    (
        "constraint c along [1, 2]: x' = 0",
        "E0408 constraint c along [1, 2]: x' = 0: `along` of constraint `c` has 2 components for 12 coordinates",
    ),
    ("constraint c: isochoric(q)", "E0409 q: `isochoric` takes a matrix, not a vector of 3"),
    (
        "constraint c: gyroscopic(phi, [[1, 2], [3, 4]])",
        "E0409 [[1, 2], [3, 4]]: the metric is not symmetric: its entries (1,2) and (2,1) differ",
    ),
    (
        "constraint c: conformal(phi, J, identity(3))",
        "E0409 identity(3): the metric of the body must be a 2×2 matrix, not a 3×3 matrix",
    ),
    (
        "constraint c: isochoric(phi, J)",
        "E0302 isochoric(phi, J): `isochoric` takes 1 argument, not 2",
    ),
    ("constraint c: sin(x)", "E0409 sin(x): a constraint is an equation"),
    ("let a = isochoric(phi)", "E0205 isochoric: `isochoric` cannot be used in an expression"),
    ("principle chetajev", "E0410 chetajev: there is no principle `chetajev`"),
    ("let a = caputo(x'', h)", "E0412 x'': `caputo` cannot be applied to an acceleration"),
    ("let a = memory(x*s, x)", "E0412 x*s: the kernel depends on `x`"),
    ("let a = caputo(x, 0)", "E0412 0: the order of `caputo` is 0, but must be positive"),
    ("let a = rl(x, -0.5)", "E0412 -0.5: the order of `rl` is -1/2, but may not be negative"),
    ("let a = rl(x, y)", "E0306 y: the order of `rl` must be constant, but depends on `y`"),
    ("initial z = 1", "E0201 z: there is no coordinate `z`"),
    ("initial m = 1", "E0413 m: `m` is a parameter, not a coordinate"),
    ("initial x = 1, x = 2", "E0413 x: the initial value of `x` is given twice"),
    (
        "initial th[i = 0..1] = i, th[1] = 2",
        "E0413 th[1]: the initial value of `th[1]` is given twice",
    ),
    (
        "initial x = y, y = x'  , x' = x",
        "E0414 x: initial values depend on each other in a circle: `x` uses `y` uses `x'` uses `x`",
    ),
    ("initial x = y", "E0414 x: the initial value of `x` uses `y`, which has no initial value"),
    ("initial q = [1, 2]", "E0301 [1, 2]: `q[1]` must be a vector of 3, not a vector of 2"),
    ("initial q[4] = 1", "E0304 q[4]: index 4 of `q` is outside 1..3"),
    ("initial mu(c) = 1", "E0201 mu(c): there is no constraint `c`"),
    ("initial t = 1", "E0413 t: the time cannot be set here"),
    ("initial multipliers = one", "E0413 one: multipliers cannot start as `one`"),
    (
        "initial x = caputo(y, h)",
        "E0412 caputo(y, h): an initial value cannot contain a memory operator",
    ),
    ("final x = y", "E0413 y: a final value depends on `y`"),
    (
        "final x = 2*initial",
        "E0413 2*initial: in a final value `initial` can only be a term, as in `initial + 2*pi`",
    ),
    ("solve t = 2..1", "E0415 2..1: the run ends at 1, before it begins at 2"),
    ("solve t = 0..1, tolerance = 0", "E0415 0: `tolerance` must be positive, not 0"),
    (
        "solve t = 0..1, samples = 1",
        "E0415 1: `samples` must be a whole number of at least 2, not 1",
    ),
    ("solve t = 0..1, method = euler", "E0415 euler: there is no method `euler`"),
    ("solve t = 0..1, colour = 1", "E0415 colour: `solve` has no setting `colour`"),
    ("symmetry s: x = y'", "E0416 symmetry s: x = y': the symmetry `s` depends on velocities"),
    ("symmetry s: x' = 1", "E0416 x': a symmetry moves coordinates, not velocities"),
    ("group SE(3): x, y", "E0455 SE: there is no group `SE(3)`"),
    ("group SE(2): x, y", "E0455 group SE(2): x, y: `SE(2)` moves 3 coordinates, not 2"),
    ("group R(2): x, x", "E0455 x: `x` is moved twice"),
    ("group SO(2): x'", "E0455 x': a group moves coordinates, not velocities"),
    ("force at [x', y]: [1, 2]", "E0417 [x', y]: the point of a force depends on velocities"),
    ("force density at phi*a: [0, 1]", "E0419 :: a force density needs a body after its point"),
    (
        "force density at phi*a for a in m: [0, 1]",
        "E0419 m: a force density needs a body to be spread over",
    ),
    (
        "force density at phi*a for a in cube(1, 1): [0, 1]",
        "E0419 cube(1, 1): there is no body `cube`",
    ),
    (
        "force density at phi*a for a in box(1, 1): [0, 1]",
        "E0419 box(1, 1): `box` does not take 2 arguments",
    ),
    (
        "force density at phi*a for a in disc(1, x): [0, 1]",
        "E0419 x: the body of a force density must be constant",
    ),
    (
        "force density at phi*a for a in disc(1, -1): [0, 1]",
        "E0409 -1: a length of `disc` is not positive",
    ),
    (
        "force density at [x, y] for a in disc(1, 1): [0, 1]",
        "E0419 [x, y]: the point of a force density does not depend on `a`",
    ),
    (
        "force density at phi*a for a in disc(1, 1): [0, abs(a[1])]",
        "E0419 [0, abs(a[1])]: over a solid body the density must be a polynomial in `a`, of degree 11 at most",
    ),
    (
        "force density at phi*a for a in disc(1, 1): [0, if(a[1] > 0, 1, 2)]",
        "E0419 [0, if(a[1] > 0, 1, 2)]: over a solid body the density must be a polynomial in `a`, of degree 11 at most",
    ),
    (
        "force x: applied(x)",
        "E0411 applied(x): `applied` is a result of the motion, so the force on `x` cannot use it",
    ),
    (
        "observe s = applied(x)\nforce x: 1",
        "E0411 force x: 1: this force comes after `applied`, whose sum would leave it out",
    ),
    ("observe s = applied(m)", "E0207 m: `m` is a parameter, not a coordinate"),
    ("force at x: 1", "E0301 x: the point of a force must be a vector, not a number"),
    ("force m: 1", "E0413 m: `m` is a parameter, not a coordinate"),
    // Data.
    ("parameters k", "E0501 k: the parameter `k` has no value"),
    (
        "parameters k = 10^(10^3) - 1",
        "E0503 10^(10^3) - 1: the value of the parameter `k` is not finite",
    ),
    ("parameters k = log(0)", "E0503 log(0): the value of the parameter `k` is not finite"),
    (
        "let a = table(t, \"none.csv\", \"road\")",
        "E0504 \"none.csv\": the file `none.csv` cannot be read: there is no such file",
    ),
    (
        "let a = table(t, \"good.csv\", \"raod\")",
        "E0504 \"raod\": the file `good.csv` has no column `raod`",
    ),
    (
        "let a = table(t, \"gap.csv\", \"road\")",
        "E0504 \"gap.csv\": column `road` of `gap.csv` cannot be interpolated: data row 2 has a gap or a value that is not finite",
    ),
    (
        "let a = table(t, \"back.csv\", \"road\")",
        "E0504 \"back.csv\": column `road` of `back.csv` cannot be interpolated: the first column does not grow at data row 3",
    ),
    ("let a = table(t, x, \"road\")", "E0303 x: the file of a table must be a text in quotes"),
    ("let a = complex(1, 2)", "E0205 complex: `complex` cannot be used in an expression"),
];

#[test]
fn every_mistake_is_named() {
    let mut wrong = String::new();
    for (line, expected) in LINES {
        let found = shown(&mistakes(&format!("{MODEL}{line}\n")));
        if found != *expected {
            writeln!(wrong, "{line}\n  wanted {expected}\n  found  {found}").expect("a string");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_code_is_listed_once() {
    for (_, expected) in LINES {
        let code = &expected[..5];
        assert_eq!(EXPLANATIONS.iter().filter(|e| e.code == code).count(), 1, "{code}");
    }
    assert!(EXPLANATIONS.windows(2).all(|w| w[0].code < w[1].code), "codes are in order");
}

#[test]
fn whole_models_are_checked() {
    let cases = [
        ("", "E0406 : the model has no coordinates\nE0406 : the model has no lagrangian"),
        ("coordinates x\n", "E0406 : the model has no lagrangian"),
        (
            "coordinates x\npotential x",
            "E0404 potential x: a potential alone moves nothing: there is no kinetic energy",
        ),
        (
            "coordinates x, y\nequation x'' = 0",
            "E0405 equation x'' = 0: there are 1 equations for 2 coordinates",
        ),
        (
            "coordinates x\nequation x'' = 0\nconstraint c: x' = 1",
            "E0405 constraint c: x' = 1: constraints cannot be combined with `equation`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(&mistakes(text)), expected, "{text}");
    }
}

#[test]
fn all_mistakes_are_reported_without_cascades() {
    let text = "coordinates x, w[h]\nparameters k\nlet a = zz + k\nlet b = a*w[1] + q\n\
                lagrangian b + x'^2 + a(\nkinetic x + y\nconstraint c: b = x'' + w'[1]\n\
                observe o = lambda(c) + lambda(d)\nsolve t = 1..0";
    let found = shown(&mistakes(text));
    let codes: Vec<&str> = found.lines().map(|line| &line[..5]).collect();
    assert_eq!(
        codes,
        ["E0201", "E0501", "E0201", "E0201", "E0108", "E0201", "E0401", "E0201", "E0415"],
        "{found}"
    );
}

#[test]
fn options_show_their_own_text() {
    let text = "coordinates x\nparameters mass = 1, J = [1, 2]\nlagrangian mass*x'^2";
    let try_set = |set: &str| {
        let overrides = Overrides { set: Some(set.into()), initial: None };
        let (source, found) = mistakes_with(text, &overrides);
        found.iter().map(|d| d.render(&source)).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        try_set("J = [1, 3], mas = 2"),
        "error[E0502]: there is no parameter `mas`\n --> <set>:1:13\n  |\n1 | J = [1, 3], mas = 2\n  |             ^^^\n  = hint: did you mean `mass`?\n"
    );
    assert!(try_set("x = 2").contains("`x` is a coordinate, not a parameter"));
    assert!(try_set("J = 2").contains("`J` is a vector of 2, not a number"));
    assert!(try_set("J[3] = 2").contains("has no component `J[3]`"));
    assert!(try_set("mass = 1/0").contains("division by zero"));
    assert!(try_set("mass = x").contains("depends on `x`"));
    assert!(try_set("mass = 1, mass = 2").contains("`mass` is set twice"));
    assert!(try_set("mass = (1").contains("<set>:1:8"));
    let overrides = Overrides { set: None, initial: Some("x = 1,\n z = 2".into()) };
    let (source, found) = mistakes_with(text, &overrides);
    assert!(
        found[0].render(&source).contains("--> <initial>:2:2"),
        "{}",
        found[0].render(&source)
    );
}

#[test]
fn work_is_bounded() {
    // Each function calls the last one twice: 2⁶⁰ additions.
    let mut text = String::from("coordinates x\nlet f0(u) = u\n");
    for i in 1..=60 {
        writeln!(text, "let f{i}(u) = f{0}(u) + f{0}(u + 1)", i - 1).expect("a string");
    }
    let found = shown(&mistakes(&format!("{text}lagrangian f60(x)")));
    assert!(found.contains("E0308"), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn tables_are_functions() {
    let text = format!("{MODEL}let a = table(t, \"good.csv\", \"a, b\")\nobserve o = a");
    let (model, _) = read_model(Source::new("m", &text), &Overrides::default(), &Shelf)
        .expect("well formed");
    let model = model.workspace();
    let value = model.graph.evaluate(&[model.observed[0].expr], &|_| 1.0)[0];
    assert!((value - 4.0).abs() < 1e-14, "the spline goes through its points");
}

#[test]
fn states_of_the_command_line() {
    let text = "coordinates x, phi[2,2], th[0..2]\nparameters a = 2\nlagrangian x'^2 + tr(phi')\n\
                constraint c: x' = th[1]'\nlet f(u) = u*a\n";
    let (model, _) = read_model(Source::new("m", text), &Overrides::default(), &NoFiles)
        .expect("well formed");
    let model = model.workspace();
    let given = read_assignments(
        &model,
        "<state>",
        "x=1, x'=f(2), t=0.5, mu(c)=0.1, phi=[[1,0],[0,a]], phi[1,2]=9, th[i=0..2]'=i, x''=7",
    )
    .expect("well formed");
    let value = |quantity| given.iter().find(|(q, _)| *q == quantity).map(|(_, v)| *v);
    assert_eq!(value(Quantity::Coordinate(0, 0)), Some(1.0));
    assert_eq!(value(Quantity::Coordinate(0, 1)), Some(4.0));
    assert_eq!(value(Quantity::Coordinate(0, 2)), Some(7.0));
    assert_eq!(value(Quantity::Time), Some(0.5));
    assert_eq!(value(Quantity::Multiplier(0)), Some(0.1));
    assert_eq!(value(Quantity::Coordinate(2, 0)), Some(9.0));
    assert_eq!(value(Quantity::Coordinate(4, 0)), Some(2.0));
    assert_eq!(value(Quantity::Coordinate(7, 1)), Some(2.0));
    let refused = |text: &str| {
        let errors = read_assignments(&model, "<state>", text).expect_err("wrong");
        let (source, found) = (errors.source, errors.diagnostics);
        found[0].render(&source)
    };
    assert!(refused("y=1").contains("there is no coordinate `y`"));
    assert!(refused("x=1, x=2").contains("`x` is given twice"));
    assert!(refused("x=th[0]").contains("must be constant"));
    assert!(refused("x=1, x'=1/0").contains("<state>:1:11"));
}

#[test]
fn expressions_of_the_command_line() {
    let text = "coordinates x, y\nlagrangian x'^2\nconstraint c: x' = y\nlet r = [x, y]";
    let (model, _) = read_model(Source::new("m", text), &Overrides::default(), &NoFiles)
        .expect("well formed");
    let model = model.workspace();
    let read = |text, scope| read_expression(&model, "<vary>", text, scope);
    let (shape, entries) = read("2*r", ExpressionScope::State).expect("well formed");
    assert_eq!((shape, entries.len()), (Shape::Vector(2), 2));
    assert!(read("x'' + lambda(c)", ExpressionScope::Motion).is_ok());
    assert!(read("x''", ExpressionScope::State).is_err());
    assert!(read("lambda(c)", ExpressionScope::State).is_err());
}

#[test]
fn formulas_stand_alone() {
    let names = read_numbers("<with>", "a=1/2, t=2*pi").expect("well formed");
    assert_eq!(names[0], ("a".to_owned(), 0.5));
    let read = |text: &str| read_formula(text, &names, &NoFiles);
    let value = |text: &str| {
        let formula = read(text).expect("well formed");
        let FormulaValue::Scalar(e) = formula.value else { panic!("a number") };
        let of =
            |s| formula.symbols.iter().find(|(_, x, _)| *x == s).map_or(0.0, |(_, _, v)| *v);
        formula.graph.evaluate(&[e], &of)[0]
    };
    assert!((value("a*cos(t) + (t^2)'") - (0.5 + 4.0 * std::f64::consts::PI)).abs() < 1e-14);
    assert!((value("caputo(t^3, 5) + caputo(t^3, 3)") - 6.0).abs() < 1e-14);
    assert!(
        matches!(read("[1, a]").expect("well formed").value, FormulaValue::Vector(v) if v.len() == 2)
    );
    assert!(matches!(read("[[1, a]]").expect("well formed").value, FormulaValue::Matrix(_)));
    assert!(matches!(
        read("gamma(complex(1, a))").expect("well formed").value,
        FormulaValue::ComplexGamma { .. }
    ));
    assert!(matches!(
        read("mittag_leffler(a, 1, complex(t, -1))").expect("well formed").value,
        FormulaValue::ComplexMittagLeffler { .. }
    ));
    let memory = read("caputo(sin(t), a)").expect("well formed");
    assert!(matches!(memory.value, FormulaValue::Scalar(e) if memory.graph.has_memory(e)));
    for wrong in ["complex(1, 2)", "sin(complex(1, 2))", "b + 1", "gamma(complex(1))", "1 <"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    assert!(read_numbers("<with>", "a=b").is_err());
    assert!(read_numbers("<with>", "a=1, a=2").is_err());
}

#[test]
fn vee_of_what_is_not_skew_is_worth_a_warning() {
    let text = "coordinates x\nlagrangian x'^2\nobserve v = vee([[1,2,3],[4,5,6],[7,8,9]])";
    let (_, notes) = read_model(Source::new("m", text), &Overrides::default(), &NoFiles)
        .expect("well formed");
    assert_eq!((notes[0].code, notes[0].severity), ("E0311", Severity::Warning));
}

/// Texts with pieces dropped, doubled and swapped: nothing panics, everything ends, and what is refused has a reason.
#[test]
fn mutated_models_are_read_or_refused() {
    let mut texts = vec![format!(
        "{MODEL}let X[i = 0..N] = if(i == 0, x, X[i-1] + q[i])\nconstraint c: phi'*J = transpose(phi')\n\
                 constraint w[i = 1..2] along [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]: th[i]' = memory(exp(-s), x)\n\
                 force at [x, y]: [m, 0]\ninitial x = y, y = N, phi = J, phi[1,2] = 3, mu(w[1]) = 2\n\
                 final x = initial + 1, y = free\nobserve o[i = 1..2] = lambda(w[i]) + x''\nsymmetry s: x = y, y = -x\n"
    )];
    for name in
        ["affine_body", "ball_on_turntable", "trailers", "thermostat", "memory_constraint"]
    {
        let path = format!("{}/tests/models/{name}.pfaff", env!("CARGO_MANIFEST_DIR"));
        texts.push(std::fs::read_to_string(path).expect("the model is in the repository"));
    }
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut accepted = 0;
    for round in 0..1500 {
        let text = &texts[round % texts.len()];
        let mut words: Vec<&str> =
            text.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..=random.below(3) {
            let (i, j) = (random.below(words.len()), random.below(words.len()));
            match random.below(3) {
                0 => words[i] = words[j],
                1 => words.swap(i, j),
                _ => {
                    words.remove(i);
                }
            }
        }
        match read_model(Source::new("m", &words.concat()), &Overrides::default(), &Shelf) {
            Ok(_) => accepted += 1,
            Err(errors) => {
                assert!(errors.diagnostics.iter().any(|d| d.severity == Severity::Error));
                assert!(!errors.to_string().is_empty());
            }
        }
    }
    assert!(accepted > 20, "{accepted}, but another number leaves a model well formed");
}
