//! Vectors of space, for pictures.

pub(super) type Vector = [f64; 3];

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a + s b
pub(super) fn add(a: Vector, b: Vector, s: f64) -> Vector {
    std::array::from_fn(|k| a[k] + s * b[k])
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Of length one; the zero vector stays.
pub(super) fn unit(a: Vector) -> Vector {
    let length = libm::sqrt(dot(a, a));
    if length > 0.0 { a.map(|x| x / length) } else { a }
}

pub(super) fn finite(a: &Vector) -> bool {
    a.iter().all(|x| x.is_finite())
}
