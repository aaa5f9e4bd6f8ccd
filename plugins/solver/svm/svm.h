/* A support vector machine: the loops, the cache of kernel values, the kernel, the steps on a
 * working set, and the machine that finds the coefficients of one function. */
#ifndef SCULLERY_SOLVER_SVM_H
#define SCULLERY_SOLVER_SVM_H

#include <math.h>
#include <scullery/plugin.h>
#include <stdbool.h>
#include <stdint.h>

/* ------------ loops.c */

enum { SVM_LANES = 32 }; /* counts of the choosing loops are multiples of it */

/* The ends of the violation: the largest up - f, where it is, and the least low - f. */
typedef struct svm_ends {
  double most, least;
  size_t first;
} svm_ends;

/* The inner loops of one instruction set; loops.c says what each computes. Counts of `advance` and
 * `partner` are multiples of SVM_LANES, of the others any. */
typedef struct svm_loops {
  void (*advance)(size_t count, double delta, const float *ki, const float *kj, const double *up,
                  const double *low, double *f, svm_ends *out);
  size_t (*partner)(size_t count, double most, double least, double kii, const float *ki,
                    const double *diagonal, const double *low, const double *f);
  void (*add_four)(size_t count, const double a[4], const float *const k[4], double *f);
  size_t (*distances)(size_t count, double square, const double *squares, double *numbers);
  float (*single)(size_t count, double factor, const double *x, float *out);
} svm_loops;

/* The loops of the best instruction set of this machine. */
svm_loops svm_loops_get(void);

/* ------------ cache.c */

typedef struct svm_cache {
  size_t width, slots, capacity; /* columns; slots of that width; numbers in all */
  size_t filled, hand;
  float *values; /* slots x width */
  size_t *slot;  /* row: its slot, or SIZE_MAX */
  size_t *row;   /* slot: its row */
  size_t *used;  /* slot: the last turn in which its row was asked for */
  bool *recent;  /* slot: asked for since the hand came by */
} svm_cache;

/* Empties the cache and gives it slots of `width` columns; the memory stays the same. */
void svm_cache_empty(svm_cache *c, size_t width);

/* How many values a cache for `width` rows and columns has: `megabytes` of them, but at least
 * `least` rows. */
size_t svm_cache_capacity(size_t width, size_t least, double megabytes);

/* The cached values of a row, marked as used in this turn; NULL where it is not cached. */
float *svm_cache_find(svm_cache *c, size_t row, size_t turn);

/* Returns a slot for the values of a row that is not cached, in place of a row not used in this
 * turn. At least one such row must exist: the cache has room for two working sets. */
float *svm_cache_claim(svm_cache *c, size_t row, size_t turn);

/* Keeps `count` rows and columns: those with these ascending numbers, which become 0 to count -
 * 1. */
void svm_cache_keep(svm_cache *c, const size_t *kept, size_t count);

/* ------------ kernel.c */

typedef struct svm {
  scl_base base;
  scl_part kernel; /* no plugin: Gaussian, of this gamma */
  double gamma;    /* NaN: 1/d */
  double C, epsilon, tolerance, cache;
} svm;

/* A set of rows of which kernel values are computed. */
typedef struct svm_rows {
  size_t count, dim;
  const double *x; /* count x dim at `stride` */
  ptrdiff_t stride;
  const double *squares; /* their squared lengths */
} svm_rows;

static inline size_t svm_least(size_t a, size_t b) { return a < b ? a : b; }

static inline double svm_gamma(const svm *self, size_t dim) {
  return isnan(self->gamma) ? 1 / (double)dim : self->gamma;
}

static inline svm_rows svm_rows_at(const svm_rows *rows, size_t first, size_t most) {
  return (svm_rows){svm_least(rows->count - first, most), rows->dim,
                    rows->x + (ptrdiff_t)first * rows->stride, rows->stride, rows->squares + first};
}

static inline scl_const_parameters svm_parameters(const svm_rows *rows) {
  return scl_dense_rows(rows->x, rows->stride, rows->count, rows->dim);
}

/* out = K(u_i, v_j) */
scl_status svm_values(const svm *self, const svm_loops *loops, const svm_rows *u, const svm_rows *v,
                      double *out, ptrdiff_t stride, scl_error *error);

/* out[i][j] = K(u_i, v_j) in single precision, through `room` (u->count x v->count). */
scl_status svm_single(const svm *self, const svm_loops *loops, const svm_rows *u, const svm_rows *v,
                      double *room, float *const *out, scl_error *error);

/* The kernel as a function of the type of scl_parts.gram, for kernel expansions. */
scl_status svm_gram(const void *instance, const scl_const_parameters *u,
                    const scl_const_parameters *v, double *out, ptrdiff_t stride, scl_error *error);

/* ------------ smo.c */

/* A row: its target, bounds and coefficient. */
typedef struct svm_row {
  double y, lo, hi, b;
} svm_row;

/* The f_i below which the objective rises as b_i grows, so that up - f is the gain; -infinity where
 * b_i is at its upper bound. The sign of b decides on which side of epsilon it is. */
