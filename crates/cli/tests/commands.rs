//! The command line as its contract says: keys and shapes, streams, exit statuses.

use serde_json::Value;

use crate::support::{
    self, Answer, feed, json, keys, numbers, object, pfaff, pfaff_text, program,
};

const OSCILLATOR: &str = "\
title \"Oscillator\"
coordinates x
parameters k = 4
lagrangian x'^2/2 - k*x^2/2
initial x = 1
observe amplitude = sqrt(x^2 + x'^2/k)
event falling zero: x
solve t = 0..2, tolerance = 1e-12
";

/// All keys of the contract, in its order; others may stand between them.
#[track_caller]
fn in_order(keys: &[&str], wanted: &[&str]) {
    let known: Vec<&str> = keys.iter().copied().filter(|key| wanted.contains(key)).collect();
    assert_eq!(known, wanted);
}

#[test]
fn check_has_its_keys() {
    let sleigh = json(&["check", "sleigh", "--json"]);
    let wanted = ["coordinates", "degrees_of_freedom", "regular", "constraints"];
    for key in wanted {
        assert!(keys(&sleigh).contains(&key), "{key} in {sleigh}");
    }
    assert_eq!(sleigh["coordinates"], serde_json::json!(["x", "y", "phi"]));
    assert_eq!(sleigh["degrees_of_freedom"], 2);
    assert_eq!(sleigh["regular"], true);
    let blade = &sleigh["constraints"][0];
    assert_eq!(blade["name"], "blade");
    assert_eq!(blade["class"], "linear");
    assert_eq!(blade["integrable"], false);
    assert_eq!(json(&["check", "sleigh", "--format", "json"]), sleigh, "the same by --format");
    let pendulum = json(&["check", "pendulum", "--json"]);
    assert_eq!(pendulum["constraints"][0]["class"], "holonomic");
    assert_eq!(pendulum["constraints"][0]["integrable"], true);
    let text = pfaff(&["check", "sleigh"]);
    assert!(text.out.contains("degrees of freedom  2"), "{}", text.out);
}

#[test]
fn derive_speaks_text_latex_and_json() {
    let text = pfaff(&["derive", "sleigh"]);
    assert_eq!(text.status, 0);
    for part in ["principle chetaev", "M[x,phi] =", "A[blade,x] = -sin(phi)", "lambda(blade)"] {
        assert!(text.out.contains(part), "{part} in {}", text.out);
    }
    let latex = pfaff(&["derive", "sleigh", "--format", "latex"]);
    for part in ["\\begin{align*}", "\\ddot{x}", "\\lambda_{", "\\end{align*}"] {
        assert!(latex.out.contains(part), "{part} in {}", latex.out);
    }
    let begun = latex.out.matches("\\begin{align*}").count();
    assert_eq!(begun, latex.out.matches("\\end{align*}").count());
    let equations = json(&["derive", "sleigh", "--json"]);
    for key in ["model", "principle", "mass", "force", "jacobian", "equations", "constraints"] {
        assert!(keys(&equations).contains(&key), "{key} in {equations}");
    }
    assert_eq!(equations["equations"].as_array().map(Vec::len), Some(3));
}

/// Of a model of many coordinates `derive` shows some lines, and says how many there are.
#[test]
fn derive_outlines_large_models() {
    let text = pfaff(&["derive", "falling_chain"]).out;
    assert!(text.len() < 40_000, "{} characters", text.len());
    assert!(text.contains("This model has 200 coordinates."), "{text}");
    assert!(text.contains("M has up to 20100 different entries"), "{text}");
    assert!(text.contains("Force f: "), "{text}");
    let gas = json(&["derive", "isokinetic_gas", "--json"]);
    let mass = gas["mass"].as_array().expect("the mass matrix is short enough");
    assert_eq!(mass.len(), 12);
    let remarks = gas["remarks"].to_string();
    assert!(remarks.contains("Mass matrix M (symmetric): 588 of 600 lines"), "{remarks}");
}

/// The sleigh by hand: with c = cos 0, s = sin 0 the mass matrix is [[m,0,0],[0,m,ma],[0,ma,J+ma²]] and A = (0,1,0).
/// With x' = 1, φ' = 0.3: b = x'φ', so y'' = 0.3; x'' = aφ'² = 0.018 and (J+ma²)φ'' = −ma·y''.
#[test]
fn derive_gives_the_numbers_at_a_state() {
    let state = json(&["derive", "sleigh", "--state", "x'=1, phi'=0.3", "--json"]);
    in_order(
        &keys(&state),
        &[
            "mass",
            "jacobian",
            "acceleration",
            "multipliers",
            "multiplier_rates",
            "reaction",
            "energy",
        ],
    );
    assert_eq!(state["mass"][1], serde_json::json!([0.0, 1.0, 0.2]));
    assert_eq!(numbers(&state["jacobian"][0]), [0.0, 1.0, 0.0]);
    let close = |value: &Value, expected: f64| {
        let x = value.as_f64().expect("a number");
        assert!((x - expected).abs() < 1e-14, "{x} for {expected}");
    };
    let a = &state["acceleration"];
    close(&a["x"], 0.018);
    close(&a["y"], 0.3);
    close(&a["phi"], -0.2 * 0.3 / 0.54);
    // m·y'' + m·a·φ'' = λ.
    close(&state["multipliers"]["blade"], 0.3 - 0.2 * 0.06 / 0.54);
    close(&state["reaction"]["y"], 0.3 - 0.2 * 0.06 / 0.54);
    assert_eq!(keys(&state["energy"]), ["E", "constraint", "total"]);
    close(&state["energy"]["E"], 0.5 * (1.0 + 0.06 * 0.06) + 0.25 * 0.09);
    let text = pfaff(&["derive", "sleigh", "--state", "x'=1"]);
    assert!(text.out.contains("acceleration"), "{}", text.out);
    // Nothing is projected: a state that violates the constraint is taken as it is.
    let off = json(&["derive", "sleigh", "--state", "y'=1", "--json"]);
    close(&off["energy"]["E"], 0.5);
}

#[test]
fn run_has_its_keys() {
    let run = json(&["run", "sleigh", "--samples", "5", "--json"]);
    in_order(
        &keys(&run),
        &[
            "pfaff",
            "model",
            "principle",
            "method",
            "stop",
            "t",
            "q",
            "v",
            "multipliers",
            "multiplier_rates",
            "reactions",
            "energy",
            "observed",
            "events",
            "notes",
            "audit",
            "statistics",
        ],
    );
    assert_eq!(run["principle"], "chetaev");
    assert_eq!(run["stop"], serde_json::json!({"reason": "end", "t": 20.0}));
    assert_eq!(numbers(&run["t"]), [0.0, 5.0, 10.0, 15.0, 20.0]);
    assert_eq!(keys(&run["q"]), ["x", "y", "phi"]);
    assert_eq!(keys(&run["v"]), ["x", "y", "phi"]);
    assert_eq!(keys(&run["multipliers"]), ["blade"]);
    assert_eq!(keys(&run["reactions"]), ["x", "y", "phi"]);
    assert_eq!(keys(&run["energy"]), ["E", "constraint", "total"]);
    assert_eq!(keys(&run["observed"]), ["speed"]);
    for list in [&run["q"]["x"], &run["multipliers"]["blade"], &run["energy"]["total"]] {
        assert_eq!(numbers(list).len(), 5);
    }
    assert_eq!(run["audit"]["verdict"], "pass");
    for check in run["audit"]["checks"].as_array().expect("checks") {
        for key in ["name", "value", "limit", "verdict"] {
            assert!(keys(check).contains(&key), "{check}");
        }
    }
    let counted = [
        "steps",
        "rejected",
        "evaluations",
        "derive_us",
        "compile_us",
        "integrate_us",
        "audit_us",
    ];
    assert_eq!(keys(&run["statistics"]), counted);
}

#[test]
fn components_are_keys() {
    let text = "coordinates q[2], phi[2,2]\nlagrangian dot(q',q')/2 + tr(transpose(phi')*phi')/2\n\
                constraint w[i = 1..2]: q[i]' = phi[i,i]'\nsolve t = 0..1\n";
    let answer = pfaff_text(&["run", "-", "--samples", "2", "--json"], text);
    let run = object(&answer.out);
    let names = ["q[1]", "q[2]", "phi[1,1]", "phi[1,2]", "phi[2,1]", "phi[2,2]"];
    assert_eq!(keys(&run["q"]), names);
    assert_eq!(keys(&run["multipliers"]), ["w[1]", "w[2]"]);
}

#[test]
fn events_are_listed_with_their_state() {
    let answer = pfaff_text(&["run", "-", "--json"], OSCILLATOR);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let run = object(&answer.out);
    let event = &run["events"][0];
    let more = ["multipliers", "multiplier_rates", "reactions", "energy", "observed"];
    assert_eq!(keys(event), [&["name", "t", "direction", "q", "v"], &more[..]].concat());
    assert_eq!(event["name"], "zero");
    assert_eq!(event["direction"], "falling");
    let t = event["t"].as_f64().expect("a time");
    // x = cos 2t; located to the tolerance of the run, a hundredfold for the steps before.
    assert!((t - std::f64::consts::FRAC_PI_4).abs() < 1e-10, "{t}");
    assert!((event["v"]["x"].as_f64().expect("a number") + 2.0).abs() < 1e-9);
}

#[test]
fn numbers_read_back_exactly() {
    let third = json(&["eval", "1/3", "--json"]);
    assert_eq!(third["value"].as_f64().map(f64::to_bits), Some((1.0_f64 / 3.0).to_bits()));
    let run = json(&["run", "sleigh", "--at", "0.1,0.30000000000000004,7", "--json"]);
    assert_eq!(numbers(&run["t"]), [0.1, 0.1 + 0.2, 7.0]);
    let text = pfaff(&["eval", "0.1 + 0.2"]);
    assert_eq!(text.out.trim().parse::<f64>(), Ok(0.3), "exact decimals");
}

#[test]
fn what_is_not_finite_is_null() {
    let text = "coordinates x\nequation x' = -x\ninitial x = 1\nobserve bad = log(-x)\nsolve t = 0..1\n";
    let run = object(&pfaff_text(&["run", "-", "--samples", "2", "--json"], text).out);
    assert_eq!(run["observed"]["bad"], serde_json::json!([null, null]));
    assert_eq!(run["principle"], Value::Null);
}

#[test]
fn options_of_run_count() {
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "sleigh", "--json"];
        arguments.extend(more);
        json(&arguments)
    };
    let last = |v: &Value| *numbers(v).last().expect("a value");
    assert_eq!(last(&run(&["--t1", "3"])["t"]), 3.0);
    assert_eq!(numbers(&run(&["--t0", "-2", "--t1", "3"])["t"])[0], -2.0);
    assert_eq!(numbers(&run(&["--samples", "7"])["t"]).len(), 7);
    let heavy = run(&["--set", "m = 2, J = 1"]);
    let light = run(&[]);
    // Twice the mass and the inertia: the same motion, twice the reaction.
    assert!((last(&heavy["q"]["x"]) - last(&light["q"]["x"])).abs() < 1e-8);
    let ratio =
        numbers(&heavy["multipliers"]["blade"])[0] / numbers(&light["multipliers"]["blade"])[0];
    assert!((ratio - 2.0).abs() < 1e-9);
    assert_eq!(numbers(&run(&["--initial", "x'=2, phi'=0"])["v"]["x"]), vec![2.0; 201]);
    assert_eq!(run(&["--method", "rk4", "--step", "0.01"])["method"], "rk4");
    let steps = |v: &Value| v["statistics"]["steps"].as_u64().expect("a count");
    let at = |tolerance| steps(&run(&["--method", "dop853", "--tolerance", tolerance]));
    assert!(at("1e-13") > at("1e-6"));
    assert_eq!(run(&["--principle", "chetaev"])["principle"], "chetaev");
    assert_eq!(run(&["--strict"])["audit"]["verdict"], "pass");
}

