/* scullery/plugin/solver.h: solvers. A solver gets a problem, not a matrix. It does not depend on
 * where rows come from: streamed rows give the same numbers as rows in memory.
 *
 * n rows, D features, c targets. Classification: targets are +-1, one column for two classes, else
 * one for each class. */
#ifndef SCULLERY_PLUGIN_SOLVER_H
#define SCULLERY_PLUGIN_SOLVER_H

#include "host.h"
#include "rows.h"

enum { SCL_TASK_REGRESSION = 0, SCL_TASK_CLASSIFICATION };
typedef int32_t scl_task;

/* Weighted sums over the rows. With an intercept they are centred. */
typedef struct scl_normal {
  scl_head head;
  const scl_symmetric *moment; /* Phi'Phi */
  const double *right;         /* Phi'Y, D x c */
  const double *square;        /* y'y of each target */
  double total;                /* sum of the row weights: n without weights */
} scl_normal;
#define SCL_LEAST_NORMAL SCL_THROUGH(scl_normal, total)

/* Replace scores (count x k, Phi a) by residuals. Do not read rows->features: they may have any
 * dtype or be sparse. */
typedef scl_status (*scl_turn)(void *context, const scl_rows *rows, double *scores,
                               scl_error *error);

/* A part of a solver's state: `size` bytes at `data`. */
typedef struct scl_state_part {
  void *data;
  size_t size;
} scl_state_part;

