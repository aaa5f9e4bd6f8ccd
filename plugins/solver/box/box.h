/* Learning in a box: the parts of the methods of box.c. */
#ifndef SCULLERY_SOLVER_BOX_H
#define SCULLERY_SOLVER_BOX_H

#include "shared/losses.h"
#include "shared/refined_solve.h"

/* ------------ interior.c */

typedef struct interior_box {
  const scl_host *host;
  size_t order;
  double bound;
  scl_symmetric *matrix; /* its Cholesky factor; NULL: the caller solves the system */
  double *a, *upper, *lower, *upper_goal, *lower_goal; /* order numbers each, as the next three */
  double *descent;                                     /* -grad loss(a), set by the caller */
  double *step, *work;
  double constant;                       /* an intercept */
  double *best, best_constant, best_gap; /* the point whose gap was the least; INFINITY: none */
  double least_gap, first_gap;           /* since the start */
  int idle;                              /* steps since it last halved, once it is small */
} interior_box;

void interior_box_close(interior_box *b);

/* with_matrix: for interior_box_factor and interior_box_direct. */
scl_status interior_box_open(interior_box *b, const scl_host *host, size_t order, double bound,
                             bool with_matrix, scl_error *error);

/* Starts at the centre of the box with all complementarity products equal to mu. */
void interior_box_start(interior_box *b, double mu);

/* Stores the current point if its gap is the smallest so far. Returns whether to go on: rounding
 * stops the progress before the gap reaches 0. */
bool interior_box_note(interior_box *b, double gap);

/* The barrier's term in entry j of the Hessian's diagonal: upper/(bound-a) + lower/(bound+a). */
double interior_box_barrier(const interior_box *b, size_t j);

/* Factors H + diag(...). Where that is singular to working precision, a share of each diagonal
 * entry is added: the step then differs, but the gap is still that of the original problem. */
scl_status interior_box_factor(interior_box *b, const scl_symmetric *hessian, scl_error *error);

/* All products are to become mu. */
void interior_box_aim(interior_box *b, double mu);

/* As aim, less what the step that was found (towards 0) would add at second order. */
void interior_box_correct(interior_box *b, double mu);

/* Writes the right-hand side of Newton's system to step. */
void interior_box_side(interior_box *b);

/* Solves for Newton's step from descent, the goals and the factor. */
scl_status interior_box_direct(interior_box *b, scl_error *error);

/* Sum of the 2 D complementarity products after steps of these lengths. */
double interior_box_products(const interior_box *b, double primal, double dual);

/* Reduces *length to keep from + length * by > 0, with a small margin. */
void interior_limit(double from, double by, double *length);

/* Reduces the step lengths until a stays strictly inside the box (primal) and the multipliers stay
 * positive (dual). */
void interior_box_limit(const interior_box *b, double *primal, double *dual);

/* Takes the step found, a by the length `primal` and the multipliers by `dual`. Rounding cannot put
 * a on a bound: the barrier would divide by 0 there. */
void interior_box_move(interior_box *b, double primal, double dual);

/* The centring parameter mu of the corrector step, from the sums of the products before and
 * after the predictor step: the more the predictor reduced the sum, the smaller mu. */
double interior_goal(double before, double after, double number);

/* The next mu as a share of the mean product, for methods without a predictor step: small after
 * long steps, larger after short ones. */
double interior_share(double length);

/* ------------ interior_quadratic.c */

/* min_u (1/2) u'M u - right'u in the box, for one call; nothing in it is owned. */
typedef struct interior_quadratic {
  interior_box *box;
  const scl_problem *problem;  /* whose progress is reported */
  const scl_symmetric *matrix; /* M */
  const double *right;         /* order numbers at `stride` */
  size_t stride, most;         /* steps */
} interior_quadratic;

/* Moves coefficients within rounding of a bound onto it, where that does not widen the gap. */
scl_status interior_quadratic_settle(const interior_quadratic *q, scl_error *error);

/* Iterates until the gap is at most `goal`; the best point of the box is the one of least gap.
 * Where the system does not factor, rounding allows no better point, and the gap says how good
 * it is. */
scl_status interior_quadratic_follow(const interior_quadratic *q, double goal, size_t *steps,
                                     scl_error *error);

/* ------------ quadratic.c */

typedef struct box_quadratic {
  const scl_problem *problem;
  const scl_host *host;
  scl_symmetric *hessian;
  double bound, shift;
  double goal; /* duality gap at which to end */
  size_t order;
  const double *a, *descent;
  double *step;               /* the best d */
  double *d, *image, *column; /* order numbers each; image: H d */
  double *right;              /* and of the system */
  size_t *open;               /* coordinates that are not held */
  signed char *held;          /* -1, 0, 1 */
} box_quadratic;

/* Releases what box_quadratic_open allocated; hessian, a, descent and step belong to the box. */
void box_quadratic_close(box_quadratic *q);

scl_status box_quadratic_open(box_quadratic *q, const scl_problem *problem, const interior_box *b,
                              scl_error *error);

/* Solves the quadratic and writes d to q->step. The caller sets q->shift and q->goal. d = 0
 * where no descent direction was found. */
scl_status box_quadratic_minimise(const box_quadratic *q, scl_error *error);

/* ------------ rows.c */

/* The columns to be multiplied by Phi': v + e; W; the positive and the negative part of v. */
enum { ROWS_DESCENT, ROWS_WEIGHT, ROWS_POSITIVE, ROWS_NEGATIVE, ROWS_COLUMNS };

/* The rows of one target, with the multipliers and slacks of losses that are constraints. Formulas
 * and symbols are those of rows.c. */