#[test]
fn commas_inside_brackets_do_not_separate() {
    let text = "coordinates q[2]\nparameters J = [[1,0],[0,1]], k = 1\n\
                lagrangian dot(q', J*q')/2 - k*dot(q,q)/2\nsolve t = 0..1\n";
    let set = ["run", "-", "--json", "--set", "J = [[2,0],[0,3]], k = max(1, 2)"];
    let with = [&set[..], &["--initial", "q = [1, 2], q' = [3, 4]"]].concat();
    let run = object(&pfaff_text(&with, text).out);
    assert_eq!(numbers(&run["q"]["q[2]"])[0], 2.0);
    assert_eq!(numbers(&run["v"]["q[1]"])[0], 3.0);
    assert_eq!(numbers(&run["energy"]["E"])[0], 0.5 * (2.0 * 9.0 + 3.0 * 16.0) + 5.0);
    let state = ["derive", "-", "--json", "--state", "q = [1, 2], q[1]' = max(3, 1)"];
    let at = object(&pfaff_text(&state, text).out);
    assert_eq!(at["acceleration"]["q[2]"].as_f64(), Some(-2.0));
    let eval =
        json(&["eval", "a*b", "--with", "a = max(1, 2), b = dot([1, 2], [3, 4])", "--json"]);
    assert_eq!(eval["value"].as_f64(), Some(22.0));
}