/* The problem to solve. Its functions ("verbs") are [one]; do not call them within a visit. */
typedef struct scl_problem scl_problem;
struct scl_problem {
  scl_head head;
  const scl_host *host;
  size_t rows, features, targets;
  scl_task task;
  scl_dtype dtype;     /* of the features; blocks are of a type that the solver takes */
  size_t classes;      /* 0 for regression */
  uint32_t has_kernel; /* not 0: gram() is available */
  /* Not 0: fit an unpenalised constant. normal and dual are centred. Every other verb gives
   * features, and in a regression targets, either unchanged or minus a constant row that the host
   * chose (their pilot means, if these are far from 0): the host corrects the intercept for that
   * row. */
  uint32_t intercept;
  /* Not 0: solution->coefficients is preset to a starting point. Else it is preset to 0. */
  uint32_t warm;
  uint32_t reserved;
  /* Features are exp(-log_scale) times the true ones: not 0 only if the true ones would
   * underflow. */
  double log_scale;
  size_t allowance;  /* bytes of row blocks that the host may keep between passes */
  size_t parameters; /* T; 0: the features are not made by a map */
  /* 0: rows are dense. Else they are sparse, with at most this number of entries each: only for
   * solvers with SCL_ABILITY_SPARSE_ROWS. */
  size_t entries;
  /* The targets (n x c) and row weights (n) in the order of walk, without making features; either
   * may be NULL. */
  scl_status (*responses)(const scl_problem *problem, double *targets, double *weights,
                          scl_error *error);
  /* Visit all row blocks in order. */
  scl_status (*walk)(const scl_problem *problem, scl_visit visit, void *context, scl_error *error);
  /* The accumulated normal equations. The problem owns the arrays in *out, which are constant until
   * `reweighted` is called. One pass, shared by all folds and by all values of a path. Like every
   * verb it may fail: `solve` then returns its status and calls no other verb. */
  scl_status (*normal)(const scl_problem *problem, scl_normal *out, scl_error *error);
  /* Phi Phi' (n x n) and the targets (n x c; centred with an intercept), for D > n; the problem
   * owns them. SCL_STATUS_UNSUPPORTED if rows have weights: use `normal`. */
  scl_status (*dual)(const scl_problem *problem, const scl_symmetric **outer,
                     const double **targets, scl_error *error);
  /* G_ij = K(w_i, w_j) in the features' own scale, exp(-2 log_scale) G, so that a'Ga is the squared
   * norm. The problem owns it. */
  scl_status (*gram)(const scl_problem *problem, const scl_symmetric **out, scl_error *error);
  /* out (n x k) = Phi a, a D x k; out (D x k) = Phi' r, r n x k. One pass each. */
  scl_status (*product)(const scl_problem *problem, const double *a, size_t k, double *out,
                        scl_error *error);
  scl_status (*adjoint)(const scl_problem *problem, const double *r, size_t k, double *out,
                        scl_error *error);
  /* out (D x k) = Phi' turn(Phi a), a D x k, in one pass. */
  scl_status (*sweep)(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                      void *context, double *out, scl_error *error);
  /* The normal equations with these row weights (n, in the order of walk) instead of those of
   * the problem, which owns the sums until the next call. One pass. */
  scl_status (*reweighted)(const scl_problem *problem, const double *weights, scl_normal *out,
                           scl_error *error);
  /* `size` rows drawn by (seed, step) with replacement, passed to visit in one block that has only
   * features first .. first+count-1. `plain` not 0: phi(w_t, x) itself, unscaled, if the features
   * are its expectation under K. Streams give the same rows as data in memory; one pass over a
   * stream serves as many steps as fit into the allowance, so ask for steps in order. */
  scl_status (*minibatch)(const scl_problem *problem, uint64_t seed, uint64_t step, size_t size,
                          size_t first, size_t count, int32_t plain, scl_visit visit, void *context,
                          scl_error *error);
  /* Report progress, in [0, 1], and the loss (NaN: not known). SCL_STATUS_CANCELLED: the user asked
   * to stop. */
  scl_status (*progress)(const scl_problem *problem, const char *doing, double done, double loss,
                         scl_error *error);
  /* For methods that stop early. Set about `share` of the rows aside, drawn by (seed, row). Call
   * it once, before all other verbs: `minibatch` then draws only from the others, and `responses`
   * gives weight 0 to those set aside. `rows` counts all. *count: how many are set aside.
   * SCL_STATUS_BAD_OPTION: one of the two parts would have no weight. */
  scl_status (*hold_out)(const scl_problem *problem, double share, uint64_t seed, size_t *count,
                         scl_error *error);
  /* Visit the rows set aside, with only the features first .. first+count-1, as `minibatch`
   * does. */
  scl_status (*held)(const scl_problem *problem, size_t first, size_t count, scl_visit visit,
                     void *context, scl_error *error);
  /* Approximate rounding error of the entries of `normal` and `dual`, relative to the square root
   * of the product of the two diagonal entries. It depends on the type in which features are
   * summed, not on the type that the solver takes. */
  double rounding;
  /* D powers of two near the standard deviations of the features in the first rows: for norms and
   * first steps if columns differ much in size. NULL: all are of a size near 1, or the sizes are
   * not known. */
  const double *scale;
  /* sums[j] = the sum of column j of `values` (count x k) over rows: for each sum over rows that a
   * solver makes itself (losses, weights, slopes of the constant). The sums are exact and rounded
   * once, so that they do not depend on the order of the rows. Numbers that a visit or a turn makes
   * are stored by row, and summed afterwards. */
  scl_status (*total)(const scl_problem *problem, const double *values, size_t count, size_t k,
                      double *sums, scl_error *error);
  /* 1: `normal` is exact but for one rounding of each entry, because features are whole numbers:
   * passes over the rows do not improve a solution of it. 2: besides, the rows must not be read, or
   * cannot be: solve from `normal` alone, or fail. 0: neither. */
  uint32_t exact, unused;
  /* For a solver whose own loop takes long between passes over the rows. Call it at the head of an
   * iteration, always with the same parts: the memory that, with the options, determines all
   * further work (iterates, counters). If a checkpoint has a state, the first call copies it to the
   * parts, and *restored is not 0: go on from there, with the same bits. Other calls store the
   * parts from time to time. Solvers that work by passes (product, adjoint, sweep) need not call
   * it: the host records the results of their passes. */
  scl_status (*keep)(const scl_problem *problem, const scl_state_part *parts, size_t count,
                     int32_t *restored, scl_error *error);
  /* c numbers that the host subtracted from the targets of a regression (see `intercept`): a loss
   * that is no function of f - y needs them. NULL: none. */
  const double *target_shift;
  /* Not 0: rows are compressed sparse rows (scl_rows.csr): for solvers with SCL_ABILITY_CSR_ROWS.
   * The host subtracts nothing from them. */
  uint32_t csr, unused_too;
  /* All rows of such a problem at once, in the order of walk; the problem owns them. Their type is
   * `dtype`. */
  scl_status (*sparse_rows)(const scl_problem *problem, scl_const_csr *out, scl_error *error);
  /* Not 0: rows were left out, by which the solutions of several values of an option are compared:
   * a solver may end where their scores hardly change any more. */
  uint32_t scored, unused_last;
  /* With a kernel K: *theta = the largest |f(x)|, over all x, of functions of norm 1, in true units;
   * infinite for a nonlinearity that has no bound. */
  scl_status (*reach)(const scl_problem *problem, double *theta, scl_error *error);
};
#define SCL_LEAST_PROBLEM SCL_THROUGH(scl_problem, progress)

