// DOP853 by hand around the right-hand sides of hand.c: the coefficients, error norm and step control of Hairer, Norsett and Wanner (1993) and of SciPy.
//
// int NAME(double *y, const double *p, double t1, double rtol, double atol, long *nfev, long *nrej) integrates from 0 to t1 and returns the steps.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <stdlib.h>
static const double DA[12][12]={{0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.05260015195876773,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.0197250569845379,0.0591751709536137,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.02958758547680685,0.0,0.08876275643042054,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.2413651341592667,0.0,-0.8845494793282861,0.924834003261792,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.037037037037037035,0.0,0.0,0.17082860872947386,0.12546768756682242,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.037109375,0.0,0.0,0.17025221101954405,0.06021653898045596,-0.017578125,0.0,0.0,0.0,0.0,0.0,0.0},{0.03709200011850479,0.0,0.0,0.17038392571223998,0.10726203044637328,-0.015319437748624402,0.008273789163814023,0.0,0.0,0.0,0.0,0.0},{0.6241109587160757,0.0,0.0,-3.3608926294469414,-0.868219346841726,27.59209969944671,20.154067550477894,-43.48988418106996,0.0,0.0,0.0,0.0},{0.47766253643826434,0.0,0.0,-2.4881146199716677,-0.590290826836843,21.230051448181193,15.279233632882423,-33.28821096898486,-0.020331201708508627,0.0,0.0,0.0},{-0.9371424300859873,0.0,0.0,5.186372428844064,1.0914373489967295,-8.149787010746927,-18.52006565999696,22.739487099350505,2.4936055526796523,-3.0467644718982196,0.0,0.0},{2.273310147516538,0.0,0.0,-10.53449546673725,-2.0008720582248625,-17.9589318631188,27.94888452941996,-2.8589982771350235,-8.87285693353063,12.360567175794303,0.6433927460157636,0.0}};
static const double DB[12]={0.054293734116568765,0.0,0.0,0.0,0.0,4.450312892752409,1.8915178993145003,-5.801203960010585,0.3111643669578199,-0.1521609496625161,0.20136540080403034,0.04471061572777259};
static const double DE3[12]={-0.18980075407240762,0.0,0.0,0.0,0.0,4.450312892752409,1.8915178993145003,-5.801203960010585,-0.4226823213237919,-0.1521609496625161,0.20136540080403034,0.02265179219836082};
static const double DE5[12]={0.01312004499419488,0.0,0.0,0.0,0.0,-1.2251564463762044,-0.4957589496572502,1.6643771824549864,-0.35032884874997366,0.3341791187130175,0.08192320648511571,-0.022355307863886294};
#define INL static inline __attribute__((always_inline))

INL void sc(double a, double *s, double *c) { sincos(a, s, c); }