#[test]
fn eval_gives_numbers_vectors_and_matrices() {
    assert_eq!(pfaff(&["eval", "gamma(5)"]).out, "24.0\n");
    assert_eq!(pfaff(&["eval", "-2^2"]).out, "-4.0\n");
    assert_eq!(pfaff(&["eval", "a*t", "--with", "a=3, t=2"]).out, "6.0\n");
    assert_eq!(pfaff(&["eval", "[1, 2]"]).out, "[1.0, 2.0]\n");
    let matrix = json(&["eval", "transpose([[1,2],[3,4]])", "--json"]);
    assert_eq!(matrix["value"], serde_json::json!([[1.0, 3.0], [2.0, 4.0]]));
}

#[test]
fn gallery_lists_prints_and_is_an_object() {
    let list = pfaff(&["gallery"]);
    assert!(list.out.contains("sleigh "), "{}", list.out);
    let models = json(&["gallery", "--json"])["models"].clone();
    let names: Vec<&str> =
        models.as_array().expect("a list").iter().filter_map(|m| m["name"].as_str()).collect();
    assert!(names.contains(&"sleigh") && names.contains(&"pendulum"));
    for name in names {
        let text = pfaff(&["gallery", name]).out;
        let checked = pfaff_text(&["check", "-", "--json"], &text);
        assert_eq!(checked.status, 0, "{name}: {}", checked.err);
        object(&checked.out);
    }
    assert_eq!(pfaff(&["gallery", "slegh"]).status, 2);
}

