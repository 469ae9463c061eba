//! Accuracy and speed of the special functions: `cargo bench -p pfaff-expr --bench special`.
//!
//! Errors are those over the reference of the tests, by regions, in units of $10^{-13}$ times the condition
//! number, so that 1 is the bar. Times are the least of many short repeats, so that a busy machine disturbs them
//! little.

#![expect(clippy::print_stdout, reason = "the figures are the purpose")]

use std::hint::black_box;
use std::time::Instant;

use pfaff_expr::special::{
    Complex, MittagLeffler, gamma_complex, mittag_leffler, mittag_leffler_complex,
    mittag_leffler_slope, mittag_leffler_slope_complex,
};

/// The bar of an error.
const UNIT: f64 = 1e-13;

/// $\alpha$, $\beta$, Re z, Im z, Re E, Im E, Re E′, Im E′, and the condition numbers of $E$ and $E'$.
type Line = [f64; 10];

fn main() {
    let lines = reference();
    accuracy(&lines);
    speed();
}

fn reference() -> Vec<Line> {
    include_str!("../tests/special/mittag_leffler.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut words = line.split(' ').map(|word| word.parse().expect("a number"));
            std::array::from_fn(|_| words.next().expect("ten columns"))
        })
        .collect()
}

/// A name and what belongs to it.
type Region = (&'static str, fn(&Line) -> bool);

fn accuracy(lines: &[Line]) {
    let regions: [Region; 12] = [
        ("all", |_| true),
        ("real", |l| l[3] == 0.0),
        ("complex", |l| l[3] != 0.0),
        ("alpha < 0.25", |l| l[0] < 0.25),
        ("0.25 <= alpha < 0.9", |l| (0.25..0.9).contains(&l[0])),
        ("0.9 <= alpha <= 1.1", |l| (0.9..=1.1).contains(&l[0])),
        ("1.1 < alpha < 1.9", |l| 1.1 < l[0] && l[0] < 1.9),
        ("1.9 <= alpha <= 2.1", |l| (1.9..=2.1).contains(&l[0])),
        ("alpha > 2.1", |l| l[0] > 2.1),
        ("beta >= 5", |l| l[1] >= 5.0),
        ("beta <= 0", |l| l[1] <= 0.0),
        ("|z| >= 100", |l| l[2].hypot(l[3]) >= 100.0),
    ];
    println!("largest errors in units of 1e-13 times the condition number");
    println!("{:24} {:>6} {:>8} {:>8}", "region", "points", "E", "E'");
    for (name, belongs) in regions {
        let (mut count, mut worst) = (0, [0.0_f64; 2]);
        for line in lines.iter().filter(|line| belongs(line)) {
            count += 1;
            let errors = errors(line);
            worst = [worst[0].max(errors[0]), worst[1].max(errors[1])];
        }
        println!("{name:24} {count:6} {:8.3} {:8.3}", worst[0], worst[1]);
    }
}

fn errors(&[α, β, x, y, a, b, c, d, condition, slope_condition]: &Line) -> [f64; 2] {
    let z = Complex::new(x, y);
    let (value, slope) = if y == 0.0 {
        (mittag_leffler(α, β, x).into(), mittag_leffler_slope(α, β, x).into())
    } else {
        (mittag_leffler_complex(α, β, z), mittag_leffler_slope_complex(α, β, z))
    };
    let relative = |value: Complex, exact: Complex, condition: f64| {
        (value - exact).abs() / exact.abs() / (UNIT * condition)
    };
    [
        relative(value, Complex::new(a, b), condition),
        relative(slope, Complex::new(c, d), slope_condition),
    ]
}

fn speed() {
    println!("\nevaluations a second");
    let mut random = Random(88_172_645_463_325_252);
    let mut arguments = |many: usize| -> Vec<(f64, f64, f64)> {
        (0..many)
            .map(|_| {
                let α = 0.05 + 1.95 * random.next();
                let β =
                    [1.0, 2.0, α, 0.2 + 3.0 * random.next()][(4.0 * random.next()) as usize];
                (α, β, -50.0 + 55.0 * random.next())
            })
            .collect()
    };
    let scattered = arguments(4000);
    let report = |name: &str, many: usize, run: &mut dyn FnMut()| {
        let best = (0..40)
            .map(|_| {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        println!("{name:52} {:10.0}", many as f64 / best);
    };
    report("real, all three arguments new at every call", 4000, &mut || {
        for &(α, β, x) in &scattered {
            black_box(mittag_leffler(α, β, x));
        }
    });
    report("real, parameters kept for 100 arguments", 4000, &mut || {
        for (i, &(_, _, x)) in scattered.iter().enumerate() {
            let (α, β, _) = scattered[i / 100];
            black_box(mittag_leffler(α, β, x));
        }
    });
    for (α, β) in [(0.3, 1.0), (0.7, 1.0), (0.7, 0.7), (1.5, 1.0), (1.9, 2.0)] {
        let function = MittagLeffler::new(α, β);
        report(&format!("real, alpha = {α}, beta = {β}"), 4000, &mut || {
            for &(_, _, x) in &scattered {
                black_box(function.value(x));
            }
        });
        report(&format!("slope, alpha = {α}, beta = {β}"), 4000, &mut || {
            for &(_, _, x) in &scattered {
                black_box(function.slope(x));
            }
        });
    }
    report("complex, all arguments new at every call", 4000, &mut || {
        for &(α, β, x) in &scattered {
            black_box(mittag_leffler_complex(α, β, Complex::new(0.6 * x, 0.8 * x)));
        }
    });
    report("complex gamma", 4000, &mut || {
        for &(α, _, x) in &scattered {
            black_box(gamma_complex(Complex::new(0.2 * x, 5.0 * α)));
        }
    });
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
