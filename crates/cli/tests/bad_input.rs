//! Every kind of bad input, one test each: a status, and a message that a student understands. Nothing
//! panics, hangs or loses what was computed.

use std::fmt::Write;

use crate::support::{Answer, Folder, feed, numbers, object, pfaff, pfaff_text};

/// The answer to a text, which must be refused with these words, in this order, and without the words of a panic.
#[track_caller]
fn refused(arguments: &[&str], text: &str, words: &[&str]) -> Answer {
    let answer = feed(arguments, text.as_bytes());
    assert_eq!(answer.status, 1, "{text}\n{}{}", answer.out, answer.err);
    assert_eq!(answer.out, "", "no result");
    said(&answer, words);
    answer
}

#[track_caller]
fn said(answer: &Answer, words: &[&str]) {
    let mut rest = answer.err.as_str();
    for word in words {
        let Some(at) = rest.find(word) else { panic!("`{word}` in\n{}", answer.err) };
        rest = &rest[at + word.len()..];
    }
    assert!(!answer.err.contains("panicked"), "{}", answer.err);
}

const PLANE: &str = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nsolve t = 0..1\n";

fn plane(more: &str) -> String {
    format!("{PLANE}{more}\n")
}

#[test]
fn syntax_errors_are_all_reported() {
    let text = "coordinates x\nlagrangian x'^2/2 +\nconstraint c: (x' = 0\nsolve t = 0..1\n";
    refused(
        &["check", "-"],
        text,
        &[
            "expected an expression after `+`",
            ":2:",
            "hint: ",
            "`(` is not closed",
            ":3:",
            "hint: ",
        ],
    );
}

#[test]
fn unknown_names_get_a_suggestion() {
    let text = "coordinates theta\nlagrangian theta'^2/2 + cos(thata)\nparameters unused = 1\n";
    refused(
        &["check", "-"],
        text,
        &["`thata` is not declared", ":2:", "did you mean `theta`?"],
    );
}

#[test]
fn names_are_declared_once() {
    let text = "coordinates x\nparameters x = 1\nlagrangian x'^2/2\n";
    refused(&["check", "-"], text, &["`x` is declared twice", ":2:", "hint: "]);
}

#[test]
fn parameters_have_no_velocity() {
    let text = "parameters m = 1\ncoordinates x\nlagrangian m'*x'^2/2\n";
    refused(
        &["check", "-"],
        text,
        &["`m` is a parameter and does not change", "hint: declare `m` among the coordinates"],
    );
}

#[test]
fn lagrangians_have_no_accelerations() {
    let text = "coordinates x\nlagrangian x''^2\n";
    refused(&["check", "-"], text, &["depends on `x''`, an acceleration", "hint: "]);
}

#[test]
fn shapes_must_fit() {
    let text = "coordinates x\nlagrangian x'^2/2 + ([[1,2],[3,4]]*[1,2,3])[1]\n";
    refused(&["check", "-"], text, &["a 2×2 matrix and a vector of 3", "hint: "]);
}

#[test]
fn indices_stay_in_their_range() {
    let text = "coordinates q[2]\nlagrangian q[3]'^2/2\n";
    refused(&["check", "-"], text, &["index 3 of `q` is outside 1..2", "hint: "]);
}

#[test]
fn division_by_what_is_always_zero_is_seen() {
    for zero in ["x - x", "sin(x)^2 + cos(x)^2 - 1", "(x + y)^2 - x^2 - 2*x*y - y^2"] {
        let text = format!("coordinates x, y\nlagrangian x'^2/2 + y'^2/2 + 1/({zero})\n");
        refused(&["check", "-"], &text, &["division by", "always zero", "hint: "]);
    }
}

#[test]
fn constraints_without_variables_are_refused() {
    refused(
        &["check", "-"],
        &plane("constraint c: 1 = 2"),
        &["constraint `c` contradicts itself", ":4:", "hint: a constraint ties"],
    );
    refused(
        &["check", "-"],
        &plane("constraint c: x' = x'"),
        &["constraint `c` always holds", "hint: "],
    );
    refused(
        &["check", "-"],
        &plane("constraint c: t = 1"),
        &["contains no coordinate", "hint: "],
    );
}

