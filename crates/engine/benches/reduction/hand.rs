//! The right-hand sides that a person would write: minimal equations derived on paper, in plain Rust.
//!
//! Sines and cosines are passed in, so that the same mathematics can be timed with those of the platform and
//! with those of `pfaff-program`.

/// Sine and cosine.
pub(crate) type SinCos = fn(f64) -> (f64, f64);

/// $ab + c$, rounded once: what an optimising C compiler makes of it.
fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// Sine and cosine as `pfaff-program` computes them below 10⁸, written out so that they are inlined.
#[inline(always)]
#[allow(clippy::inline_always, reason = "as a person would do it")]
pub(crate) fn own(x: f64) -> (f64, f64) {
    let shifted = fma(x, std::f64::consts::FRAC_2_PI, 6_755_399_441_055_744.0);
    let k = shifted - 6_755_399_441_055_744.0;
    let exact = fma(-k, std::f64::consts::FRAC_PI_2, x);
    let p = k * 6.123_233_995_736_766e-17;
    let e = fma(k, 6.123_233_995_736_766e-17, -p);
    let r = exact - p;
    let rest = fma(k, -1.497_384_904_859_169_8e-33, ((r - exact) + p) + e);
    let z = r * r;
    let w = z * z;
    let cube = z * w;
    let high = fma(1.589_690_995_211_55e-10, z, -2.505_076_025_340_686_3e-8);
    let low = fma(2.755_731_370_707_006_8e-6, z, -1.984_126_982_985_795e-4);
    let low = fma(low, z, 8.333_333_333_322_49e-3);
    let series = fma(fma(high, cube, low), z, -1.666_666_666_666_663_2e-1);
    let sin = r - fma(-series, z * r, rest);
    let high = fma(-1.135_964_755_778_819_5e-11, z, 2.087_572_321_298_175e-9);
    let high = fma(high, z, -2.755_731_435_139_066_3e-7);
    let low = fma(2.480_158_728_947_673e-5, z, -1.388_888_888_887_411e-3);
    let low = fma(low, z, 4.166_666_666_666_66e-2);
    let small = fma(fma(high, cube, low), w, r * rest);
    let half = z * 0.5;
    let one = 1.0 - half;
    let cos = one + (((1.0 - one) - half) + small);
    let quadrant = shifted.to_bits();
    let (sin, cos) = (sin.to_bits(), cos.to_bits());
    let exchange = (sin ^ cos) & (quadrant & 1).wrapping_neg();
    let (sin_sign, cos_sign) = ((quadrant & 2) << 62, (quadrant.wrapping_add(1) & 2) << 62);
    (f64::from_bits(sin ^ exchange ^ sin_sign), f64::from_bits(cos ^ exchange ^ cos_sign))
}

/// Sleigh: $y = (x, y, \varphi, v, \omega)$; parameters $m a/(J + m a^2)$ and $a$.
pub(crate) fn sleigh<S: Fn(f64) -> (f64, f64)>(sc: S, p: &[f64], y: &[f64], d: &mut [f64]) {
    let (s, c) = sc(y[2]);
    d[0] = y[3] * c;
    d[1] = y[3] * s;
    d[2] = y[4];
    d[3] = p[1] * y[4] * y[4];
    d[4] = -p[0] * y[3] * y[4];
}

/// Vertical disk on an incline: $y = (x, y, \theta, \varphi, u, w)$; parameters $R$ and $k$.
pub(crate) fn disk(sc: SinCos, p: &[f64], y: &[f64], d: &mut [f64]) {
    let (s, c) = sc(y[3]);
    let speed = p[0] * y[4];
    d[0] = speed * c;
    d[1] = speed * s;
    d[2] = y[4];
    d[3] = y[5];
    d[4] = p[1] * c;
    d[5] = 0.0;
}

/// Ball in an elliptic bowl: $y = (x, y, z, \psi, \theta, \varphi, \omega)$, $\omega$ in the space frame;
/// parameters $R, k_1, k_2, g, I/(mR^2)$.
pub(crate) fn ball(sc: SinCos, p: &[f64], y: &[f64], d: &mut [f64]) {
    let [r, k1, k2, g, kk] = [p[0], p[1], p[2], p[3], p[4]];
    let (gx, gy) = (k1 * y[0], k2 * y[1]);
    let q = 1.0 / fma(gx, gx, fma(gy, gy, 1.0)).sqrt();
    let (n0, n1, n2) = (-gx * q, -gy * q, q);
    let (w0, w1, w2) = (y[6], y[7], y[8]);
    let (v0, v1) = (r * fma(w1, n2, -w2 * n1), r * fma(w2, n0, -w0 * n2));
    let (m0, m1) = (-k1 * v0 * q, -k2 * v1 * q);
    let nm = fma(n0, m0, n1 * m1);
    let (e0, e1, e2) = (fma(-n0, nm, m0), fma(-n1, nm, m1), -n2 * nm);
    let a0 = r * fma(w1, e2, -w2 * e1);
    let a1 = r * fma(w2, e0, -w0 * e2);
    let a2 = fma(r, fma(w0, e1, -w1 * e0), g);
    let f = -1.0 / (r * (1.0 + kk));
    d[6] = f * fma(n1, a2, -n2 * a1);
    d[7] = f * fma(n2, a0, -n0 * a2);
    d[8] = f * fma(n0, a1, -n1 * a0);
    d[0] = v0;
    d[1] = v1;
    d[2] = r * fma(w0, n1, -w1 * n0);
    let ((sp, cp), (st, ct)) = (sc(y[3]), sc(y[4]));
    let ph = fma(w0, sp, -w1 * cp) / st;
    d[4] = fma(w0, cp, w1 * sp);
    d[5] = ph;
    d[3] = fma(-ph, ct, w2);
}

