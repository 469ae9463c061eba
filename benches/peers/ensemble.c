// An ensemble of sleighs by hand: eight lanes of AVX-512 with the steps of DOP853, each lane with its own step, refilled from the queue; the equations are
// reduced by hand. Built by `cargo bench -p pfaff --bench ensemble` with `gcc -O3 -march=native`; it prints
// the seconds of one pass over all motions, evaluations of a motion, and the seconds of processor time.
//
// usage: ensemble COUNT TOLERANCE THREADS [FILE], which gets x, y, phi, v, w of all motions as doubles
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <pthread.h>
#include <time.h>
static const double DA[12][12]={{0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.05260015195876773,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.0197250569845379,0.0591751709536137,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.02958758547680685,0.0,0.08876275643042054,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.2413651341592667,0.0,-0.8845494793282861,0.924834003261792,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.037037037037037035,0.0,0.0,0.17082860872947386,0.12546768756682242,0.0,0.0,0.0,0.0,0.0,0.0,0.0},{0.037109375,0.0,0.0,0.17025221101954405,0.06021653898045596,-0.017578125,0.0,0.0,0.0,0.0,0.0,0.0},{0.03709200011850479,0.0,0.0,0.17038392571223998,0.10726203044637328,-0.015319437748624402,0.008273789163814023,0.0,0.0,0.0,0.0,0.0},{0.6241109587160757,0.0,0.0,-3.3608926294469414,-0.868219346841726,27.59209969944671,20.154067550477894,-43.48988418106996,0.0,0.0,0.0,0.0},{0.47766253643826434,0.0,0.0,-2.4881146199716677,-0.590290826836843,21.230051448181193,15.279233632882423,-33.28821096898486,-0.020331201708508627,0.0,0.0,0.0},{-0.9371424300859873,0.0,0.0,5.186372428844064,1.0914373489967295,-8.149787010746927,-18.52006565999696,22.739487099350505,2.4936055526796523,-3.0467644718982196,0.0,0.0},{2.273310147516538,0.0,0.0,-10.53449546673725,-2.0008720582248625,-17.9589318631188,27.94888452941996,-2.8589982771350235,-8.87285693353063,12.360567175794303,0.6433927460157636,0.0}};
static const double DB[12]={0.054293734116568765,0.0,0.0,0.0,0.0,4.450312892752409,1.8915178993145003,-5.801203960010585,0.3111643669578199,-0.1521609496625161,0.20136540080403034,0.04471061572777259};
static const double DE3[12]={-0.18980075407240762,0.0,0.0,0.0,0.0,4.450312892752409,1.8915178993145003,-5.801203960010585,-0.4226823213237919,-0.1521609496625161,0.20136540080403034,0.02265179219836082};
static const double DE5[12]={0.01312004499419488,0.0,0.0,0.0,0.0,-1.2251564463762044,-0.4957589496572502,1.6643771824549864,-0.35032884874997366,0.3341791187130175,0.08192320648511571,-0.022355307863886294};
#define INL static inline __attribute__((always_inline))
// ---------------------------------------------------------------- SIMD ensemble
typedef double v8 __attribute__((vector_size(64)));
typedef long long i8 __attribute__((vector_size(64)));
INL v8 bc(double a) { return (v8){a,a,a,a,a,a,a,a}; }
INL void vsc(v8 x, v8 *s, v8 *c) {      // |x| < ~1e5: two-constant reduction, minimax-quality Taylor kernels
  const double big = 6755399441055744.0;
  v8 kf = x*0.63661977236758134 + big; i8 q = (i8)kf; kf -= big;
  v8 r = x - kf*1.5707963267341256; r = r - kf*6.0771005065061922e-11; r = r - kf*2.0222662487959506e-21;
  v8 z = r*r;
  v8 ps = ((((( 1.58962301576546568060e-10*z -2.50507477628578072866e-8)*z + 2.75573136213857245213e-6)*z
          -1.98412698295895385996e-4)*z + 8.33333333332211858878e-3)*z -1.66666666666666307295e-1);
  v8 sn = r + r*z*ps;
  v8 pc = (((((-1.13585365213876817300e-11*z + 2.08757008419747316778e-9)*z -2.75573141792967388112e-7)*z
          + 2.48015872888517045348e-5)*z -1.38888888888730564116e-3)*z + 4.16666666666665929218e-2);
  v8 cn = 1.0 - 0.5*z + z*z*pc;
  i8 sw = (q & 1) != 0;
  i8 sgs = (q & 2) << 62, sgc = ((q + 1) & 2) << 62;
  i8 a = (i8)sn, b = (i8)cn;
  *s = (v8)(((sw & b) | (~sw & a)) ^ sgs);
  *c = (v8)(((sw & a) | (~sw & b)) ^ sgc);
}
INL void vf(const v8 *y, v8 k, v8 a, v8 *d) {
  v8 s, c; vsc(y[2], &s, &c);
  d[0] = y[3]*c; d[1] = y[3]*s; d[2] = y[4]; d[3] = a*y[4]*y[4]; d[4] = -k*y[3]*y[4];
}
typedef struct { double *Y; const double *P; long n0, n1, n; double t1, h, rtol, atol; long nfev; } job;
// Y is SoA [5][n], P is SoA [4][n] = m,J,a,w0
// adaptive DOP853, 8 lanes each with its own t,h; finished lanes are refilled from the queue
static void *dop_worker(void *q) {
  job *jb = q; long n = jb->n, next = jb->n0; double t1 = jb->t1, rtol = jb->rtol, atol = jb->atol;
  v8 y[5], K[13][5], z[5], kk, aa, t, h; long id[8]; long nf = 0;
  int live = 0;
  for (int d = 0; d < 5; d++) y[d] = bc(0);
  kk = aa = bc(0); t = bc(t1); h = bc(0);
  for (int l = 0; l < 8; l++) id[l] = -1;
#define LOADLANE(l) do { if (next < jb->n1) { long o = next++; id[l] = o; live++;             \
    double m = jb->P[o], J = jb->P[n+o], a = jb->P[2*n+o]; kk[l] = m*a/(J+m*a*a); aa[l] = a;  \
    for (int d = 0; d < 5; d++) y[d][l] = jb->Y[d*n+o];                                       \
    t[l] = 0; h[l] = 0.5*pow(rtol/1e-8, 0.125); } else { id[l] = -1; t[l] = t1; h[l] = 0; } } while (0)
  for (int l = 0; l < 8; l++) LOADLANE(l);
  while (live) {
    v8 rem = t1 - t; i8 cl = h > rem; h = (v8)(((i8)rem & cl) | ((i8)h & ~cl));
    vf(y, kk, aa, K[0]);
    _Pragma("GCC unroll 12")
    for (int s = 1; s < 12; s++) {
      for (int d = 0; d < 5; d++) { v8 a = bc(0);
        _Pragma("GCC unroll 12")
        for (int j = 0; j < s; j++) if (DA[s][j] != 0) a += DA[s][j]*K[j][d];
        z[d] = y[d] + h*a; }
      vf(z, kk, aa, K[s]);
    }
    nf += 12*live;
    v8 e3 = bc(0), e5 = bc(0);
    for (int d = 0; d < 5; d++) { v8 a = bc(0), b3 = bc(0), b5 = bc(0);
      _Pragma("GCC unroll 12")
      for (int j = 0; j < 12; j++) { if (DB[j] != 0) a += DB[j]*K[j][d];
        if (DE3[j] != 0) b3 += DE3[j]*K[j][d]; if (DE5[j] != 0) b5 += DE5[j]*K[j][d]; }
      z[d] = y[d] + h*a;
      i8 msk = (i8)bc(-0.0); v8 ay = (v8)((i8)y[d] & ~msk), az = (v8)((i8)z[d] & ~msk);
      i8 gt = ay > az; v8 mx = (v8)(((i8)ay & gt) | ((i8)az & ~gt));
      v8 s = 1.0/(atol + rtol*mx); b3 *= s; b5 *= s; e3 += b3*b3; e5 += b5*b5; }
    v8 den = (e5 + 0.01*e3)*5.0 + 1e-300, err;
    for (int l = 0; l < 8; l++) err[l] = h[l]*e5[l]/sqrt(den[l]);
    i8 ok = err < bc(1.0);
    for (int d = 0; d < 5; d++) y[d] = (v8)(((i8)z[d] & ok) | ((i8)y[d] & ~ok));
    t += (v8)((i8)h & ok);
    // err^(-1/8) through three square roots
    for (int l = 0; l < 8; l++) { double r = sqrt(sqrt(sqrt(err[l] + 1e-30))); double f = 0.9/r;
      f = f > 10 ? 10 : f; f = f < 0.2 ? 0.2 : f; h[l] *= f; }
    i8 dn = t >= bc(t1);
    for (int l = 0; l < 8; l++) if (dn[l] && id[l] >= 0) {
      for (int d = 0; d < 5; d++) jb->Y[d*n+id[l]] = y[d][l];
      live--; LOADLANE(l); }
  }
  jb->nfev = nf; return 0;
}
static long run_jobs(void *(*w)(void *), double *Y, const double *P, long n, double t1, double h, double rtol, double atol, int nth) {
  pthread_t th[8]; job jb[8]; long ch = ((n + nth - 1)/nth + 15)/16*16, nf = 0;
  for (int i = 0; i < nth; i++) { long a = i*ch, b = a + ch < n ? a + ch : n;
    jb[i] = (job){Y, P, a, b, n, t1, h, rtol, atol, 0};
    if (nth > 1) pthread_create(&th[i], 0, w, &jb[i]); else w(&jb[i]); }
  for (int i = 0; i < nth; i++) { if (nth > 1) pthread_join(th[i], 0); nf += jb[i].nfev; }
  return nf;
}
long p5_dop(double *Y, const double *P, long n, double t1, double rtol, double atol, int nth) { return run_jobs(dop_worker, Y, P, n, t1, 0, rtol, atol, nth); }