#[test]
fn contradictory_constraints_are_named() {
    let velocities = plane("constraint slow: x' = 1\nconstraint fast: x' = 2");
    refused(
        &["run", "-"],
        &velocities,
        &["no velocities near the initial ones satisfy the constraint `", "hint: "],
    );
    let positions = plane("constraint left: x = 1\nconstraint right: x = 2");
    refused(
        &["run", "-"],
        &positions,
        &["no positions near the initial ones satisfy the constraint `", "hint: "],
    );
}

#[test]
fn a_start_without_consistent_state_is_refused() {
    refused(
        &["run", "-"],
        &plane("constraint c: x^2 + y^2 = -1"),
        &["constraint `c`", "off by 1 ", "hint: "],
    );
}

#[test]
fn a_start_that_has_to_move_is_noted() {
    let text = plane("constraint c: x' = y'\ninitial x' = 1, y' = 0");
    let answer = pfaff_text(&["run", "-", "--json"], &text);
    assert_eq!(answer.status, 0, "{}", answer.err);
    said(&answer, &["note: initial x' moved from 1 to 0.5", "constraint `c`"]);
}

#[test]
fn singular_masses_are_explained() {
    let text = "coordinates x, y\nlagrangian x'^2/2\nsolve t = 0..1\n";
    refused(
        &["run", "-"],
        text,
        &["does not determine the accelerations", "hint: every free direction"],
    );
    let check = pfaff_text(&["check", "-", "--json"], text);
    assert_eq!(object(&check.out)["regular"], false);
}

#[test]
fn parameters_need_values() {
    let text = "parameters k\ncoordinates x\nlagrangian x'^2/2 - k*x^2\nsolve t = 0..1\n";
    refused(&["run", "-"], text, &["the parameter `k` has no value", "--set k="]);
    assert_eq!(pfaff_text(&["run", "-", "--set", "k=2"], text).status, 0);
}

#[test]
fn parameters_are_finite() {
    let text = "parameters k = 1\ncoordinates x\nlagrangian x'^2/2 - k*x^2\nsolve t = 0..1\n";
    for (value, words) in [
        ("k=nan", "`nan` is not declared"),
        ("k=inf", "`inf` is not declared"),
        ("k=1/0", "division by zero"),
        ("k=log(0)", "the value of the parameter `k` is not finite"),
        ("k=sqrt(-1)", "the value of the parameter `k` is not finite"),
        ("k=1e300*1e300", "the value of the parameter `k` is not finite"),
        ("k=1e999", "the number is not between"),
        ("j=1", "there is no parameter `j`"),
        ("k", "`k` has no value"),
        ("k=", "k"),
    ] {
        refused(&["run", "-", "--set", value], text, &[words]);
    }
    let written = text.replace("k = 1", "k = 1/0");
    refused(&["run", "-"], &written, &["division by zero", ":1:"]);
}

#[test]
fn initial_values_are_finite() {
    for value in ["x = 1e300*1e300", "x = log(-1)"] {
        let words = ["this initial value is not a finite number", "hint: "];
        refused(&["run", "-", "--initial", value], PLANE, &words);
    }
}

#[test]
fn roots_of_negative_numbers_on_the_way_stop_the_run() {
    for potential in ["sqrt(x)", "x*log(x)"] {
        let text = format!(
            "coordinates x\nlagrangian x'^2/2 - {potential}\ninitial x = 1, x' = -2\nsolve t = 0..5\n"
        );
        let answer = pfaff_text(&["run", "-", "--samples", "501", "--json"], &text);
        assert_eq!(answer.status, 3, "{}", answer.err);
        said(&answer, &["note: ", "root or logarithm of a negative number"]);
        let run = object(&answer.out);
        assert_eq!(run["stop"]["reason"], "not_finite");
        assert!(numbers(&run["t"]).len() > 20, "what was computed is there");
        assert!(numbers(&run["q"]["x"]).iter().all(|x| *x > 0.0));
    }
    let text = "coordinates x\nlagrangian x'^2/2 - log(x)^2\ninitial x = -1\nsolve t = 0..5\n";
    refused(
        &["run", "-"],
        text,
        &["at the initial state the equations of motion are infinite"],
    );
}