static inline double svm_up(const svm_row *row, double epsilon) {
  if (!(row->b < row->hi)) return -INFINITY;
  return row->b < 0 ? row->y + epsilon : row->y - epsilon;
}

/* The same for shrinking: low - f is the cost; infinity where b_i is at its lower bound. */
static inline double svm_low(const svm_row *row, double epsilon) {
  if (!(row->b > row->lo)) return INFINITY;
  return row->b > 0 ? row->y - epsilon : row->y + epsilon;
}

typedef struct svm_smo {
  svm_loops loops;
  double epsilon;
  size_t count, stride;            /* rows; the same padded to SVM_LANES */
  svm_row *row;                    /* count */
  float *k;                        /* count x stride */
  double *f, *up, *low, *diagonal; /* stride */
} svm_smo;

/* Steps until no pair violates optimality by more than `tolerance`, or `most_steps` are done;
 * returns their number. The caller sets row, k and f; row's coefficients and f are updated. */
size_t svm_smo_solve(svm_smo *s, double tolerance, size_t most_steps);

/* ------------ state.c */

enum {
  SVM_SET = 512,   /* rows of the working set, at most */
  SVM_STRIP = 256, /* columns of a tile of kernel values */
  SVM_PATIENCE = 3 /* rounds that a row must look settled before it is set aside */
};

/* The problem of one function and its solution. */
typedef struct svm_function {
  svm_rows rows;
  svm_row *row; /* rows.count: targets and bounds are given, coefficients found */
  double f0, violation;
  size_t steps;
} svm_function;

/* The numbers of a machine that change from round to round, as a checkpoint has them. */
typedef struct svm_now {
  uint64_t function; /* from 1; 0: no function is being learnt */
  uint64_t count, set_count, round, steps, tries, width, slots, filled, hand;
  uint64_t stuck; /* whether the last round took no step */
  double most, least, before, violation;
} svm_now;

typedef struct svm_machine {
  const svm *self;
  const scl_host *host;
  svm_function *out;
  double epsilon, tolerance, megabytes;
  size_t most_steps, round, room; /* room: rows of the working set */
  size_t function, tries;
  bool stuck;
  double before; /* the violation at the last computation of f in double precision */
  /* All that changes from round to round but numbers, in one piece of memory, which begins with
   * the numbers while a checkpoint has it. */
  svm_now *kept;
  size_t kept_bytes;
  svm_row *all; /* of all rows of the function */
  /* the rows that are not set aside */
  size_t count;
  size_t *place; /* in out->rows */
  svm_row *row;
  double *f;
  unsigned char *settled; /* for how many rounds */
  svm_rows rows;
  double *own; /* rows.x, once some are set aside */
  double *squares;
  svm_cache cache;
  /* the working set, oldest first; those whose kernel values are missing; what changed */
  size_t set_count, fresh_count, changed;
  size_t *set, *fresh;
  bool *in_set;
  double *change;
  float **fresh_values;
  const float **change_values;
  svm_rows gathered; /* rows of `fresh` */
  double *gathered_x, *gathered_squares;
  svm_smo smo;
  double most, least; /* ends of the violation */
  /* the support vectors, while f is computed anew */
  svm_rows vectors;
  double *vector_x, *vector_squares, *vector_b;
} svm_machine;

/* Size of the working set for n rows. */
size_t svm_set_room(size_t n);

/* Releases all memory of the machine, whether reserve succeeded or not. */
void svm_machine_release(svm_machine *m);

/* Allocates the arrays for functions of up to n rows of d columns, and a cache of m->megabytes.
 * After a failure the machine must still be released. */
scl_status svm_machine_reserve(svm_machine *m, size_t n, size_t d, scl_error *error);

/* Copies the changing numbers to m->kept, and from there to a machine whose memory a checkpoint has
 * filled: its function must be begun (m->out). */
void svm_machine_pack(svm_machine *m);
scl_status svm_machine_unpack(svm_machine *m, scl_error *error);

/* Starts with all rows, and with the current coefficients and f. */
void svm_machine_all(svm_machine *m);

/* Copies the coefficients of the rows at work to m->out. */
void svm_machine_store(svm_machine *m);

/* Computes m->most, the largest up - f, and m->least, the least low - f, over the rows at work; the
 * solution is optimal where most <= least. */
void svm_machine_ends(svm_machine *m);

/* Counts for how many rounds each row has looked settled, and sets rows aside that have for
 * SVM_PATIENCE rounds, if these are at least a third of all. */
scl_status svm_machine_shrink(svm_machine *m, scl_error *error);

/* ------------ round.c */

/* One round: chooses the working set, computes its missing kernel values, solves it, updates f of
 * all rows at work, and shrinks. */
scl_status svm_machine_round(svm_machine *m, scl_error *error);

/* ------------ machine.c */

/* Begins function `function` (from 1), m->out, without coefficients. */
void svm_machine_begin(svm_machine *m, size_t function);

/* One round, or f in double precision where rounds have ended. *done: m->out is solved. */
scl_status svm_machine_step(svm_machine *m, bool *done, scl_error *error);

#endif