typedef struct box_rows {
  const loss_choice *choice;
  bool smooth, capped; /* capped: high is finite */
  double low, high, bend;
  size_t count;
  /* count numbers each; v: minus the slope of the loss; below and above: s - p low and p high -
   * s */
  double *y, *p, *f, *df, *v, *below, *above, *under, *over, *weight, *below_goal, *above_goal;
  double *columns; /* count x ROWS_COLUMNS */
} box_rows;

size_t box_rows_numbers(size_t count);

/* Places the arrays in box_rows_numbers(count) numbers of the caller's. */
box_rows box_rows_in(double *memory, size_t count, const loss_choice *choice);

/* y_i for losses of classes, else 1. */
double box_rows_sign(const box_rows *r, size_t i);

/* Initialises f = 0 and, for constrained rows, a strictly interior point. y and p must be set. */
void box_rows_start(box_rows *r);

/* Number of complementarity products of the rows. */
size_t box_rows_number(const box_rows *r);

/* All products are to become mu. */
void box_rows_aim(box_rows *r, double mu);

/* Fills `columns` and `weight` for a step towards the goals. */
void box_rows_prepare(box_rows *r);

/* As aim, less what the step that was found (towards 0) would add at second order. */
void box_rows_correct(box_rows *r, double mu);

/* Sum of the rows' products after steps of these lengths (both 0: as they are). */
double box_rows_products(const box_rows *r, double primal, double dual);

/* Reduces the step lengths until the slacks (primal) and the multipliers (dual) stay positive. */
void box_rows_limit(const box_rows *r, double *primal, double *dual);

/* Takes the step: multipliers by `dual`, slacks and the scores f by `primal`. */
void box_rows_move(box_rows *r, double primal, double dual);

/* The mean loss after a step of this length. */
double box_rows_loss(const box_rows *r, double length);

/* The duality gap; pulled: D x ROWS_COLUMNS, Phi' columns. */
double box_rows_gap(const box_rows *r, const double *pulled, size_t order, double bound,
                    bool intercept);

/* ------------ wide.c */

static const size_t WIDE_BYTES = 256000000;
enum { WIDE_TILE = 128 }; /* rows that are divided by E at a time */
/* State of the n x n system of wide.c. All arrays are parts of `memory`. */
typedef struct box_wide {
  const scl_problem *problem;
  size_t count, order, most, first, held_rows; /* n, D; rows that fit; those that are held */
  double *memory, *held;                       /* held: most x D, rows as they are */
  double *chunk;                               /* WIDE_TILE x D, rows over E */
  double *over;                                /* 1/E; D numbers */
  double *diagonal;                            /* W^-1, n numbers */
  double *sides, *solved;                      /* n x (1, with an intercept 2) */
  double *pulled, *right, *rest;               /* D numbers each */
  const double *weights;                       /* n; the caller's */
  size_t chunk_first, filled;
  double rho;
  scl_symmetric *outer; /* T + rho 11' */
  refined_system system;
} box_wide;

/* Whether the n x n system is used: more than two features per row, and a problem whose rows may be
 * read (exact < 2). */
bool box_wide_fits(const scl_problem *problem);

void box_wide_close(box_wide *w);

/* bytes: of the rows that are held, or a little more. */
scl_status box_wide_open(box_wide *w, const scl_problem *problem, size_t bytes, scl_error *error);

/* Row i of a block in float64. */
void box_wide_row(const scl_rows *rows, size_t i, size_t order, double *to);

/* Forms T and W^-1 for the barrier and the row weights. A row without curvature gets a W^-1 so
 * large that its z is 0. */
scl_status box_wide_factor(box_wide *w, const interior_box *b, const double *weights,
                           scl_error *error);

/* Solves for the step da in b->step, which holds the right-hand side r; *by receives q. pull: t,
 * the right-hand side of the intercept. change (n): the resulting change of the scores. The
 * solution is refined, as E^-1 (r - Phi'z) loses digits where E is small. */
scl_status box_wide_direct(box_wide *w, interior_box *b, double pull, double *by, double *change,
                           scl_error *error);

/* ------------ newton.c */

typedef struct box_newton {
  const scl_problem *problem;
  interior_box *box;
  box_rows *rows;
  double *pulled;        /* D x ROWS_COLUMNS: Phi' columns */
  double *guess;         /* of s, in units of p; rows without curvature alone */
  double *used;          /* the weights in H */
  double *mean;          /* sum_i used_i phi_i, D numbers */
  double *gained, *lost; /* NEWTON_CHUNK x D each: rows to add to H, and to take from it */
  size_t gains, losses;
  scl_symmetric *hessian;
  box_quadratic quadratic;
  double largest;                             /* p */
  double delta, least_delta, gap, gap_before; /* before: at the last guess */
  bool guessed;                               /* since the last step */
  int idle;                                   /* steps of length 0 at the end */
} box_newton;

void box_newton_close(box_newton *m);

/* Starts at a = 0. Uses the row arrays of the interior point method as scratch. */
scl_status box_newton_open(box_newton *m, const scl_problem *problem, interior_box *b,
                           box_rows *rows, double *pulled, scl_error *error);

/* Sets the constant of the best point to the middle of the interval of minimisers that a hinge
 * loss often has. */
scl_status box_newton_centre(const box_newton *m, scl_error *error);

/* Iterates until the gap is at most `goal` or progress ends. The best point is left in the box. */
scl_status box_newton_follow(box_newton *m, double goal, size_t most, size_t *steps,
                             scl_error *error);

#endif