#[test]
fn standard_input_is_a_model() {
    let sleigh = pfaff(&["gallery", "sleigh"]).out;
    let piped = object(&pfaff_text(&["run", "-", "--json"], &sleigh).out);
    let named = json(&["run", "sleigh", "--json"]);
    assert_eq!(piped["q"], named["q"]);
}

#[test]
fn two_runs_give_equal_bits() {
    let run = |_| {
        let mut run = json(&["run", "snake", "--json"]);
        for time in ["derive_us", "compile_us", "integrate_us", "audit_us"] {
            run["statistics"][time] = Value::Null;
        }
        run.to_string()
    };
    let runs: Vec<String> = (0..2).map(run).collect();
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn results_and_the_rest_go_to_their_streams() {
    let moved = pfaff(&["run", "sleigh", "--initial", "x'=1, y'=1, phi=0", "--json"]);
    assert_eq!(moved.status, 0);
    object(&moved.out);
    assert!(moved.err.contains("note: "), "{}", moved.err);
    let quiet = pfaff(&["run", "sleigh"]);
    assert_eq!(quiet.err, "", "no bar without a terminal");
    assert!(quiet.out.contains("Audit: pass"), "{}", quiet.out);
    let wrong = pfaff_text(&["run", "-", "--json"], "coordinates x\n");
    assert_eq!((wrong.status, wrong.out.as_str()), (1, ""));
    assert!(wrong.err.contains("error[E0406]"), "{}", wrong.err);
}

#[test]
fn summary_tells_what_a_person_wants() {
    let Answer { out, .. } = pfaff(&["run", "sleigh"]);
    for part in [
        "Chaplygin sleigh\n",
        "t = 0 to 20",
        "steps",
        "position",
        "lambda(blade) = ",
        "Audit: pass",
        "│",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(!out.contains('\u{1b}'), "no colours without a terminal");
}

#[test]
fn the_plot_of_a_run_shows_what_moves() {
    let block = "coordinates y, x\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\n\
                 contact floor: y >= 0, friction = 0.2\ninitial x' = 1e-9\n";
    let answer = pfaff_text(&["run", "-", "--t1", "4e-10"], block);
    let axis = answer.out.lines().last().expect("a plot");
    assert!(
        axis.contains(" t "),
        "the path is a straight line, so the axis is time: {}",
        answer.out
    );
    let name =
        answer.out.lines().filter_map(|line| line.split_once('│')).map(|(name, _)| name.trim());
    assert!(name.clone().any(|name| name == "x"), "y rests: {}", answer.out);
}

#[test]
fn statuses_are_those_of_the_contract() {
    let status = |arguments: &[&str]| pfaff(arguments).status;
    assert_eq!(status(&["run", "sleigh"]), 0);
    assert_eq!(status(&["--version"]), 0);
    assert_eq!(status(&["--help"]), 0);
    assert_eq!(status(&["run", "--help"]), 0);
    assert_eq!(status(&["run", "no-such-model.pfaff"]), 1);
    assert_eq!(status(&[]), 2);
    assert_eq!(status(&["run"]), 2);
    assert_eq!(status(&["run", "sleigh", "--nonsense"]), 2);
    assert_eq!(status(&["run", "sleigh", "--at", "21"]), 2);
    assert_eq!(status(&["run", "sleigh", "--at", "-1"]), 2);
    assert_eq!(status(&["run", "sleigh", "--at", "one"]), 2);
    assert_eq!(status(&["run", "sleigh", "--at", "1", "--samples", "3"]), 2);
    assert_eq!(status(&["run", "sleigh", "--max-steps", "3"]), 3);
    // A stopping event is no early stop.
    let stops = OSCILLATOR.replace("event falling", "event stop falling");
    let ended = pfaff_text(&["run", "-", "--json"], &stops);
    assert_eq!(ended.status, 0);
    assert_eq!(object(&ended.out)["stop"]["reason"], "event");
}

/// A step of 0.3 for oscillations of period π is far too coarse: the energy balance fails.
#[test]
fn a_failed_audit_matters_when_it_is_asked_to() {
    let coarse = ["run", "-", "--method", "rk4", "--step", "0.3", "--t1", "20", "--json"];
    let plain = pfaff_text(&coarse, OSCILLATOR);
    assert_eq!(object(&plain.out)["audit"]["verdict"], "fail");
    assert_eq!(plain.status, 0);
    let strict = pfaff_text(&[&coarse[..], &["--strict"]].concat(), OSCILLATOR);
    assert_eq!(strict.status, 4);
    assert_eq!(object(&strict.out)["q"], object(&plain.out)["q"], "still printed");
}

#[test]
fn times_after_an_early_stop_are_left_out() {
    let stops = OSCILLATOR.replace("event falling", "event stop falling");
    let run = object(&pfaff_text(&["run", "-", "--at", "0.5,1,1.5", "--json"], &stops).out);
    // The state at the event is the last row.
    let stop = run["stop"]["t"].as_f64().expect("a time");
    assert_eq!(numbers(&run["t"]), [0.5, stop]);
    assert_eq!(numbers(&run["q"]["x"]).len(), 2);
    let blow_up = "coordinates x\nequation x' = x^2\ninitial x = 1\nsolve t = 0..3\n";
    let early = pfaff_text(&["run", "-", "--at", "0.5,2", "--json"], blow_up);
    assert_eq!(early.status, 3);
    let run = object(&early.out);
    assert_eq!(numbers(&run["t"]), [0.5]);
    // x = 1/(1 − t)
    assert!((numbers(&run["q"]["x"])[0] - 2.0).abs() < 1e-8);
    assert!(early.err.contains("note: "), "{}", early.err);
}

/// `--at` may repeat and need not be sorted: each time once, ascending.
#[test]
fn output_times_come_in_order() {
    let run = json(&["run", "sleigh", "--at", "5,1,5,0", "--json"]);
    assert_eq!(numbers(&run["t"]), [0.0, 1.0, 5.0]);
}

#[test]
fn unknown_commands_get_a_hint() {
    let wrong = pfaff(&["rnu", "sleigh"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("did you mean `run`?"), "{}", wrong.err);
    assert_eq!(wrong.out, "");
}

#[test]
fn derive_writes_source_text() {
    let c = pfaff(&["derive", "sleigh", "--format", "c"]);
    assert_eq!(c.status, 0, "{}", c.err);
    for part in ["// y[3] = u1 = ", "void sleigh_rates(double t,", "void sleigh_multipliers("] {
        assert!(c.out.contains(part), "{part} in {}", c.out);
    }
    let saddle = pfaff(&["derive", "sleigh", "--form", "multipliers", "--format", "c"]).out;
    assert!(saddle.contains("// y[3] = x'\n"), "{saddle}");
    let set = pfaff(&["derive", "sleigh", "--set", "a=0.25", "--format", "rust"]).out;
    assert!(set.contains("SLEIGH_PARAMETERS: [f64; 3] = [1.0, 0.5, 0.25]"), "{set}");
    let python = pfaff(&["derive", "pendulum", "--format", "python"]).out;
    assert!(python.contains("def pendulum_rates(t, y, c):"), "{python}");
    for words in [
        &["derive", "sleigh", "--format", "c", "--state", "x=1"][..],
        &["derive", "pendulum", "--format", "c", "--form", "reduced"],
        &["derive", "fractional_oscillator", "--format", "c"],
        &["derive", "sleigh", "--format", "fortran"],
    ] {
        let refused = pfaff(words);
        assert_eq!((refused.status, refused.out.as_str()), (2, ""), "{words:?}");
        assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
    }
}

#[test]
fn help_teaches_by_examples() {
    let help = pfaff(&["--help"]).out;
    assert!(help.contains("pfaff run sleigh"), "{help}");
    for command in ["check", "derive", "run", "gallery", "eval", "completions", "man"] {
        let text = pfaff(&[command, "--help"]).out;
        assert!(text.contains(&format!("pfaff {command}")), "{text}");
        assert!(help.contains(command), "{command}");
    }
}

#[test]
fn completions_and_man_pages_come_from_the_same_arguments() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = pfaff(&["completions", shell]);
        assert_eq!(script.status, 0, "{shell}");
        assert!(script.out.contains("tolerance"), "{shell} knows the options of run");
    }
    assert_eq!(pfaff(&["completions", "csh"]).status, 2);
    let page = pfaff(&["man"]).out;
    assert!(page.contains(".TH pfaff 1"), "{page}");
    assert!(pfaff(&["man", "run"]).out.contains("\\-\\-tolerance"));
    assert_eq!(pfaff(&["man", "rnu"]).status, 2);
}

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    use std::process::Stdio;
    let mut child = program()
        .args(["run", "sleigh", "--samples", "100000", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let answer = support::answer(child.wait_with_output().expect("it ends"));
    assert_eq!(answer.status, 0);
    assert_eq!(answer.err, "", "and nothing to complain about");
    let _ = feed(&["gallery"], b"ignored");
}

/// Every way that is here gives the same answer to the last digit; a word that names none is refused, and so
/// is a way that is not here.
#[test]
fn a_variable_chooses_how_programs_are_evaluated() {
    let run = |code: &str| {
        let mut command = program();
        let command = command.args(["run", "sleigh", "--json", "--t1", "1"]);
        support::answer(command.env("PFAFF_CODE", code).output().expect("the program starts"))
    };
    // All but the times.
    let motion = |answer: &Answer| {
        assert_eq!(answer.status, 0, "{}", answer.err);
        let mut motion = object(&answer.out);
        motion["statistics"].take();
        motion
    };
    let by_tape = motion(&run("tape"));
    assert_eq!(motion(&run("")), by_tape);
    for way in ["native", "cranelift"] {
        let found = run(way);
        if found.status == 2 {
            assert!(found.err.contains(&format!("PFAFF_CODE is `{way}`: ")), "{}", found.err);
        } else {
            assert_eq!(motion(&found), by_tape, "{way}");
        }
    }
    assert_eq!(run("cranelift").status == 0, cfg!(feature = "cranelift"));
    let wrong = run("fast");
    assert_eq!((wrong.status, wrong.out.as_str()), (2, ""));
    assert!(wrong.err.contains("tape, native, cranelift"), "{}", wrong.err);
}

/// x = cos(ωt) with ω² = k = 4: the zero is at π/(2ω), and moves by −π/(4ω³) with k.
#[test]
fn run_gives_sensitivities() {
    let arguments = ["run", "-", "--at", "1", "--json", "--sensitivity", "k, x'(0)"];
    let run = object(&pfaff_text(&arguments, OSCILLATOR).out);
    let by = |name: &str| run["sensitivities"][name].clone();
    let near = |value: &Value, expected: f64| {
        let found = value.as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-11, "{found} for {expected}, to ten tolerances");
    };
    let (sin, cos) = 2.0_f64.sin_cos();
    near(&by("k")["q"]["x"][0], -sin / 4.0);
    near(&by("k")["v"]["x"][0], -sin / 4.0 - cos / 2.0);
    near(&by("x'(0)")["q"]["x"][0], sin / 2.0);
    // The amplitude √(x² + x'²/k) is constant, and 1 whatever k is.
    near(&by("k")["observed"]["amplitude"][0], 0.0);
    near(&by("k")["events"][0]["t"], -std::f64::consts::PI / 32.0);
    assert_eq!(by("k")["stop"], Value::Null);
    let wrong = pfaff_text(&["run", "-", "--sensitivity", "x'"], OSCILLATOR);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("write `x'(0)`"), "{}", wrong.err);
}