// ---------------------------------------------------------------- scalar DOP853
#define DEFINE_DOP853(NAME, DIM, RHS)                                                        \
int NAME(double *y, const double *p, double t1, double rtol, double atol, long *nfev, long *nrej) { \
  double K[13][DIM], yt[DIM], t = 0; long nf = 0, rej = 0, ns = 0;                            \
  RHS(y, p, K[0]); nf++;                                                                      \
  double h; { /* Hairer initial step */                                                       \
    double d0 = 0, d1 = 0, d2 = 0;                                                            \
    for (int i = 0; i < DIM; i++) { double s = atol + rtol*fabs(y[i]);                        \
      d0 += (y[i]/s)*(y[i]/s); d1 += (K[0][i]/s)*(K[0][i]/s); }                               \
    d0 = sqrt(d0/DIM); d1 = sqrt(d1/DIM);                                                     \
    double h0 = (d0 < 1e-5 || d1 < 1e-5) ? 1e-6 : 0.01*d0/d1;                                 \
    for (int i = 0; i < DIM; i++) yt[i] = y[i] + h0*K[0][i];                                  \
    RHS(yt, p, K[1]); nf++;                                                                   \
    for (int i = 0; i < DIM; i++) { double s = atol + rtol*fabs(y[i]);                        \
      double z = (K[1][i]-K[0][i])/s; d2 += z*z; }                                            \
    d2 = sqrt(d2/DIM)/h0;                                                                     \
    double m = d1 > d2 ? d1 : d2;                                                             \
    double hh = m <= 1e-15 ? fmax(1e-6, h0*1e-3) : pow(0.01/m, 1.0/8);                        \
    h = fmin(100*h0, fmin(hh, t1)); }                                                         \
  int rejected = 0;                                                                           \
  while (t < t1) {                                                                            \
    if (t + h > t1) h = t1 - t;                                                               \
    _Pragma("GCC unroll 12")                                                                  \
    for (int s = 1; s < 12; s++) {                                                            \
      for (int i = 0; i < DIM; i++) { double a = 0;                                           \
        _Pragma("GCC unroll 12")                                                              \
        for (int j = 0; j < s; j++) if (DA[s][j] != 0) a += DA[s][j]*K[j][i];                 \
        yt[i] = y[i] + h*a; }                                                                 \
      RHS(yt, p, K[s]); }                                                                     \
    nf += 11;                                                                                 \
    double e3 = 0, e5 = 0, yn[DIM];                                                           \
    for (int i = 0; i < DIM; i++) { double a = 0, b3 = 0, b5 = 0;                             \
      _Pragma("GCC unroll 12")                                                                \
      for (int j = 0; j < 12; j++) { if (DB[j] != 0) a += DB[j]*K[j][i];                      \
        if (DE3[j] != 0) b3 += DE3[j]*K[j][i]; if (DE5[j] != 0) b5 += DE5[j]*K[j][i]; }       \
      yn[i] = y[i] + h*a;                                                                     \
      double s = 1.0/(atol + rtol*fmax(fabs(y[i]), fabs(yn[i])));                             \
      b3 *= s; b5 *= s; e3 += b3*b3; e5 += b5*b5; }                                           \
    double den = e5 + 0.01*e3;                                                                \
    double err = (e5 == 0 && e3 == 0) ? 0 : h*e5/sqrt(den*DIM);                               \
    if (err < 1) {                                                                            \
      double f = err == 0 ? 10 : fmin(10, 0.9*pow(err, -1.0/8));                              \
      if (rejected && f > 1) f = 1;                                                           \
      t += h; ns++; memcpy(y, yn, sizeof yn); rejected = 0;                                   \
      if (t < t1) { RHS(y, p, K[0]); nf++; }                                                  \
      h *= f;                                                                                 \
    } else { h *= fmax(0.2, 0.9*pow(err, -1.0/8)); rejected = 1; rej++; }                     \
  }                                                                                           \
  *nfev = nf; *nrej = rej; return (int)ns; }

// P1 sleigh. y = x,y,phi,v,w ; p = k=m*a/(J+m a^2), a
INL void f_sleigh(const double *y, const double *p, double *d) {
  double s, c; sc(y[2], &s, &c);
  d[0] = y[3]*c; d[1] = y[3]*s; d[2] = y[4]; d[3] = p[1]*y[4]*y[4]; d[4] = -p[0]*y[3]*y[4];
}
DEFINE_DOP853(p1_dop853, 5, f_sleigh)

// P2 vertical disk on incline. y = x,y,theta,phi,u=thetadot ; p = R, k, w (phidot is constant)
INL void f_disk(const double *y, const double *p, double *d) {
  double s, c; sc(y[3], &s, &c); double Ru = p[0]*y[4];
  d[0] = Ru*c; d[1] = Ru*s; d[2] = y[4]; d[3] = p[2]; d[4] = p[1]*c;
}
DEFINE_DOP853(p2_dop853, 5, f_disk)

// P3 ball in elliptic bowl. y = x,y, psi,theta,phi, w1,w2,w3 (space frame)
// p = R, k1, k2, g, kk  (I = kk m R^2)
INL void f_ball(const double *y, const double *p, double *d) {
  double R = p[0], k1 = p[1], k2 = p[2], g = p[3], kk = p[4];
  double gx = k1*y[0], gy = k2*y[1], q = 1.0/sqrt(1 + gx*gx + gy*gy);
  double n0 = -gx*q, n1 = -gy*q, n2 = q, w0 = y[5], w1 = y[6], w2 = y[7];
  double v0 = R*(w1*n2 - w2*n1), v1 = R*(w2*n0 - w0*n2);
  double m0 = -k1*v0*q, m1 = -k2*v1*q;                 // d/dt(-grad f)/norm
  double nm = n0*m0 + n1*m1;                            // project: ndot = m - n (n.m)
  double e0 = m0 - n0*nm, e1 = m1 - n1*nm, e2 = -n2*nm;
  double a0 = R*(w1*e2 - w2*e1), a1 = R*(w2*e0 - w0*e2), a2 = R*(w0*e1 - w1*e0) + g;
  double f = -1.0/(R*(1 + kk));
  d[5] = f*(n1*a2 - n2*a1); d[6] = f*(n2*a0 - n0*a2); d[7] = f*(n0*a1 - n1*a0);
  d[0] = v0; d[1] = v1;
  double sp, cp, st, ct; sc(y[2], &sp, &cp); sc(y[3], &st, &ct);
  double ph = (w0*sp - w1*cp)/st;
  d[3] = w0*cp + w1*sp; d[4] = ph; d[2] = w2 - ph*ct;
}
DEFINE_DOP853(p3_dop853, 8, f_ball)

