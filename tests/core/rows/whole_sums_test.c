/* Exact normal equations: against sums in 113 bits, in any order, joined and taken apart. */
#include "rows/whole_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __float128 wide;

static int failures;

static void check(bool ok, const char *what) {
  if (ok) return;
  (void)printf("FAILED: %s\n", what);
  failures++;
}

static uint64_t state = 88172645463325252u;
static double uniform(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53;
}

enum { N = 700, D = 37, C = 2 };

typedef struct rows {
  int16_t v[N * D];
  double y[N * C], w[N];
} rows;

typedef enum weighting { NONE, WHOLE, ANY } weighting;

static void fill(rows *r, weighting kind, double offset) {
  for (size_t i = 0; i < (size_t)N * D; i++)
    r->v[i] = (int16_t)(uniform() * 4095 - 2047);
  for (size_t i = 0; i < N; i++) {
    r->y[i * C] = offset + uniform() * 3 - 1;
    r->y[i * C + 1] = uniform() < 0.5 ? 1 : -1;
    r->w[i] = kind == WHOLE ? (double)(int)(uniform() * 40) : exp(uniform() * 12 - 8);
    if (kind == ANY && i % 7 == 0) r->w[i] = 3;
  }
}

static scl_whole_sums *sum(const rows *r, const size_t *order, size_t first, size_t count,
                           weighting kind) {
  static int16_t v[N * D];
  static double y[N * C], w[N];
  scl_whole_sums *sums;
  scl_error error = {0};
  check(scl_whole_sums_create(D, C, 1, SCL_MOMENTS_OWN, &sums, &error) == SCL_STATUS_OK, "create");
  for (size_t i = 0; i < count; i++) {
    const size_t from = order[first + i];
    memcpy(v + i * D, r->v + from * D, D * sizeof *v);
    memcpy(y + i * C, r->y + from * C, C * sizeof *y);
    w[i] = r->w[from];
  }
  const scl_whole_rows some = {.type = SCL_WHOLE_INT16,
                               .v = v,
                               .stride = D,
                               .rows = count,
                               .y = y,
                               .weights = kind == NONE ? NULL : w};
  check(scl_whole_sums_add(sums, &some, true, &error) == SCL_STATUS_OK, error.message);
  return sums;
}

/* What a solver gets. */
typedef struct result {
  scl_totals totals;
  double moment[D * D], room[D * C + C + D + C];
} result;

static void total(scl_whole_sums *sums, bool centre, const double *base, result *out) {
  static double unit[D];
  scl_symmetric *moment = NULL;
  scl_error error = {0};
  for (size_t j = 0; j < D; j++)
    unit[j] = ldexp(1 + (double)j / 64, -11);
  *out = (result){.totals = {.right = out->room}};
  out->totals.right = out->room;
  out->totals.square = out->room + D * C;
  out->totals.mean_phi = out->room + D * C + C;
  out->totals.mean_y = out->room + D * C + C + D;
  const scl_whole_features features = {unit, base};
  check(scl_whole_sums_total(sums, &features, -1, centre, false, &out->totals, &moment, &error) ==
            SCL_STATUS_OK,
        error.message);
  for (size_t i = 0; i < D; i++)
    for (size_t j = 0; j < D; j++)
      out->moment[i * D + j] = scl_symmetric_get(moment, i, j);
  scl_symmetric_destroy(moment);
}

static bool same(const result *a, const result *b) {
  return memcmp(a->moment, b->moment, sizeof a->moment) == 0 &&
         memcmp(a->room, b->room, sizeof a->room) == 0 && a->totals.total == b->totals.total;
}

static bool near(double found, wide truth, double scale, double limit) {
  return fabs((double)((wide)found - truth)) <= limit * scale;
}