enum {
  SCL_OUTCOME_NONE = 0,  /* preset; the host refuses a solution that leaves it */
  SCL_OUTCOME_CONVERGED, /* the optimality condition holds to `tolerance` */
  SCL_OUTCOME_STOPPED,   /* did the requested number of steps (stochastic methods) */
  SCL_OUTCOME_LIMIT      /* iterations exhausted before that: the user is warned */
};
typedef int32_t scl_outcome;

/* The result and its accuracy. Fill it in member by member. */
typedef struct scl_solution {
  scl_head head;
  double *coefficients; /* D x c, the caller's */
  /* c numbers, the caller's; NULL: no intercept. Preset to NaN. If the solver leaves it NaN,
   * the host computes mean y - mean phi a, with the row weights of the last call of `normal` or
   * `reweighted`. */
  double *intercept;
  scl_outcome outcome;
  uint32_t reserved;
  size_t iterations;
  /* Preset to NaN: not known. The residual is in the norm in which `tolerance` is measured. */
  double gap, residual, tolerance;
  double jitter;  /* added to the diagonal of a singular system; preset to 0 */
  double score;   /* the solver's estimate of the risk (SCL_ROLE_ESTIMATE); preset to NaN: none */
  char note[200]; /* a sentence for the user; preset to the empty text */
  size_t kept;    /* rows that a model keeps (support vectors); preset to 0: not told */
} scl_solution;
#define SCL_LEAST_SOLUTION SCL_THROUGH(scl_solution, note)

typedef struct scl_solver {
  scl_head head;
  scl_kind kind;   /* SCL_KIND_SOLVER */
  uint32_t dtypes; /* of blocks that it takes; 0: float64 only */
  /* NULL for a solver that makes models (SCL_ABILITY_MODEL). [any], one thread for each problem */
  scl_status (*solve)(const void *self, const scl_problem *problem, scl_solution *out,
                      scl_error *error);
} scl_solver;
#define SCL_LEAST_SOLVER SCL_THROUGH(scl_solver, solve)
#define SCL_SOLVER(...) SCL_VTABLE(SCL_KIND_SOLVER, scl_solver, __VA_ARGS__)

/* ------------ abilities */

/* Many values of one option on one problem, with shared work: the same numbers as one `solve` for
 * each, to the tolerance. out[i] belongs to values[i]; the solver chooses the order. [any], one
 * thread for each problem */
#define SCL_ABILITY_PATH "scullery.path/1"
typedef struct scl_ability_path {
  scl_head head;
  const char *option;
  scl_status (*solve)(const void *self, const scl_problem *problem, const double *values,
                      size_t count, scl_solution *const *out, scl_error *error);
  /* Not 0: values share work on compressed sparse rows alone (scl_problem.csr). On other rows the
   * host calls `solve` of the solver for each. */
  uint32_t sparse_only, unused;
} scl_ability_path;
#define SCL_LEAST_ABILITY_PATH SCL_THROUGH(scl_ability_path, solve)

/* A table without members: this solver reads sparse rows. For other solvers the host makes rows
 * dense, or fails if they do not fit into memory. */
#define SCL_ABILITY_SPARSE_ROWS "scullery.sparse-rows/1"
typedef struct scl_ability_sparse_rows {
  scl_head head;
} scl_ability_sparse_rows;
#define SCL_LEAST_ABILITY_SPARSE_ROWS sizeof(scl_head)

