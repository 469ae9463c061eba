//! Random models and random options through every command of the real program: no panic, no signal, no hang beyond the
//! limits, and an answer that says why where there is none.
//!
//! A usual run takes a few. `cargo xtask fuzz commands 10000 7` takes other numbers of cases and seeds.

use std::time::{Duration, Instant};

use crate::support::{Answer, Folder, feed};

/// What each command may take. The guard of the program itself allows more for an answer that is being written.
const SECONDS: &str = "3";
/// Beyond this it hangs, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        // Marsaglia (2003), with the shifts 13, 7, 17.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn one<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn is_one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

const NAMES: [&str; 4] = ["x", "y", "z", "w"];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "1/3",
    "pi",
    "12.5",
    "10.5",
    "1e-9",
    "1e9",
    "1e-300",
    "1e300",
    "1e16",
    "7",
    "0.999999999",
    "100",
];
const ORDERS: &[&str] =
    &["0.5", "1", "1.5", "0.999", "2", "2.5", "0", "10.5", "12.5", "1e-9", "-1", "k"];
const KERNELS: &[&str] = &[
    "exp(-s)",
    "1",
    "abs(1-s)",
    "max(0, 0.94-s)",
    "1-erf(s)",
    "s^-0.5",
    "s^-1",
    "log(s)",
    "1/(1-s)",
    "t*s - s^2",
    "log(t/(t - s))^(-0.5)/(t - s)",
    "cos(40*s)",
    "if(s < t/2, 1, 0)",
    "sqrt(-s)",
    "k*s",
    "exp(1/s)",
    "sin(1/s)",
];
const FUNCTIONS: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt",
    "abs", "sign", "erf", "erfc", "gamma", "digamma",
];

struct Writer {
    random: Random,
    coordinates: usize,
}

impl Writer {
    fn atom(&mut self, velocities: bool) -> String {
        let name = NAMES[self.random.below(self.coordinates)];
        match self.random.below(8) {
            0 => "t".into(),
            1 => "k".into(),
            2 | 3 => self.random.one(NUMBERS).into(),
            4 | 5 if velocities => format!("{name}'"),
            _ => name.into(),
        }
    }

    fn formula(&mut self, depth: usize, velocities: bool) -> String {
        if depth == 0 || self.random.is_one_in(5) {
            return self.atom(velocities);
        }
        let a = self.formula(depth - 1, velocities);
        let b = self.formula(depth - 1, velocities);
        match self.random.below(14) {
            0..=2 => format!("({a} + {b})"),
            3 => format!("({a} - {b})"),
            4..=6 => format!("{a}*{b}"),
            7 => format!("({a})/({b})"),
            8 => {
                format!("({a})^{}", self.random.one(&["2", "3", "-1", "0.5", "k", "-2", "100"]))
            }
            9 | 10 => format!("{}({a})", self.random.one(FUNCTIONS)),
            11 => format!("{}({a}, {b})", self.random.one(&["max", "min", "atan2"])),
            12 => format!("if({a} < {b}, {a}, {b})"),
            _ => format!("-({a})"),
        }
    }

    fn memory(&mut self) -> String {
        let g = self.formula(1, false);
        let order = self.random.one(ORDERS);
        match self.random.below(5) {
            0 => format!("mean({g})"),
            1 => format!("memory({}, {g})", self.random.one(KERNELS)),
            2 => format!("integral({g}, {order})"),
            3 => format!("rl({g}, {order})"),
            _ => format!("caputo({g}, {order})"),
        }
    }

    fn constraint(&mut self) -> String {
        let name = NAMES[self.random.below(self.coordinates)];
        let other = NAMES[self.random.below(self.coordinates)];
        let f = self.formula(2, false);
        match self.random.below(8) {
            0 => format!("{f} = {}", self.random.one(NUMBERS)),
            1 | 2 => format!("{name}' = ({f})*{other}'"),
            3 => format!("{name}' = ({f})*{other}' + {}", self.formula(1, false)),
            4 => format!("{name} = max(1, {other}')"),
            5 => format!("0 = max({name}', {other}')"),
            6 => format!("{} = 0", self.formula(3, true)),
            _ => format!("{name}' = {}", self.memory()),
        }
    }

