//! Choices → models and command lines that a person could have written, and many that nobody would.

use crate::choices::Choices;

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

/// Writes models.
#[derive(Debug)]
pub struct Writer<'a> {
    choices: Choices<'a>,
    coordinates: usize,
}

impl<'a> Writer<'a> {
    /// Writes what these choices say.
    pub fn new(choices: Choices<'a>) -> Self {
        Self { choices, coordinates: 1 }
    }

    fn atom(&mut self, velocities: bool) -> String {
        let name = NAMES[self.choices.below(self.coordinates)];
        match self.choices.below(8) {
            0 => "t".into(),
            1 => "k".into(),
            2 | 3 => self.choices.one(NUMBERS).into(),
            4 | 5 if velocities => format!("{name}'"),
            _ => name.into(),
        }
    }

    /// A formula of coordinates, time, the parameter `k` and numbers.
    pub fn formula(&mut self, depth: usize, velocities: bool) -> String {
        if depth == 0 || self.choices.is_one_in(5) {
            return self.atom(velocities);
        }
        let a = self.formula(depth - 1, velocities);
        let b = self.formula(depth - 1, velocities);
        match self.choices.below(14) {
            0..=2 => format!("({a} + {b})"),
            3 => format!("({a} - {b})"),
            4..=6 => format!("{a}*{b}"),
            7 => format!("({a})/({b})"),
            8 => {
                format!(
                    "({a})^{}",
                    self.choices.one(&["2", "3", "-1", "0.5", "k", "-2", "100"])
                )
            }
            9 | 10 => format!("{}({a})", self.choices.one(FUNCTIONS)),
            11 => format!("{}({a}, {b})", self.choices.one(&["max", "min", "atan2"])),
            12 => format!("if({a} < {b}, {a}, {b})"),
            _ => format!("-({a})"),
        }
    }

    fn memory(&mut self) -> String {
        let g = self.formula(1, false);
        let order = self.choices.one(ORDERS);
        match self.choices.below(5) {
            0 => format!("mean({g})"),
            1 => format!("memory({}, {g})", self.choices.one(KERNELS)),
            2 => format!("integral({g}, {order})"),
            3 => format!("rl({g}, {order})"),
            _ => format!("caputo({g}, {order})"),
        }
    }

    fn constraint(&mut self) -> String {
        let name = NAMES[self.choices.below(self.coordinates)];
        let other = NAMES[self.choices.below(self.coordinates)];
        let f = self.formula(2, false);
        match self.choices.below(8) {
            0 => format!("{f} = {}", self.choices.one(NUMBERS)),
            1 | 2 => format!("{name}' = ({f})*{other}'"),
            3 => format!("{name}' = ({f})*{other}' + {}", self.formula(1, false)),
            4 => format!("{name} = max(1, {other}')"),
            5 => format!("0 = max({name}', {other}')"),
            6 => format!("{} = 0", self.formula(3, true)),
            _ => format!("{name}' = {}", self.memory()),
        }
    }

    /// A model of one to four coordinates, with what the language has.
    pub fn model(&mut self) -> String {
        self.coordinates = 1 + self.choices.below(4);
        let names = &NAMES[..self.coordinates];
        let mut text = format!(
            "coordinates {}\nparameters k = {}\n",
            names.join(", "),
            self.choices.one(&["1", "2", "0.3"])
        );
        let with_equations = self.choices.is_one_in(6);
        if with_equations {
            for name in names {
                let f = if self.choices.is_one_in(2) {
                    self.memory()
                } else {
                    self.formula(3, true)
                };
                let acceleration = self.choices.one(&["''", "''", "'"]);
                text += &format!("equation {name}{acceleration} = {f}\n");
            }
        } else {
            let squares: Vec<String> = names.iter().map(|n| format!("{n}'^2/2")).collect();
            let kinetic = match self.choices.below(4) {
                0 => self.formula(3, true),
                1 => format!("{} + {}", squares.join(" + "), self.formula(2, true)),
                _ => squares.join(" + "),
            };
            text += &format!("lagrangian {kinetic} - ({})\n", self.formula(3, false));
            for i in 0..self.choices.below(3) {
                text += &format!("constraint c{i}: {}\n", self.constraint());
            }
            if self.choices.is_one_in(4) {
                let f = if self.choices.is_one_in(3) {
                    self.memory()
                } else {
                    self.formula(2, true)
                };
                text += &format!("force {}: {f}\n", names[0]);
            }
            if self.choices.is_one_in(3) {
                text += &format!(
                    "principle {}\n",
                    self.choices.one(&["chetaev", "vakonomic", "restricted"])
                );
                text += self.choices.one(&["", "initial multipliers = zero\n"]);
            }
        }
        for name in names {
            match self.choices.below(3) {
                0 => {
                    text += &format!(
                        "initial {name} = {}, {name}' = {}\n",
                        self.choices.one(NUMBERS),
                        self.choices.one(NUMBERS)
                    );
                }
                1 => text += &format!("initial {name}' = 1\n"),
                _ => {}
            }
        }
        if !with_equations && self.choices.is_one_in(10) {
            text += &format!("final {} = {}\n", names[0], self.choices.one(NUMBERS));
        }
        if self.choices.is_one_in(3) {
            text += &format!("observe o = {}\n", self.formula(3, true));
        }
        if self.choices.is_one_in(4) {
            text += &format!(
                "event {}e: {}\n",
                self.choices.one(&["", "stop "]),
                self.formula(2, true)
            );
        }
        if !with_equations && self.choices.is_one_in(5) {
            text += &self.hybrid(names);
        }
        text + self.choices.one(&[
            "solve t = 0..1\n",
            "solve t = 0..1\n",
            "solve t = 0..1e6\n",
            "solve t = 0..0.001\n",
            "solve t = 1e9..1e9+1\n",
            "",
        ])
    }