/* A table without members: this solver reads compressed sparse rows, in which text and many LIBSVM
 * files come (scl_problem.csr). For other solvers the host makes rows dense, or fails if they do
 * not fit into memory. The verbs product, adjoint, sweep, responses and total work on such rows
 * too, so that a solver which reads rows by these alone can declare it. */
#define SCL_ABILITY_CSR_ROWS "scullery.csr-rows/1"
typedef struct scl_ability_csr_rows {
  scl_head head;
} scl_ability_csr_rows;
#define SCL_LEAST_ABILITY_CSR_ROWS sizeof(scl_head)

/* A table without members: what this solver finds depends on the order of the rows, as descent on
 * single rows does. Where features take two values or are whole numbers, so that sums over the rows
 * are exact, the host gives it the rows in an order that depends on their contents alone, and the
 * solution does not depend on the order of the data. Places of rows are places in that order. So it
 * does for solvers with SCL_ABILITY_MODEL. */
#define SCL_ABILITY_ORDERED_ROWS "scullery.ordered-rows/1"
typedef struct scl_ability_ordered_rows {
  scl_head head;
} scl_ability_ordered_rows;
#define SCL_LEAST_ABILITY_ORDERED_ROWS sizeof(scl_head)

/* A table without members: in a fit by several processes, this solver works on the rows of its
 * process. `product` and the turns of `sweep` then give scores of these rows alone (those of others
 * are 0, and no turn is called for them; a process without rows gets one call with no rows),
 * `adjoint` reads these rows of r alone, and the sums of all rows come from `adjoint`, `sweep` and
 * `total`: the solver makes no other sum, maximum or choice over rows. Without this ability every
 * process gets all scores and makes all turns, after an exchange of the scores. */
#define SCL_ABILITY_ROWS_APART "scullery.rows-apart/1"
typedef struct scl_ability_rows_apart {
  scl_head head;
} scl_ability_rows_apart;
#define SCL_LEAST_ABILITY_ROWS_APART sizeof(scl_head)

/* A table without members: in a fit by several processes, whose matrices would not fit into the
 * memory of one, `normal` may give this solver a matrix of which each process stores some rows of
 * tiles. The solver uses only copy, add, scale, shift, set, diagonal, multiply, factor, solve and
 * triangular of host->symmetric on it, makes others by create_like, and all processes make the same
 * calls in the same order. Results have the bits of one process. */
#define SCL_ABILITY_SHARED_TILES "scullery.shared-tiles/1"
typedef struct scl_ability_shared_tiles {
  scl_head head;
} scl_ability_shared_tiles;
#define SCL_LEAST_ABILITY_SHARED_TILES sizeof(scl_head)

/* The penalty. By it the host decides whether the model has a constant, and in which coordinates it
 * states features whose parameters have a kernel K. Without this ability the host assumes
 * SCL_PENALTY_L2. */
enum {
  SCL_PENALTY_NONE = 0, /* no penalty on coefficients */
  SCL_PENALTY_L2,       /* ||a||^2 */
  SCL_PENALTY_L1,       /* ||a||_1, with or without ||a||^2 */
  SCL_PENALTY_BOX,      /* bounds on each |a_t| */
  SCL_PENALTY_RKHS,     /* a'Ga */
  /* Any penalty on coefficients with bounds that their signs decide, such as a_t >= 0: the negated
   * targets, or a column times -1, have another solution. The model has a constant, and features
   * are stated as under SCL_PENALTY_L1. */
  SCL_PENALTY_SIGNS,
  /* Any other on coefficients, such as that of differences of neighbouring ones: rows that are
   * turned, whose columns change places, or with columns of zeros, may have another solution. The
   * rest is as under SCL_PENALTY_L1. */
  SCL_PENALTY_OTHER
};
typedef int32_t scl_penalty;

#define SCL_ABILITY_PENALTY "scullery.penalty/1"
typedef struct scl_ability_penalty {
  scl_head head;
  scl_penalty (*penalty)(const void *self); /* [any] */
} scl_ability_penalty;
#define SCL_LEAST_ABILITY_PENALTY SCL_THROUGH(scl_ability_penalty, penalty)