#[test]
fn a_step_that_shrinks_to_nothing_stops_the_run() {
    let text = "coordinates x\nequation x' = x^2\ninitial x = 1\nsolve t = 0..3\n";
    let answer = pfaff_text(&["run", "-", "--json"], text);
    assert_eq!(answer.status, 3);
    let run = object(&answer.out);
    assert_eq!(run["stop"]["reason"], "step_too_small");
    // x = 1/(1 − t) ends at t = 1.
    assert!((run["stop"]["t"].as_f64().expect("a time") - 1.0).abs() < 1e-6);
    said(&answer, &["note: the step size became too small at t = "]);
    assert!(numbers(&run["t"]).len() > 60, "what was computed is there");
}

#[test]
fn runs_go_forward_in_time() {
    for end in ["-1", "0", "nan", "inf"] {
        let answer = pfaff_text(&["run", "-", "--t1", end], PLANE);
        assert_eq!(answer.status, 2, "{}", answer.err);
        said(&answer, &["the run must go forward in time"]);
    }
    let text = "coordinates x\nlagrangian x'^2/2\nsolve t = 5..0\n";
    refused(&["run", "-"], text, &["the run ends at 0, before it begins at 5", "hint: "]);
}

#[test]
fn tolerances_are_positive() {
    for tolerance in ["0", "-1", "nan", "inf"] {
        let answer = pfaff_text(&["run", "-", "--tolerance", tolerance], PLANE);
        assert_eq!(answer.status, 2, "{}", answer.err);
        said(&answer, &["the tolerance must be positive"]);
    }
    let text = "coordinates x\nlagrangian x'^2/2\nsolve t = 0..1, tolerance = 0\n";
    refused(&["run", "-"], text, &["`tolerance` must be positive", ":3:"]);
}

#[test]
fn missing_files_are_named() {
    let answer = pfaff(&["run", "nowhere/mine.pfaff"]);
    assert_eq!(answer.status, 1);
    said(&answer, &["`nowhere/mine.pfaff` cannot be read"]);
    said(&pfaff(&["run", "sleihg"]), &["did you mean the gallery model `sleigh`?"]);
}

#[test]
fn unreadable_files_are_named() {
    let folder = Folder::new("unreadable");
    let answer = pfaff(&["run", &folder.path("")]);
    assert_eq!(answer.status, 1);
    said(&answer, &["cannot be read"]);
}

#[test]
fn huge_files_are_refused() {
    let folder = Folder::new("huge");
    let mut text = b"coordinates x\nlagrangian x'^2/2\n".to_vec();
    text.resize((64 << 20) + 1, b'\n');
    let path = folder.write("huge.pfaff", &text);
    let answer = pfaff(&["check", &path]);
    assert_eq!(answer.status, 1);
    said(&answer, &["E0102", "longer than 64 MiB"]);
}

#[test]
fn what_is_no_text_is_refused() {
    let not_utf8 = feed(&["check", "-"], b"coordinates x\nlet a = \xff\xfe\n");
    assert_eq!(not_utf8.status, 1);
    said(&not_utf8, &["byte 0xff is not UTF-8", ":2:9", "hint: save the file as UTF-8"]);
    let zeros = feed(&["check", "-"], &vec![0; 1 << 20]);
    assert_eq!(zeros.status, 1);
    said(&zeros, &["byte 0x00", "plain text"]);
}

#[test]
fn messages_stay_short() {
    let word = "x".repeat(1 << 20);
    let answer = refused(&["check", "-"], &word, &["xxx", "…"]);
    assert!(answer.err.len() < 5_000, "{} bytes", answer.err.len());
    let many = "let a = b\n".repeat(10_000);
    let answer = refused(&["check", "-"], &many, &["is not declared", "… and "]);
    assert!(answer.err.len() < 50_000, "{} bytes", answer.err.len());
}

#[test]
fn deep_nesting_is_refused() {
    const DEEP: usize = 100_000;
    for (open, close) in [("(", ")"), ("sin(", ")"), ("-", ""), ("[", "]"), ("x^", "")] {
        let nested = format!("{}x{}", open.repeat(DEEP), close.repeat(DEEP));
        let text = format!("coordinates x\nlagrangian x'^2/2 - {nested}\nsolve t = 0..1\n");
        refused(&["run", "-"], &text, &["nested too deeply", "hint: name a part with `let`"]);
    }
}