    /// Contacts, modes, states, inputs, resets.
    fn hybrid(&mut self, names: &[&str]) -> String {
        let name = self.choices.one(names);
        let f = self.formula(2, true);
        match self.choices.below(6) {
            0 => {
                let law = self.choices.one(&["newton", "poisson", "moreau"]);
                let e = self.choices.one(NUMBERS);
                format!(
                    "contact d: {name} >= 0, restitution = {e}, friction = 0.3, law = {law}\n"
                )
            }
            1 => format!(
                "mode a, b\nconstraint h: {name}' = {f} in b\nevent s: {name} - 0.5\non s: mode = b\n"
            ),
            2 => format!("state u: {f}\ninitial u = 1\n"),
            3 => format!("input u = 0\nforce {name}: u\ncontrol u = {f} every 0.1\n"),
            4 => format!("event g: {name}\non g: {name}' = -0.5*{name}'\n"),
            _ => format!("event g: {f}\non g: k = {f}, {name} = {f}\n"),
        }
    }

    /// A model with a positive definite kinetic energy and anything else that the language knows.
    pub fn valid_model(&mut self) -> String {
        let n = 1 + self.choices.below(5);
        let q: Vec<String> = (1..=n).map(|k| format!("q[{k}]")).collect();
        let v: Vec<String> = q.iter().map(|q| format!("{q}'")).collect();
        let all: Vec<String> = q.iter().chain(&v).cloned().collect();
        let mut text = format!("parameters a = 0.3, m = 2\ncoordinates q[{n}]\n");
        text += &format!("let e = {}\n", self.bounded(&q, 2));
        text += "kinetic m*dot(q', q')/2 + (1 + sin(e)^2)*q[1]'^2/2\n";
        text += &format!("potential a*({}) + e^2\n", self.bounded(&q, 3));
        for k in 0..self.choices.below(n.min(3)) {
            let (drift, slope) = (self.bounded(&q, 2), self.bounded(&q, 2));
            let row = match self.choices.below(4) {
                0 => format!("{} = {}", v[k], drift),
                1 => format!("{} = ({slope})*{}", v[k], v[n - 1]),
                2 => format!("{} - 0.2*sin({}) = 0.1*t", q[k], q[n - 1]),
                _ => format!("{} + 0.1*{}^2 = {drift}", v[k], v[n - 1]),
            };
            text += &format!("constraint c{k}: {row}\n");
        }
        if self.choices.is_one_in(2) {
            let force = self.bounded(&all, 2);
            text += &format!("force q[{}]: 0.1*({force})\n", 1 + self.choices.below(n));
        }
        if self.choices.is_one_in(3) {
            text += "dissipation 0.1*dot(q', q')/2\n";
        }
        if self.choices.is_one_in(3) {
            let kind = self.choices.one(&["up", "rising up", "stop falling up"]);
            text += &format!("event {kind}: {}\n", q[0]);
        }
        text += &format!("observe z = {}\n", self.bounded(&all, 2));
        let start: Vec<String> = (1..=n)
            .map(|k| format!("q[{k}]' = {:?}", (self.choices.below(200) as f64 - 100.0) / 64.0))
            .collect();
        text + &format!("initial {}\nsolve t = 0..1\n", start.join(", "))
    }