/* A solver that finds its solution from `normal` and `gram` alone. Where rows fall into few kinds,
 * the host then states the problem in fewer coordinates than there are features, and changes the
 * solution back; the penalty must be SCL_PENALTY_L2 or SCL_PENALTY_RKHS. In such coordinates
 * `responses`, `product`, `adjoint` and `sweep` work too, so that a solution can be refined; the
 * other verbs that read rows are SCL_STATUS_UNSUPPORTED. A solver without this ability is always
 * given the features. */
#define SCL_ABILITY_NORMAL "scullery.normal/1"
typedef struct scl_ability_normal {
  scl_head head;
  /* Whether that holds (0: no) for this problem, stated in the features, and for `count` values of
   * the path option (NULL: the value of the instance). Do not call verbs of the problem. weighted:
   * not 0 where rows have weights, so that `dual` is not supported. [any] */
  int32_t (*alone)(const void *self, const scl_problem *problem, const double *values, size_t count,
                   int32_t weighted);
} scl_ability_normal;
#define SCL_LEAST_ABILITY_NORMAL SCL_THROUGH(scl_ability_normal, alone)

/* The loss that is minimised, for bounds and probabilities. A row has c scores f and c targets y.
 * [any] */
#define SCL_ABILITY_LOSS "scullery.loss/1"
typedef struct scl_ability_loss {
  scl_head head;
  double (*value)(const void *self, size_t c, const double *f, const double *y);
  /* out (c numbers) = a (sub)gradient in f; may be f */
  void (*slope)(const void *self, size_t c, const double *f, const double *y, double *out);
  /* One target in [-1, 1], |f| <= reach: the largest value, and the Lipschitz constant in f. */
  double (*bound)(const void *self, double reach);
  double (*lipschitz)(const void *self, double reach);
  /* out: a probability for each class. NULL, or returns 0: the loss defines none, and the host
   * calibrates. */
  int32_t (*probabilities)(const void *self, size_t c, const double *f, double *out);
  /* Regressions. out (c numbers) = the means of the targets at the scores f, which are then what
   * the user gets as predictions. NULL, or returns 0: the scores are the predictions. */
  int32_t (*means)(const void *self, size_t c, const double *f, double *out);
  /* Regressions. How many scores each target has, side by side: the problem has each target so many
   * times in a row. NULL: 1. */
  size_t (*outputs)(const void *self);
  /* `means` of one score as an expression of C in the double f: as formula of scl_nonlinearity. */
  int (*formula)(const void *self, char *text, size_t size);
} scl_ability_loss;
#define SCL_LEAST_ABILITY_LOSS SCL_THROUGH(scl_ability_loss, lipschitz)

/* *value = what `solve` minimises, at any coefficients (D x c) and intercept (c; NULL: none), so
 * that a check can compare solutions. [any], as solve */
#define SCL_ABILITY_OBJECTIVE "scullery.objective/1"
typedef struct scl_ability_objective {
  scl_head head;
  scl_status (*objective)(const void *self, const scl_problem *problem, const double *coefficients,
                          const double *intercept, double *value, scl_error *error);
} scl_ability_objective;
#define SCL_LEAST_ABILITY_OBJECTIVE SCL_THROUGH(scl_ability_objective, objective)

/* What scl_parts.fit learns from in place of the problem's own. */
typedef struct scl_replaced {
  scl_head head;
  const double *weights; /* n row weights, in the order of walk; NULL: those of the problem */
  const double *targets; /* n x c numbers, of a regression; NULL: those of the problem */
} scl_replaced;
#define SCL_LEAST_REPLACED SCL_THROUGH(scl_replaced, targets)

/* Named arrays of a saved model. Names: a-z, 0-9, _ and dots; at most 60 characters. */
typedef struct scl_archive scl_archive;
struct scl_archive {
  scl_head head;
  /* Saving: add an array; its numbers are copied. [one] */
  scl_status (*put)(scl_archive *archive, const char *name, const scl_array *array,
                    scl_error *error);
  /* Loading: find an array of this dtype and rank, and of size sizes[i] where that is not 0; *out
   * is valid until `load` returns. SCL_STATUS_BAD_DATA: there is no such array, or a number in it
   * is not finite. [one] */
  scl_status (*get)(const scl_archive *archive, const char *name, scl_dtype dtype, uint32_t rank,
                    const size_t *sizes, scl_array *out, scl_error *error);
  /* Loading: whether there is an array of that name. [one] */
  int32_t (*has)(const scl_archive *archive, const char *name);
};
#define SCL_LEAST_ARCHIVE SCL_THROUGH(scl_archive, get)