/// A long sum is no nesting; a long chain of abbreviations is deep, and no recursion follows it.
#[test]
fn long_sums_and_chains_are_no_nesting() {
    const LONG: usize = 10_000;
    let sum = format!(
        "coordinates x\nlagrangian x'^2/2 - ({})/{LONG}\nsolve t = 0..0.1\n",
        vec!["x^2"; LONG].join(" + ")
    );
    let answer = pfaff_text(&["run", "-"], &sum);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let mut chain = String::from("coordinates x\nlet a0 = x\n");
    for i in 0..LONG {
        let _ = writeln!(chain, "let a{} = sin(a{i})", i + 1);
    }
    let _ = writeln!(chain, "lagrangian x'^2/2 - a{LONG}\nsolve t = 0..0.1");
    let answer = pfaff_text(&["run", "-"], &chain);
    assert_eq!(answer.status, 0, "{}", answer.err);
}

#[test]
fn nothing_is_defined_by_itself() {
    let with = |line: &str| format!("coordinates x\n{line}\nlagrangian x'^2/2\n");
    for (line, words) in [
        ("let a = a + 1", "`a` is defined in terms of itself"),
        ("let f(u) = f(u - 1)", "`f` is defined in terms of itself"),
        ("let f[i = 1..3] = f[i]", "is used before it is defined"),
        ("let f[i = 1..3] = f[i+1]", "is used before it is defined"),
    ] {
        refused(&["check", "-"], &with(line), &[words, ":2:", "hint: "]);
    }
    refused(&["run", "-"], &plane("initial x = y, y = x"), &["error["]);
}

#[test]
fn enormous_arrays_are_refused() {
    for coordinates in ["q[1000000000]", "q[1000000,1000000]"] {
        let text = format!("coordinates {coordinates}\nlagrangian q[1]'^2\n");
        refused(&["check", "-"], &text, &["more than 10000", "hint: "]);
    }
    let text = "coordinates x\nlet a[i = 1..1000000000] = x\nlagrangian x'^2/2\n";
    refused(&["check", "-"], text, &["1000000000", "hint: "]);
}

/// Refused after a few terms, long before memory is gone, with what it would take.
#[test]
fn enormous_sums_over_pairs_are_refused() {
    let pairs = "sum(i = 1..10000, sum(j = 1..10000, (x[i] - x[j])^2))";
    for place in [format!("potential {pairs}"), format!("let V = {pairs}\npotential V")] {
        let text =
            format!("coordinates x[1..10000]\nkinetic sum(i = 1..10000, x[i]'^2)/2\n{place}\n");
        refused(&["check", "-"], &text, &["1..10000", "steps to write out", "GB", "hint: "]);
    }
    let text = "coordinates x[1..1000000]\nlagrangian sum(i = 1..1000000, x[i]'^2)/2\n";
    refused(
        &["check", "-"],
        text,
        &["1000000 coordinates", "would take about 150 GB", "hint: "],
    );
}

#[test]
fn enormous_sums_are_refused() {
    for sum in [
        "sum(i = 1..1000000000, sin(i*x))",
        "product(i = 1..1000000000, x)",
        "sum(i = 1..1000000000, 0)",
    ] {
        let text = format!("coordinates x\nlagrangian x'^2/2 - {sum}\n");
        refused(&["check", "-"], &text, &["more than 1000000 terms", "hint: "]);
    }
}

#[test]
fn tables_have_no_gaps_and_grow() {
    let folder = Folder::new("tables");
    let model = folder.write(
        "m.pfaff",
        "coordinates x\nlagrangian x'^2/2\nforce x: table(t, \"d.csv\", \"f\")\nsolve t = 0..1\n",
    );
    let table = |text: &str, words: &[&str]| {
        folder.write("d.csv", text);
        let answer = pfaff(&["run", &model]);
        assert_eq!(answer.status, 1, "{text}\n{}", answer.err);
        said(&answer, words);
        said(&answer, &["hint: "]);
    };
    said(&pfaff(&["run", &model]), &["`d.csv` cannot be read", "hint: the path is relative"]);
    table("t,f\n0,1\n1,\n2,3\n", &["data row 2 has a gap"]);
    table("t,f\n0,1\n1,two\n2,3\n", &["data row 2 has a gap"]);
    table("t,f\n0,1\n1\n2,3\n", &["data row 2 has a gap"]);
    table("t,f\n0,1\n2,2\n1,3\n", &["the first column does not grow at data row 3"]);
    table("t,f\n0,1\n0,2\n", &["the first column does not grow at data row 2"]);
    table("t,f\n0,1\n", &["at least two rows"]);
    table("", &["has no column `f`"]);
    table("t,F\n0,1\n1,2\n", &["has no column `f`"]);
    folder.write("d.csv", b"t,f\n0,\xff\n");
    assert_eq!(pfaff(&["run", &model]).status, 1);
    folder.write("d.csv", "t,f\n0,1\n0.5,1\n");
    let short = pfaff(&["run", &model, "--json"]);
    assert_eq!(short.status, 3, "the run leaves the table: {}", short.err);
    let run = object(&short.out);
    assert!((run["stop"]["t"].as_f64().expect("a time") - 0.5).abs() < 1e-6);
    assert!(numbers(&run["t"]).len() > 90, "what was computed is there");
}

