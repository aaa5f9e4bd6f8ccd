/* Landmarks: draws of rows, and the ways of choosing among them. */
#ifndef SCULLERY_SAMPLER_LANDMARKS_H
#define SCULLERY_SAMPLER_LANDMARKS_H

#include <scullery/plugin.h>

/* ------------ rows.c */

/* Streams, from the draw's own on. */
enum {
  LANDMARKS_SAMPLE = 0,
  LANDMARKS_BY_SCORE = 2,
  LANDMARKS_PROPOSALS = 3,
  LANDMARKS_PROBES = 4
};

/* The error for `numbers` doubles that do not fit into memory. */
scl_status landmarks_no_memory(const scl_host *host, size_t numbers, scl_error *error);

typedef struct kept_row {
  double key;
  size_t place, slot; /* in the walk; in `rows` */
} kept_row;

/* The `most` rows of the least keys that were offered so far. */
typedef struct reservoir {
  const scl_learning *learning;
  uint64_t stream;
  size_t most, count;
  kept_row *heap; /* the largest key first */
  double *rows;   /* most x dim, in slots: the caller's */
  double *spare;  /* one row */
} reservoir;

/* Opens an empty reservoir. `rows`, the caller's, has room for `most` rows; all else is scratch
 * memory. */
scl_status reservoir_open(const scl_learning *learning, uint64_t stream, size_t most, double *rows,
                          reservoir *out, scl_error *error);

/* Offers row `place` of the walk, x. Rows of weight 0 come after all others. */
void reservoir_offer(reservoir *r, size_t place, double weight, const double *x);

/* Sorts r->rows by their keys, in place, one cycle of the permutation after the other. Destroys the
 * heap. */
void reservoir_arrange(reservoir *r);

static inline const double *landmarks_row(const scl_rows *rows, size_t i) {
  return (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
}

/* out (count x dim) = rows drawn uniformly without replacement, in the order of the draw; all rows
 * where count is n. */
scl_status landmarks_sample(const scl_learning *learning, size_t count, double *out,
                            scl_error *error);

typedef struct kernel_rectangle {
  const scl_learning *learning;
  const double *u, *v; /* rows, packed */
  size_t rows, cols;   /* how many */
  double *out;
  ptrdiff_t stride;
} kernel_rectangle;

/* out (rows x cols) = k(u_i, v_j), on the host's threads. */
scl_status landmarks_kernel(kernel_rectangle k, scl_error *error);

/* out[i] = k(x_i, x_i), all finite */
scl_status landmarks_diagonal(const scl_learning *learning, const double *x, size_t count,
                              double *out, scl_error *error);

/* ------------ adaptive.c */

enum { MOST_PROPOSALS = 64, ADAPTIVE_SLICE = 256 };

typedef struct adaptive {
  const scl_learning *learning;
  size_t candidates, wanted, count; /* m, T, |S| */
  double *rows;                     /* m x d */
  double *score, *sums;             /* m; score 0: chosen, or nothing left */
  double *least;                    /* m: smaller scores are rounding */
  double *norm;                     /* m: ||x||^2 (k-means++) */
  bool *taken;                      /* m */
  size_t *chosen;                   /* T */
  /* Pivoted: m x T, row i f_i with k(x_i, x_j) ~ <f_i, f_j>. K-means++: m x MOST_PROPOSALS products
   * with the new landmarks. */
  double *factor;
  size_t stride;
  /* One round: proposals, those accepted (`fresh` of them), their rows and rows of `factor`. */
  size_t place[MOST_PROPOSALS], accepted[MOST_PROPOSALS], fresh;
  double *pairs; /* MOST_PROPOSALS x MOST_PROPOSALS; on the diagonal the score now */
  double *picked, *picked_factor;
  bool spent; /* no score is left: uniform */
} adaptive;

/* The score functions of a method; each receives the current round. */
typedef struct adaptive_rule {
  /* Begin: score and least. */
  scl_status (*begin)(adaptive *a, scl_error *error);
  /* Fill pairs of `count` proposals. */
  scl_status (*compare)(adaptive *a, size_t count, scl_error *error);
  /* Proposal i is accepted: bring the diagonal of the later ones up to date. */
  void (*accept)(adaptive *a, size_t count, size_t i);
  /* A task: the scores of candidates first .. first+count-1, given the fresh landmarks. */
  scl_status (*update)(adaptive *a, size_t first, size_t count, scl_error *error);
  bool factors, uniform_first;
} adaptive_rule;

extern const adaptive_rule adaptive_seeding;

extern const adaptive_rule adaptive_pivoting;

/* out = `wanted` landmarks, in the order in which they were chosen. */
scl_status landmarks_adaptive(const scl_learning *learning, const adaptive_rule *rule,
                              size_t candidates, size_t wanted, double *out, scl_error *error);

/* ------------ leverage.c */

/* out (count x d) = landmarks by leverage scores that `sample` uniform rows give. lambda NaN:
 * chosen by bisection. */
scl_status landmarks_leverage(const scl_learning *learning, size_t sample, double lambda,
                              size_t count, double *out, scl_error *error);

#endif