/* A solver whose prediction is not Phi a (nearest neighbours, boosted stumps, kernel machines on
 * rows): the host calls fit in place of solve. */
#define SCL_ABILITY_MODEL "scullery.model/1"
typedef struct scl_ability_model {
  scl_head head;
  /* *model = the data that `decide` uses; out->coefficients and intercept are NULL, other members
   * are filled in as by `solve`. [any], one thread for each problem */
  scl_status (*fit)(const void *self, const scl_problem *problem, void **model, scl_solution *out,
                    scl_error *error);
  /* scores (rows x c at stride, float64) of rows (rows x features, of a type that the solver
   * takes). [any] */
  scl_status (*decide)(const void *self, const void *model, const scl_const_block *rows,
                       double *scores, ptrdiff_t stride, scl_error *error);
  /* To arrays and back. `load` gets the sizes of the model and checks the arrays itself: a fault is
   * SCL_STATUS_BAD_DATA. [any], one thread for each archive */
  scl_status (*save)(const void *self, const void *model, scl_archive *archive, scl_error *error);
  scl_status (*load)(const void *self, const scl_archive *archive, size_t features, size_t targets,
                     void **model, scl_error *error);
  void (*destroy)(const void *self, void *model); /* [any] */
} scl_ability_model;
#define SCL_LEAST_ABILITY_MODEL SCL_THROUGH(scl_ability_model, destroy)

/* SCL_ABILITY_PATH of a solver that makes models: models[i] and out[i] are those of values[i], as
 * `fit` of SCL_ABILITY_MODEL makes them. A call that fails leaves no models. [any], one thread for
 * each problem */
#define SCL_ABILITY_MODEL_PATH "scullery.model-path/1"
typedef struct scl_ability_model_path {
  scl_head head;
  const char *option;
  scl_status (*fit)(const void *self, const scl_problem *problem, const double *values,
                    size_t count, void **models, scl_solution *const *out, scl_error *error);
} scl_ability_model_path;
#define SCL_LEAST_ABILITY_MODEL_PATH SCL_THROUGH(scl_ability_model_path, fit)

/* What solving a problem will take, for a plan before it starts. The host knows what the verbs of
 * the problem take: say how often they are called. Numbers that depend on the rows are typical
 * ones, or the limit of an option, and the note says which. All are preset to 0. */
typedef struct scl_cost {
  scl_head head;
  double normal, reweighted, dual, gram; /* calls of these verbs; only the first one of normal,
                                            dual and gram is work */
  double passes;     /* over all rows: calls of walk, product, adjoint and sweep */
  double columns;    /* k of these passes */
  double minibatch;  /* features that minibatches make: rows times features */
  double factorised; /* floating-point operations of Cholesky factorisations: n^3 / 3 of order n */
  double products;   /* of matrix products: 2 n d m for n x d times d x m */
  double steps;      /* of everything else */
  double bytes;      /* the most memory that the solver itself has allocated at one time */
  char note[120];    /* "100 passes are typical"; preset to the empty text */
  /* Preset to the rows that a model will keep, where models of the first rows, which a plan has
   * tried, told theirs (scl_solution.kept); 0: not known. */
  double kept;
} scl_cost;
#define SCL_LEAST_COST SCL_THROUGH(scl_cost, note)

/* What a solve or fit takes. A solver without this ability is taken to solve one system of order D
 * from `normal` if it has SCL_ABILITY_NORMAL, else to make 100 passes. */
#define SCL_ABILITY_COST "scullery.cost/1"
typedef struct scl_ability_cost {
  scl_head head;
  /* For `count` values of the path option (NULL: the value of the instance), weighted as for
   * SCL_ABILITY_NORMAL. Do not call verbs of the problem. [any] */
  void (*cost)(const void *self, const scl_problem *problem, const double *values, size_t count,
               int32_t weighted, scl_cost *out);
} scl_ability_cost;
#define SCL_LEAST_ABILITY_COST SCL_THROUGH(scl_ability_cost, cost)

#endif