    /// A formula of these names; division and roots only of what is positive.
    fn bounded(&mut self, names: &[String], depth: usize) -> String {
        if depth == 0 || self.choices.is_one_in(5) {
            return match self.choices.below(4) {
                0 => format!("{:?}", self.choices.below(100) as f64 / 32.0),
                1 => "t".into(),
                _ => names[self.choices.below(names.len())].clone(),
            };
        }
        let (a, b) = (self.bounded(names, depth - 1), self.bounded(names, depth - 1));
        match self.choices.below(10) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 | 4 => format!("({a})*({b})"),
            5 => format!("({a})/(1 + ({b})^2)"),
            6 => format!("sin({a})"),
            7 => format!("cos({a})*exp(-({b})^2)"),
            8 => format!("sqrt(1 + ({a})^2)"),
            _ => format!("if({a} > {b}, atan({a}), tanh({b}))"),
        }
    }

    /// A command with options for the model; what is written goes into the folder.
    pub fn arguments(&mut self, model: &str, folder: &str) -> Vec<String> {
        let name = NAMES[self.choices.below(self.coordinates)];
        let in_time = |f: String| f.replace(['x', 'y', 'z', 'w'], "t");
        let (f, g) = (in_time(self.formula(2, false)), in_time(self.formula(1, false)));
        let c = &mut self.choices;
        let file = |name: &str| format!("{folder}/{name}");
        let path = || format!("{name} = {g}");
        let list: Vec<String> = match c.below(26) {
            0 => vec!["check".into()],
            1 => words(&[
                "derive",
                "--format",
                c.one(&["text", "latex", "json", "c", "rust", "python", "typst", "mathml"]),
            ]),
            2 => words(&[
                "derive",
                "--form",
                c.one(&[
                    "reduced",
                    "hamilton",
                    "multipliers",
                    "routh",
                    "kane",
                    "appell",
                    "maggi",
                ]),
            ]),
            3 => words(&["derive", "--state", &format!("{name}=1, {name}'=2, t=0"), "--json"]),
            4 | 5 => words(&[
                "run",
                "--method",
                c.one(&["auto", "dop853", "taylor", "rk4", "radau", "rosenbrock", "dalembert"]),
                "--step",
                "0.01",
            ]),
            6 => words(&["run", "--json", "--samples", c.one(&["2", "7", "1000"])]),
            7 => words(&["run", "--tolerance", c.one(&["1e-3", "1e-13", "1"])]),
            8 => words(&["run", "--output", &file(c.one(&["a.csv", "a.json", "a.parquet"]))]),
            9 => words(&["run", "--sensitivity", c.one(&["k", "x(0)", "x'(0), k"])]),
            10 => vec!["compare".into()],
            11 => words(&["geometry", "--format", c.one(&["text", "latex", "json"])]),
            12 => words(&["geometry", "--state", &format!("{name}=1, {name}'=2")]),
            13 => words(&["variations", "--vary", &format!("{name} = {f}"), "--t1", "1"]),
            14 => words(&["lift", "--path", &path(), "--t1", c.one(&["1", "1e9"])]),
            15 => words(&["report", "-o", &file("page.html")]),
            16 => words(&["equilibria", "--search", &format!("{name}=-2..2")]),
            17 => words(&["linearize", "--at", &format!("{name}=0, {name}'=1")]),
            18 => words(&["lyapunov", "--t1", c.one(&["1", "20"])]),
            19 => words(&["section", "--on", "e", "--count", c.one(&["1", "10"])]),
            20 => words(&["orbit", "--period", c.one(&["1", "6.28"])]),
            21 => words(&["continue", "--vary", "k=0.1..2"]),
            22 => words(&["sweep", "--vary", "k=0.5..1.5:4", "--output", &file("s.csv")]),
            23 => words(&["run", "--gradient", "o", "--t1", "0.5"]),
            24 => words(&["run", "--transition", "--set", &format!("k={}", c.one(NUMBERS))]),
            _ => {
                let name = file(c.one(&["a.svg", "a.pdf", "a.png"]));
                let mut list = words(&["plot", "-o", &name]);
                list.extend(c.is_one_in(2).then(|| "--log".into()));
                list
            }
        };
        let mut arguments = vec![list[0].clone(), model.into()];
        arguments.extend(list.into_iter().skip(1));
        arguments.extend(["--seconds", SECONDS].map(String::from));
        arguments
    }
}

/// What each command may take.
pub const SECONDS: &str = "3";

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}