// The values of motion i: the same in ensemble.rs.
static double drawn(uint64_t i) {
  uint64_t z = (i + 1)*0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30))*0xBF58476D1CE4E5B9u; z = (z ^ (z >> 27))*0x94D049BB133111EBu; z ^= z >> 31;
  return (double)(z >> 11)/9007199254740992.0;
}
int main(int argc, char **argv) {
  long n = atol(argv[1]); double tol = atof(argv[2]); int threads = atoi(argv[3]);
  double *P = aligned_alloc(64, 4*n*8), *Y = aligned_alloc(64, 5*n*8), *Y0 = aligned_alloc(64, 5*n*8);
  memset(Y0, 0, 5*n*8);
  for (long i = 0; i < n; i++) {
    P[i] = 0.5 + 1.5*drawn(4*i); P[n+i] = 0.2 + 1.8*drawn(4*i+1); P[2*n+i] = 0.02 + 0.48*drawn(4*i+2);
    P[3*n+i] = 0.2 + 1.8*drawn(4*i+3); Y0[3*n+i] = -0.5; Y0[4*n+i] = P[3*n+i];
  }
  double best = 1e9, least = 1e9; long nf = 0;
  for (int r = 0; r < 5; r++) {
    memcpy(Y, Y0, 5*n*8);
    struct timespec a, b, c, d; clock_gettime(CLOCK_MONOTONIC, &a); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &c);
    nf = p5_dop(Y, P, n, 10.0, tol, tol, threads);
    clock_gettime(CLOCK_MONOTONIC, &b); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &d);
    double s = (b.tv_sec - a.tv_sec) + 1e-9*(b.tv_nsec - a.tv_nsec); if (s < best) best = s;
    s = (d.tv_sec - c.tv_sec) + 1e-9*(d.tv_nsec - c.tv_nsec); if (s < least) least = s;
  }
  if (argc > 4) { FILE *f = fopen(argv[4], "wb"); fwrite(Y, 8, 5*n, f); fclose(f); }
  printf("%.9g %.6g %.9g\n", best, (double)nf/n, least);
  return 0;
}