#define F_CHAIN(N)                                                                            \
INL void f_chain##N(const double *y, const double *p, double *d) {                            \
  const double m = p[0], J = p[1], b = p[2], kp = p[3];                                       \
  const double *th = y + 2, *u = y + 5 + N - 2 + 0;                                           \
  u = y + 3 + N;                                                                              \
  double S[N+1], C[N+1];                                                                      \
  for (int i = 0; i <= N; i++) sc(th[i], &S[i], &C[i]);                                       \
  /* joint velocity map V (2x3), bias acc (2) */                                              \
  double X0=1,X1=0,X2=b*S[0], Y0=0,Y1=1,Y2=-b*C[0], w = u[2];                                 \
  double bx = b*w*w*C[0], by = b*w*w*S[0];                                                    \
  double M00=m, M01=0, M02=0, M11=m, M12=0, M22=J, r0=0, r1=0, r2;                            \
  d[0]=u[0]; d[1]=u[1]; d[2]=w;                                                               \
  r2 = kp*(th[1]-th[0]);                                                                      \
  double ib = 1.0/b;                                                                          \
  for (int i = 1; i <= N; i++) {                                                              \
    double s = S[i], c = C[i];                                                                \
    /* knife edge: n.(V u) - b w_i = 0 */                                                     \
    double q0 = (-s*X0 + c*Y0)*ib, q1 = (-s*X1 + c*Y1)*ib, q2 = (-s*X2 + c*Y2)*ib;            \
    double vx = X0*u[0]+X1*u[1]+X2*u[2], vy = Y0*u[0]+Y1*u[1]+Y2*u[2];                        \
    double wi = q0*u[0]+q1*u[1]+q2*u[2];                                                      \
    /* differentiate: n.(V u' + bias) + ndot.(V u) - b wi' = 0, ndot = -wi e */               \
    double sg = ((-s*bx + c*by) - wi*(c*vx + s*vy))*ib;                                       \
    /* centre: c_i = p_i - b e_i ; normal part vanishes, velocity is along e_i */             \
    double A0 = X0 + b*s*q0, A1 = X1 + b*s*q1, A2 = X2 + b*s*q2;                              \
    double B0 = Y0 - b*c*q0, B1 = Y1 - b*c*q1, B2 = Y2 - b*c*q2;                              \
    double w2 = b*wi*wi;                                                                      \
    double ax = bx + b*s*sg + w2*c, ay = by - b*c*sg + w2*s;                                  \
    M00 += m*(A0*A0+B0*B0)+J*q0*q0; M01 += m*(A0*A1+B0*B1)+J*q0*q1;                           \
    M02 += m*(A0*A2+B0*B2)+J*q0*q2; M11 += m*(A1*A1+B1*B1)+J*q1*q1;                           \
    M12 += m*(A1*A2+B1*B2)+J*q1*q2; M22 += m*(A2*A2+B2*B2)+J*q2*q2;                           \
    double tau = -kp*(th[i]-th[i-1]); if (i < N) tau += kp*(th[i+1]-th[i]);                   \
    double tq = tau - J*sg;                                                                   \
    r0 += q0*tq - m*(A0*ax+B0*ay); r1 += q1*tq - m*(A1*ax+B1*ay);                             \
    r2 += q2*tq - m*(A2*ax+B2*ay);                                                            \
    d[2+i] = wi;                                                                              \
    X0 = A0 + b*s*q0; X1 = A1 + b*s*q1; X2 = A2 + b*s*q2;                                     \
    Y0 = B0 - b*c*q0; Y1 = B1 - b*c*q1; Y2 = B2 - b*c*q2;                                     \
    bx = ax + b*s*sg + w2*c; by = ay - b*c*sg + w2*s;                                         \
  }                                                                                           \
  double i0 = 1/M00, l1 = M01*i0, l2 = M02*i0;                                                \
  double D1 = M11 - l1*M01, E = M12 - l1*M02, i1 = 1/D1, l3 = E*i1;                           \
  double D2 = M22 - l2*M02 - l3*E;                                                            \
  double z1 = r1 - l1*r0, z2 = r2 - l2*r0 - l3*z1;                                            \
  double a2 = z2/D2, a1 = z1*i1 - l3*a2, a0 = r0*i0 - l1*a1 - l2*a2;                          \
  d[3+N]=a0; d[4+N]=a1; d[5+N]=a2;                                                            \
}                                                                                             \
DEFINE_DOP853(p4_dop853_##N, (N+6), f_chain##N)                                               \
void p4_rhs_##N(const double *y, const double *p, double *d) { f_chain##N(y, p, d); }
F_CHAIN(20)
F_CHAIN(80)