#[test]
fn wrong_options_are_explained() {
    for (options, words) in [
        (&["--samples", "1"][..], "from 2 to"),
        (&["--samples", "100000000000"], "from 2 to"),
        (&["--method", "euler"], "`euler`"),
        (&["--method", "rk4"], "fixed step"),
        (&["--step", "0"], "the step must be positive"),
        (&["--at", "0.5,2"], "the time 2 lies outside the run, 0 to 1"),
        (&["--at", "0.5,"], "is not a time"),
        (&["--principle", "newton"], "no principle `newton`"),
        (&["--tolerance", "small"], "small"),
    ] {
        let answer = feed(&[&["run", "-"], options].concat(), PLANE.as_bytes());
        assert_eq!(answer.status, 2, "{options:?} {}", answer.err);
        said(&answer, &[words]);
        assert_eq!(answer.out, "");
    }
}

#[test]
fn wrong_states_and_formulas_are_explained() {
    refused(
        &["derive", "-", "--state", "z=1"],
        PLANE,
        &["there is no coordinate `z`", "hint: "],
    );
    refused(&["derive", "-", "--state", "x=1, x=2"], PLANE, &["error["]);
    for (formula, words) in [
        ("1/0", "division by zero"),
        ("log(-1)", "infinite or not a number"),
        ("sinn(1)", "did you mean `sin`?"),
        ("a + 1", "`a` is not declared"),
        ("1 +", "expected an expression"),
        ("t", "give it a value"),
        ("", "expression"),
    ] {
        refused(&["eval", formula], "", &[words]);
    }
}

/// Ends that are not reached: status 3, the best path with what it misses, in words and as JSON; and options
/// of the search where they make no sense.
#[test]
fn ends_that_are_not_reached() {
    let text = "coordinates x\nlagrangian x'^2/2\ninitial x = 0\nfinal x = 1, t = free\nsolve t = 0..1";
    let answer = pfaff_text(&["run", "-", "--seconds", "20"], text);
    assert_eq!(answer.status, 3, "{}", answer.err);
    assert!(answer.err.contains("no motion between the ends was found"), "{}", answer.err);
    assert!(answer.out.contains("No motion between the ends was found"), "{}", answer.out);
    assert!(answer.out.contains("position"), "the best path is printed: {}", answer.out);
    let json = pfaff_text(&["run", "-", "--json", "--seconds", "20"], text);
    assert!(json.status == 3 && json.out.contains("\"solutions\":[]"), "{}", json.out);
    let open = "coordinates x\nlagrangian x'^2/2\ninitial x = 0, x' = 1\nsolve t = 0..1";
    for option in [["--guess", "x'=1"], ["--lead", "a=1"], ["--from", "a.csv"]] {
        let answer = pfaff_text(&["run", "-", option[0], option[1]], open);
        assert!(
            answer.status == 2 && answer.err.contains("needs a model with `final`"),
            "{}",
            answer.err
        );
    }
    let ends = "coordinates x\nparameters X = 1\nlagrangian x'^2/2\ninitial x = 0\nfinal x = X\nsolve t = 0..1";
    for (option, status, part) in [
        (["--guess", "mu(c)=1"], 1, "error["),
        (["--lead", "Z=1"], 2, "`Z`"),
        (["--lead", "X"], 1, "error["),
        (["--from", "is/not/there.csv"], 2, "cannot be read"),
        (["--seconds", "-1"], 2, "seconds"),
    ] {
        let answer = pfaff_text(&["run", "-", option[0], option[1]], ends);
        assert!(answer.status == status && answer.err.contains(part), "{}", answer.err);
    }
    assert_eq!(pfaff_text(&["run", "-", "--lead", "X=0.5"], ends).status, 0);
}
