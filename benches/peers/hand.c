// Right-hand sides of P1 to P4 as a person would write them: reduced on paper, in plain C. They are what the benchmarks compare with.
//
// sleigh: y = (x, y, phi, v, w), p = (m a/(J + m a^2), a). disk: y = (x, y, theta, phi, u), p = (R, k, phi'). ball: y = (x, y, psi, theta, phi, w), p = (R, k1, k2, g, I/(m R^2)).
// chain_N: y = (x, y, theta_0 .. theta_N, x', y', theta_0'), p = (m, J, b, kappa).
//
// -DOWN inlines a branch-free sine and cosine instead of the platform's, -DLANES with it computes eight states at once. Its reduction of the angle errs by up to 2e5 units in the
// last place near multiples of pi/2 below 1e8; -DEXACT takes one that stays within a unit, as pfaff's does.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <stdlib.h>
#define INL static inline __attribute__((always_inline))
#ifdef LANES
typedef double T __attribute__((vector_size(64)));
typedef int64_t I __attribute__((vector_size(64)));
#define Z ((T){0})
INL T root(T x) { T r; for (int l = 0; l < 8; l++) r[l] = sqrt(x[l]); return r; }
INL T once(T a, T b, T c) { T r; for (int l = 0; l < 8; l++) r[l] = __builtin_fma(a[l], b[l], c[l]); return r; }
#else
typedef double T;
typedef int64_t I;
#define Z 0.0
INL T root(T x) { return sqrt(x); }
INL T once(T a, T b, T c) { return __builtin_fma(a, b, c); }
#endif
#ifdef OWN
INL I bits(T x) { union { T a; I b; } u; u.a = x; return u.b; }
INL T real(I x) { union { T a; I b; } u; u.b = x; return u.a; }
INL void sc(T x, T *S, T *C) {
  T kf = x*0.63661977236758134308 + 6755399441055744.0; I q = bits(kf); T k = kf - 6755399441055744.0;
  T r0 = x - k*1.57079632679489655800e+00;
#ifdef EXACT // p by a multiply-add, so that no compiler joins it to the difference; e is what rounding took from it
  const T c2 = Z + 6.12323399573676603587e-17, c3 = Z - 1.4973849048591698e-33;
  T p = once(k, c2, Z), r = r0 - p, e = once(k, c2, -p), lo = -once(k, c3, ((r - r0) + p) + e), z = r*r;
#else
  T p = k*6.12323399573676603587e-17, r = r0 - p, lo = (r0 - r) - p, z = r*r;
#endif
  T s = ((((1.58969099521155010221e-10*z - 2.50507602534068634195e-08)*z + 2.75573137070700676789e-06)*z
        - 1.98412698298579493134e-04)*z + 8.33333333332248946124e-03)*z - 1.66666666666666324348e-01;
  T c = ((((-1.13596475577881948265e-11*z + 2.08757232129817482790e-09)*z - 2.75573143513906633035e-07)*z
        + 2.48015872894767294178e-05)*z - 1.38888888888741095749e-03)*z + 4.16666666666666019037e-02;
  T sr = (r*z*s + lo) + r, hz = 0.5*z, w = 1.0 - hz, cr = w + ((z*z*c - r*lo) + ((1.0 - w) - hz));
  I m = -(q & 1), si = bits(sr), ci = bits(cr);
  *S = real(((ci & m) | (si & ~m)) ^ ((q & 2) << 62)); *C = real(((si & m) | (ci & ~m)) ^ (((q + 1) & 2) << 62));
}
#else
INL void sc(double a, double *s, double *c) { sincos(a, s, c); }
#endif
INL void f_sleigh(const T *y, const T *p, T *d) {
  T s, c; sc(y[2], &s, &c);
  d[0] = y[3]*c; d[1] = y[3]*s; d[2] = y[4]; d[3] = p[1]*y[4]*y[4]; d[4] = -p[0]*y[3]*y[4];
}
INL void f_disk(const T *y, const T *p, T *d) {
  T s, c; sc(y[3], &s, &c); T Ru = p[0]*y[4];
  d[0] = Ru*c; d[1] = Ru*s; d[2] = y[4]; d[3] = p[2]; d[4] = p[1]*c;
}
INL void f_ball(const T *y, const T *p, T *d) {
  T R = p[0], k1 = p[1], k2 = p[2], g = p[3], kk = p[4];
  T gx = k1*y[0], gy = k2*y[1], q = 1.0/root(1 + gx*gx + gy*gy);
  T n0 = -gx*q, n1 = -gy*q, n2 = q, w0 = y[5], w1 = y[6], w2 = y[7];
  T v0 = R*(w1*n2 - w2*n1), v1 = R*(w2*n0 - w0*n2);
  T m0 = -k1*v0*q, m1 = -k2*v1*q;                 // d/dt(-grad f)/norm
  T nm = n0*m0 + n1*m1;                            // project: ndot = m - n (n.m)
  T e0 = m0 - n0*nm, e1 = m1 - n1*nm, e2 = -n2*nm;
  T a0 = R*(w1*e2 - w2*e1), a1 = R*(w2*e0 - w0*e2), a2 = R*(w0*e1 - w1*e0) + g;
  T f = -1.0/(R*(1 + kk));
  d[5] = f*(n1*a2 - n2*a1); d[6] = f*(n2*a0 - n0*a2); d[7] = f*(n0*a1 - n1*a0);
  d[0] = v0; d[1] = v1;
  T sp, cp, st, ct; sc(y[2], &sp, &cp); sc(y[3], &st, &ct);
  T ph = (w0*sp - w1*cp)/st;
  d[3] = w0*cp + w1*sp; d[4] = ph; d[2] = w2 - ph*ct;
}
#define F_CHAIN(N)                                                                            \
INL void f_chain##N(const T *y, const T *p, T *d) {                            \
  const T m = p[0], J = p[1], b = p[2], kp = p[3];                                       \
  const T *th = y + 2, *u = y + 5 + N - 2 + 0;                                           \
  u = y + 3 + N;                                                                              \
  T S[N+1], C[N+1];                                                                      \
  for (int i = 0; i <= N; i++) sc(th[i], &S[i], &C[i]);                                       \
  /* joint velocity map V (2x3), bias acc (2) */                                              \
  T X0=Z+1,X1=Z,X2=b*S[0], Y0=Z,Y1=Z+1,Y2=-b*C[0], w = u[2];                                 \
  T bx = b*w*w*C[0], by = b*w*w*S[0];                                                    \
  T M00=m, M01=Z, M02=Z, M11=m, M12=Z, M22=J, r0=Z, r1=Z, r2;                            \
  d[0]=u[0]; d[1]=u[1]; d[2]=w;                                                               \
  r2 = kp*(th[1]-th[0]);                                                                      \
  T ib = 1.0/b;                                                                          \
  for (int i = 1; i <= N; i++) {                                                              \
    T s = S[i], c = C[i];                                                                \
    /* knife edge: n.(V u) - b w_i = 0 */                                                     \
    T q0 = (-s*X0 + c*Y0)*ib, q1 = (-s*X1 + c*Y1)*ib, q2 = (-s*X2 + c*Y2)*ib;            \
    T vx = X0*u[0]+X1*u[1]+X2*u[2], vy = Y0*u[0]+Y1*u[1]+Y2*u[2];                        \
    T wi = q0*u[0]+q1*u[1]+q2*u[2];                                                      \
    /* differentiate: n.(V u' + bias) + ndot.(V u) - b wi' = 0, ndot = -wi e */               \
    T sg = ((-s*bx + c*by) - wi*(c*vx + s*vy))*ib;                                       \
    /* centre: c_i = p_i - b e_i ; normal part vanishes, velocity is along e_i */             \
    T A0 = X0 + b*s*q0, A1 = X1 + b*s*q1, A2 = X2 + b*s*q2;                              \
    T B0 = Y0 - b*c*q0, B1 = Y1 - b*c*q1, B2 = Y2 - b*c*q2;                              \
    T w2 = b*wi*wi;                                                                      \
    T ax = bx + b*s*sg + w2*c, ay = by - b*c*sg + w2*s;                                  \
    M00 += m*(A0*A0+B0*B0)+J*q0*q0; M01 += m*(A0*A1+B0*B1)+J*q0*q1;                           \
    M02 += m*(A0*A2+B0*B2)+J*q0*q2; M11 += m*(A1*A1+B1*B1)+J*q1*q1;                           \
    M12 += m*(A1*A2+B1*B2)+J*q1*q2; M22 += m*(A2*A2+B2*B2)+J*q2*q2;                           \
    T tau = -kp*(th[i]-th[i-1]); if (i < N) tau += kp*(th[i+1]-th[i]);                   \
    T tq = tau - J*sg;                                                                   \
    r0 += q0*tq - m*(A0*ax+B0*ay); r1 += q1*tq - m*(A1*ax+B1*ay);                             \
    r2 += q2*tq - m*(A2*ax+B2*ay);                                                            \
    d[2+i] = wi;                                                                              \
    X0 = A0 + b*s*q0; X1 = A1 + b*s*q1; X2 = A2 + b*s*q2;                                     \
    Y0 = B0 - b*c*q0; Y1 = B1 - b*c*q1; Y2 = B2 - b*c*q2;                                     \
    bx = ax + b*s*sg + w2*c; by = ay - b*c*sg + w2*s;                                         \
  }                                                                                           \
  T i0 = 1/M00, l1 = M01*i0, l2 = M02*i0;                                                \
  T D1 = M11 - l1*M01, E = M12 - l1*M02, i1 = 1/D1, l3 = E*i1;                           \
  T D2 = M22 - l2*M02 - l3*E;                                                            \
  T z1 = r1 - l1*r0, z2 = r2 - l2*r0 - l3*z1;                                            \
  T a2 = z2/D2, a1 = z1*i1 - l3*a2, a0 = r0*i0 - l1*a1 - l2*a2;                          \
  d[3+N]=a0; d[4+N]=a1; d[5+N]=a2;                                                            \
}
void sleigh(const T *y, const T *p, T *d) { f_sleigh(y, p, d); }
void disk(const T *y, const T *p, T *d) { f_disk(y, p, d); }
void ball(const T *y, const T *p, T *d) { f_ball(y, p, d); }
F_CHAIN(2) void chain_2(const T *y, const T *p, T *d) { f_chain2(y, p, d); }
F_CHAIN(5) void chain_5(const T *y, const T *p, T *d) { f_chain5(y, p, d); }
F_CHAIN(10) void chain_10(const T *y, const T *p, T *d) { f_chain10(y, p, d); }
F_CHAIN(20) void chain_20(const T *y, const T *p, T *d) { f_chain20(y, p, d); }
F_CHAIN(40) void chain_40(const T *y, const T *p, T *d) { f_chain40(y, p, d); }
F_CHAIN(80) void chain_80(const T *y, const T *p, T *d) { f_chain80(y, p, d); }