    fn model(&mut self) -> String {
        self.coordinates = 1 + self.random.below(4);
        let names = &NAMES[..self.coordinates];
        let mut text = format!(
            "coordinates {}\nparameters k = {}\n",
            names.join(", "),
            self.random.one(&["1", "2", "0.3"])
        );
        let with_equations = self.random.is_one_in(6);
        if with_equations {
            for name in names {
                let f = if self.random.is_one_in(2) {
                    self.memory()
                } else {
                    self.formula(3, true)
                };
                let acceleration = self.random.one(&["''", "''", "'"]);
                text += &format!("equation {name}{acceleration} = {f}\n");
            }
        } else {
            let squares: Vec<String> = names.iter().map(|n| format!("{n}'^2/2")).collect();
            let kinetic = match self.random.below(4) {
                0 => self.formula(3, true),
                1 => format!("{} + {}", squares.join(" + "), self.formula(2, true)),
                _ => squares.join(" + "),
            };
            text += &format!("lagrangian {kinetic} - ({})\n", self.formula(3, false));
            for i in 0..self.random.below(3) {
                text += &format!("constraint c{i}: {}\n", self.constraint());
            }
            if self.random.is_one_in(4) {
                let f = if self.random.is_one_in(3) {
                    self.memory()
                } else {
                    self.formula(2, true)
                };
                text += &format!("force {}: {f}\n", names[0]);
            }
            if self.random.is_one_in(3) {
                text += &format!(
                    "principle {}\n",
                    self.random.one(&["chetaev", "vakonomic", "restricted"])
                );
                text += self.random.one(&["", "initial multipliers = zero\n"]);
            }
        }
        for name in names {
            match self.random.below(3) {
                0 => {
                    text += &format!(
                        "initial {name} = {}, {name}' = {}\n",
                        self.random.one(NUMBERS),
                        self.random.one(NUMBERS)
                    );
                }
                1 => text += &format!("initial {name}' = 1\n"),
                _ => {}
            }
        }
        if !with_equations && self.random.is_one_in(10) {
            text += &format!("final {} = {}\n", names[0], self.random.one(NUMBERS));
        }
        if self.random.is_one_in(3) {
            text += &format!("observe o = {}\n", self.formula(3, true));
        }
        if self.random.is_one_in(4) {
            text += &format!(
                "event {}e: {}\n",
                self.random.one(&["", "stop "]),
                self.formula(2, true)
            );
        }
        text + self.random.one(&[
            "solve t = 0..1\n",
            "solve t = 0..1\n",
            "solve t = 0..1e6\n",
            "solve t = 0..0.001\n",
            "solve t = 1e9..1e9+1\n",
            "",
        ])
    }

    fn arguments(&mut self, folder: &Folder) -> Vec<String> {
        let name = NAMES[self.random.below(self.coordinates)];
        let (f, g) = (self.formula(2, false), self.formula(1, false));
        let list: Vec<String> = match self.random.below(13) {
            0 => vec!["check".into()],
            1 => vec![
                "derive".into(),
                "--format".into(),
                self.random.one(&["text", "latex", "json", "c", "rust", "python"]).into(),
            ],
            2 => vec![
                "derive".into(),
                "--form".into(),
                self.random.one(&["reduced", "hamilton", "multipliers"]).into(),
            ],
            3 | 4 => vec![
                "run".into(),
                "--method".into(),
                self.random.one(&["auto", "dop853", "taylor", "rk4"]).into(),
                "--step".into(),
                "0.01".into(),
            ],
            5 => vec![
                "run".into(),
                "--json".into(),
                "--samples".into(),
                self.random.one(&["2", "7", "1000"]).into(),
            ],
            6 => vec![
                "run".into(),
                "--tolerance".into(),
                self.random.one(&["1e-3", "1e-13", "1"]).into(),
            ],
            7 => vec!["compare".into()],
            8 => vec!["geometry".into()],
            9 => vec![
                "variations".into(),
                "--vary".into(),
                format!("{name} = {}", f.replace(['x', 'y', 'z', 'w'], "t")),
                "--t1".into(),
                "1".into(),
            ],
            10 => vec![
                "lift".into(),
                "--path".into(),
                format!("{name} = {}", g.replace(['x', 'y', 'z', 'w'], "t")),
                "--t1".into(),
                self.random.one(&["1", "1e9"]).into(),
            ],
            11 => vec!["report".into(), "-o".into(), folder.path("page.html")],
            _ => {
                let mut list = vec![
                    "plot".into(),
                    "-o".into(),
                    folder.path(self.random.one(&["a.svg", "a.pdf", "a.png"])),
                ];
                list.extend(self.random.is_one_in(2).then(|| "--log".into()));
                list
            }
        };
        let mut arguments = vec![list[0].clone(), "-".into()];
        arguments.extend(list.into_iter().skip(1));
        arguments.extend(["--seconds", SECONDS].map(String::from));
        arguments
    }
}

/// What is wrong with an answer.
fn fault(answer: &Answer, took: Duration) -> Option<&'static str> {
    if answer.err.contains("panicked") {
        return Some("panic");
    }
    if !(0..=4).contains(&answer.status) {
        return Some("status");
    }
    if (answer.status == 1 || answer.status == 2) && !answer.err.contains("error") {
        return Some("no reason");
    }
    (took > PATIENCE).then_some("hang")
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[allow(clippy::print_stdout, reason = "`cargo xtask fuzz commands` shows it")]
fn random_models_through_every_command() {
    let folder = Folder::new("fuzz");
    let (cases, seed) = (number("PFAFF_CASES", 40), number("PFAFF_SEED", 1));
    let mut counts = [0_usize; 5];
    let (mut faults, mut slow) = (0, 0);
    for case in 0..cases {
        let start = (seed << 32 | case).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut writer = Writer { random: Random(start), coordinates: 1 };
        (0..8).for_each(|_| _ = writer.random.below(2));
        let model = writer.model();
        let arguments = writer.arguments(&folder);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let begun = Instant::now();
        let answer = feed(&words, model.as_bytes());
        let took = begun.elapsed();
        if let Ok(status) = usize::try_from(answer.status)
            && status < counts.len()
        {
            counts[status] += 1;
        }
        if answer.err.contains("no answer yet") {
            slow += 1;
            println!("slow: case {case}: pfaff {}\n{model}", words.join(" "));
        }
        if let Some(what) = fault(&answer, took) {
            faults += 1;
            let end: String = answer.err.lines().take(8).collect::<Vec<_>>().join("\n");
            println!("{what}: case {case}: pfaff {}\n{model}{end}\n", words.join(" "));
        }
    }
    println!(
        "{cases} cases of seed {seed}: statuses 0 to 4 {counts:?}, {slow} without an answer in {SECONDS} s"
    );
    assert_eq!(faults, 0);
}