/* Against sums in 113 bits of features base + unit v; `limit`: of the rounding of v by weights. */
static void against_truth(const rows *r, weighting kind, bool centre, const double *base,
                          const result *found, double limit) {
  wide total_weight = 0, mean_y[C] = {0}, square[C] = {0};
  static wide mean[D], right[D * C], moment[D * D];
  memset(mean, 0, sizeof mean);
  memset(right, 0, sizeof right);
  memset(moment, 0, sizeof moment);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < N; i++) {
      const wide w = kind == NONE ? 1 : (wide)r->w[i];
      wide phi[D];
      for (size_t j = 0; j < D; j++)
        phi[j] = (base == NULL ? 0 : (wide)base[j]) +
                 (wide)ldexp(1 + (double)j / 64, -11) * r->v[i * D + j];
      if (pass == 0) {
        total_weight += w;
        for (size_t j = 0; j < D; j++)
          mean[j] += w * phi[j];
        for (size_t c = 0; c < C; c++)
          mean_y[c] += w * (wide)r->y[i * C + c];
        continue;
      }
      for (size_t j = 0; j < D; j++) {
        const wide x = phi[j] - (centre ? mean[j] / total_weight : 0);
        for (size_t c = 0; c < C; c++)
          right[j * C + c] +=
              w * x * ((wide)r->y[i * C + c] - (centre ? mean_y[c] / total_weight : 0));
        for (size_t k = 0; k < D; k++)
          moment[j * D + k] += w * x * (phi[k] - (centre ? mean[k] / total_weight : 0));
      }
      for (size_t c = 0; c < C; c++) {
        const wide y = (wide)r->y[i * C + c] - (centre ? mean_y[c] / total_weight : 0);
        square[c] += w * y * y;
      }
    }
  const double n = (double)total_weight;
  check(near(found->totals.total, total_weight, n, limit), "the total weight");
  for (size_t c = 0; c < C; c++)
    check(near(found->totals.square[c], square[c], (double)square[c], limit), "y'y");
  for (size_t j = 0; j < D; j++) {
    check(near(found->totals.mean_phi[j], mean[j] / total_weight, 2, limit), "a mean");
    for (size_t c = 0; c < C; c++)
      check(near(found->totals.right[j * C + c], right[j * C + c], 2 * sqrt(n * (double)square[c]),
                 limit),
            "Phi'y");
    for (size_t k = 0; k < D; k++)
      check(near(found->moment[j * D + k], moment[j * D + k], 4 * n, limit), "Phi'Phi");
  }
}

static void shuffle(size_t *order) {
  for (size_t i = N; i-- > 1;) {
    const size_t j = (size_t)(uniform() * (double)(i + 1));
    const size_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

static void test(weighting kind, bool centre, bool based, double offset) {
  static rows r;
  static result all, found;
  static double base[D];
  size_t order[N];
  scl_error error = {0};
  fill(&r, kind, offset);
  for (size_t j = 0; j < D; j++)
    base[j] = 0.3 + 0.01 * (double)j;
  for (size_t i = 0; i < N; i++)
    order[i] = i;
  const double *from = based ? base : NULL;
  scl_whole_sums *whole = sum(&r, order, 0, N, kind);
  total(whole, centre, from, &all);
  against_truth(&r, kind, centre, from, &all, kind == ANY ? 2e-3 : 1e-15);
  shuffle(order);
  scl_whole_sums *a = sum(&r, order, 0, 123, kind), *b = sum(&r, order, 123, N - 123, kind),
                 *c = sum(&r, order, 50, 300, kind);
  check(scl_whole_sums_merge(b, a, false, &error) == SCL_STATUS_OK, error.message);
  total(b, centre, from, &found);
  check(same(&all, &found), "another order, joined");
  check(scl_whole_sums_merge(b, c, true, &error) == SCL_STATUS_OK, error.message);
  check(scl_whole_sums_merge(b, c, false, &error) == SCL_STATUS_OK, error.message);
  total(b, centre, from, &found);
  check(same(&all, &found), "rows out and in again");
  check(scl_whole_sums_merge(whole, b, true, &error) == SCL_STATUS_OK, error.message);
  check(scl_whole_sums_weight(whole) == 0, "nothing is left");
  scl_whole_sums_destroy(whole);
  scl_whole_sums_destroy(a);
  scl_whole_sums_destroy(b);
  scl_whole_sums_destroy(c);
}

/* A row of weight w is the row w times, also where the weight is large. */
static void test_copies(void) {
  static rows r;
  static result once, copies;
  static size_t order[N];
  scl_error error = {0};
  fill(&r, WHOLE, 0);
  for (size_t i = 0; i < N; i++)
    r.w[i] = i < 3 ? (double)(1 + 5 * i) : 0;
  size_t count = 0;
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < 1 + 5 * i; k++)
      order[count++] = i;
  static const size_t each[3] = {0, 1, 2};
  scl_whole_sums *a = sum(&r, each, 0, 3, WHOLE), *b = sum(&r, order, 0, count, NONE);
  total(a, true, NULL, &once);
  total(b, true, NULL, &copies);
  check(same(&once, &copies), "a weight of 6 is a row six times");
  const double heavy = 1e13;
  const scl_whole_rows some = {
      .type = SCL_WHOLE_INT16, .v = r.v, .stride = D, .rows = 1, .y = r.y, .weights = &heavy};
  check(scl_whole_sums_add(a, &some, true, &error) == SCL_STATUS_NUMERIC,
        "a weight that is too large");
  scl_whole_sums_destroy(a);
  scl_whole_sums_destroy(b);
}

int main(void) {
  for (int kind = NONE; kind <= ANY; kind++)
    for (int centre = 0; centre < 2; centre++)
      for (int based = 0; based < 2; based++) {
        test((weighting)kind, centre, based, 0);
        test((weighting)kind, centre, based, 1e5);
      }
  test_copies();
  (void)printf(failures == 0 ? "ok\n" : "%d checks failed\n", failures);
  return failures != 0;
}