/// Chain of $N$ knife edges behind a free head: $y = (x, y, \theta_0 \dots \theta_N, \dot x, \dot y,
/// \dot\theta_0)$; parameters $m, J, b, \kappa$.
///
/// Jourdain's principle body by body, then a solve for three unknowns: $O(N)$.
pub(crate) fn chain<const ANGLES: usize, S: Fn(f64) -> (f64, f64)>(
    sc: S,
    p: &[f64],
    y: &[f64],
    d: &mut [f64],
) {
    let n = ANGLES - 1;
    let [m, j, b, kp] = [p[0], p[1], p[2], p[3]];
    let (th, u) = (&y[2..3 + n], &y[3 + n..6 + n]);
    let (mut s, mut c) = ([0.0; ANGLES], [0.0; ANGLES]);
    for i in 0..ANGLES {
        (s[i], c[i]) = sc(th[i]);
    }
    let mut x = [1.0, 0.0, b * s[0]];
    let mut z = [0.0, 1.0, -b * c[0]];
    let w = u[2];
    let (mut bx, mut by) = (b * w * w * c[0], b * w * w * s[0]);
    let mut mass = [m, 0.0, m, 0.0, 0.0, j];
    let mut r = [0.0, 0.0, kp * (th[1] - th[0])];
    d[..3].copy_from_slice(u);
    let inverse = 1.0 / b;
    for i in 1..=n {
        let (s, c) = (s[i], c[i]);
        let q: [f64; 3] = std::array::from_fn(|k| fma(-s, x[k], c * z[k]) * inverse);
        let vx = fma(x[0], u[0], fma(x[1], u[1], x[2] * u[2]));
        let vy = fma(z[0], u[0], fma(z[1], u[1], z[2] * u[2]));
        let wi = fma(q[0], u[0], fma(q[1], u[1], q[2] * u[2]));
        let sg = fma(-wi, fma(c, vx, s * vy), fma(-s, bx, c * by)) * inverse;
        let (bs, bc) = (b * s, b * c);
        let a: [f64; 3] = std::array::from_fn(|k| fma(bs, q[k], x[k]));
        let e: [f64; 3] = std::array::from_fn(|k| fma(-bc, q[k], z[k]));
        let w2 = b * wi * wi;
        let ax = fma(w2, c, fma(bs, sg, bx));
        let ay = fma(w2, s, fma(-bc, sg, by));
        let mut at = 0;
        for k in 0..3 {
            let (ma, me, jq) = (m * a[k], m * e[k], j * q[k]);
            for l in 0..=k {
                mass[at] = fma(ma, a[l], fma(me, e[l], fma(jq, q[l], mass[at])));
                at += 1;
            }
        }
        let mut torque = -kp * (th[i] - th[i - 1]);
        if i < n {
            torque = fma(kp, th[i + 1] - th[i], torque);
        }
        let tq = fma(-j, sg, torque);
        let (max, may) = (m * ax, m * ay);
        for k in 0..3 {
            r[k] = fma(q[k], tq, fma(-a[k], max, fma(-e[k], may, r[k])));
        }
        d[2 + i] = wi;
        x = std::array::from_fn(|k| fma(bs, q[k], a[k]));
        z = std::array::from_fn(|k| fma(-bc, q[k], e[k]));
        bx = fma(w2, c, fma(bs, sg, ax));
        by = fma(w2, s, fma(-bc, sg, ay));
    }
    let [m00, m01, m11, m02, m12, m22] = mass;
    let i0 = 1.0 / m00;
    let (l1, l2) = (m01 * i0, m02 * i0);
    let (d1, e) = (fma(-l1, m01, m11), fma(-l1, m02, m12));
    let i1 = 1.0 / d1;
    let l3 = e * i1;
    let d2 = fma(-l3, e, fma(-l2, m02, m22));
    let z1 = fma(-l1, r[0], r[1]);
    let z2 = fma(-l3, z1, fma(-l2, r[0], r[2]));
    let a2 = z2 / d2;
    let a1 = fma(-l3, a2, z1 * i1);
    d[3 + n] = fma(-l2, a2, fma(-l1, a1, r[0] * i0));
    d[4 + n] = a1;
    d[5 + n] = a2;
}