/// cos 0.3
const COS_0_3: f64 = 0.955_336_489_125_606;

#[test]
fn fit_has_its_keys() {
    let folder = support::Folder::new("fit");
    // cos(3 t) at t = 0, 0.1, …, by its recurrence.
    let (mut rows, mut two) = ("t,x\n".to_owned(), [COS_0_3, 1.0]);
    for i in 0..30 {
        rows += &format!("{},{}\n", 0.1 * f64::from(i), two[1]);
        two = [two[1], 2.0 * COS_0_3 * two[1] - two[0]];
    }
    let data = &folder.write("measured.csv", rows);
    // A velocity that is not given begins at zero.
    let arguments = ["fit", "-", "--data", data, "--params", "k, x'(0)", "--json"];
    let fit = object(&pfaff_text(&arguments, OSCILLATOR).out);
    in_order(&keys(&fit), &["parameters", "residual", "unidentifiable"]);
    let k = &fit["parameters"]["k"];
    in_order(&keys(k), &["value", "sigma", "interval"]);
    // The data are exact.
    assert!((k["value"].as_f64().expect("a number") - 9.0).abs() < 1e-6, "{fit}");
    assert_eq!(fit["unidentifiable"], serde_json::json!([]));
    let text = pfaff_text(&["fit", "-", "--data", data, "--params", "k"], OSCILLATOR);
    assert!(text.status == 0 && text.out.contains("95 % from"), "{}", text.out);
    let two = ["fit", "-", "--data", data, "--data", data, "--params", "k", "--runs", "x(0)=1"];
    let one = pfaff_text(&two, OSCILLATOR);
    assert_eq!(one.status, 2, "{}", one.out);
    assert!(one.err.contains("values for 1 runs, but --data was given 2 times"), "{}", one.err);
    let wrong = pfaff_text(&["fit", "-", "--data", data, "--params", "q"], OSCILLATOR);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("`q` is no parameter"), "{}", wrong.err);
}
