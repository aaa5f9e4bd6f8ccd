/* What the files of problems share: problem.c opens, solves and closes them; problem_walk.c,
 * problem_normal.c, problem_passes.c, problem_turns.c, problem_divided.c, problem_log.c,
 * problem_dual.c, problem_minibatch.c, problem_holdout.c, problem_csr.c and problem_reduced.c answer
 * what a solver may ask. */
#ifndef SCULLERY_PROBLEM_INTERNAL_H
#define SCULLERY_PROBLEM_INTERNAL_H

#include "algebra/exact.h"
#include "base/profile.h"
#include "base/progress.h"
#include "learn/model.h"
#include "learn/reduced.h"
#include "plugin/solver.h"
#include "rows/keep.h"
#include "rows/ordered.h"
#include "rows/pilot_means.h"
#include "rows/ways.h"
#include <pthread.h>

struct scl_training {
  pthread_mutex_t lock; /* protects the members after `allowance`, and walks over the flow: several
                           problems are solved at the same time */
  scl_flow flow;
  scl_task task;
  size_t classes, allowance;
  scl_pilot pilot; /* pilot means, subtracted by the flow in problems with a constant only */
  bool has_pilot;  /* whether `pilot` is learnt */
  double *unit;    /* units (scl_flow.unit) of features from which nothing is subtracted; NULL: not
                      learnt, or those of `pilot` */
  const scl_sums_way *way; /* how the rows of `flow` are summed */
  scl_sums *sums;          /* NULL until they are asked for */
  const scl_training *few; /* its sums are some of these (scl_training_know_sums); NULL: none */
  scl_symmetric *gram;     /* G */
  scl_reduced *reduced[2]; /* for the penalties a'a and a'Ga; NULL until they are asked for */
  bool irreducible[2];     /* tried, and there are no such coordinates */
  scl_map *plain;          /* the map without K and scales, for minibatches */
  /* Cached blocks of features, of all rows and of the part of this process; NULL: not walked yet,
   * or too large. */
  scl_keep *kept, *kept_part;
  bool once;     /* one problem is solved: its sums may be spent */
  bool fixed;    /* units and pilot of the flow are those of given sums */
  bool by_sums;  /* solve from the sums over the rows alone, */
  bool given;    /* which are borrowed: there are no rows */
  size_t *order; /* of the rows by their contents (problem_order.c); NULL: not needed yet */
  scl_training *in_order; /* on the rows in that order; NULL: not needed yet */
  scl_ordered *ordered;   /* such a training: its rows; else NULL */
  bool keeps_no_more;     /* memory for the cache ran out once: do not try again */
  bool aside; /* problems are solved side by side: their passes are not recorded in a checkpoint */
};

/* Staged rows of the next minibatches, of a source that streams (problem_minibatch.c). */
typedef struct scl_window scl_window;
/* Rows held out for early stopping (problem_holdout.c). */
typedef struct scl_held scl_held;

/* Targets, weights and places of a problem's rows, for passes that are replayed (problem_log.c). */
typedef struct scl_row_facts scl_row_facts;

/* One solve: the rows of all groups but one, with the caches that its verbs fill. */
typedef struct solve_context solve_context;
struct solve_context {
  scl_problem problem; /* first: what the solver sees */
  scl_training *training;
  long without;               /* the group left out; -1: none */
  const scl_reduced *reduced; /* the problem's coordinates; NULL: the features themselves */
  scl_penalty penalty;        /* of the solver; used with `reduced` */
  solve_context *in_features; /* with `reduced`: the problem in the features, without caches */
  double *reduced_rows;       /* the problem's rows in these coordinates, n x k; NULL: not made */
  bool divided;               /* processes make its passes over parts of the rows, */
  bool apart;                 /* and its solver works on the rows of its process */
  bool same_calls;            /* the solver calls the algebra of matrices alike in all processes */
  bool have_totals, reweighted; /* reweighted: the moment is of the solver's own row weights */
  bool visiting;                /* the solver's visit or turn runs */
  double walked;                /* rows that were read or made by the verbs that pass over them */
  scl_totals totals;
  scl_symmetric *moment;       /* Phi'Phi: a combination of `parts`, centred with an intercept */
  const scl_symmetric **parts; /* matrices of the training's sums, or of `own`; borrowed */
  scl_sums *own;               /* sums with other row weights */
  scl_symmetric *outer;        /* Phi Phi' */
  double *outer_targets;
  scl_window *window;
  const size_t *order;   /* minibatches draw places in this list; NULL: in the source's order */
  double picked;         /* features that its minibatches and walks have made, in rows */
  bool picks_all;        /* minibatches of all folds make at least the features of all rows */
  scl_held *held;        /* NULL: none */
  scl_row_facts *facts;  /* NULL: no pass was replayed yet */
  scl_progress progress; /* of the solver */
  scl_csr csr;           /* all its rows, of sparse ones (problem_csr.c); no storage: not made */
  size_t profiled;       /* its mark in a profile */
};

/* The context of a problem, of which `problem` is the first member. */
static inline solve_context *context_of(const scl_problem *problem) {
  return (solve_context *)(uintptr_t)problem;
}
static inline const scl_flow *flow_of(const scl_problem *problem) {
  return &context_of(problem)->training->flow;
}

/* problem.c: open the problem without the rows of group `without` (-1: all rows) for a solver. The
 * caller closes it, but not if opening fails. SCL_STATUS_BAD_DATA: no rows, features, targets or
 * weight. */
scl_status scl_problem_open(solve_context *s, scl_training *training, const scl_instance *solver,
                            long without, scl_error *error);
void scl_problem_close(solve_context *s);
/* The table of a problem on all rows of a flow like the training's, for its sizes alone. */
scl_problem scl_problem_sizes(const scl_training *training, const scl_flow *flow,
                              const scl_instance *solver);
/* problem_pilot.c: make the training's flow subtract pilot means (constant) or nothing. If that is
 * a change, sums and cached blocks are destroyed. */
scl_status scl_training_centre(scl_training *training, bool constant, scl_error *error);
/* *out = a copy of the training's flow with units of features, which are learnt if it has none. The
 * caller holds the lock. A copy, because other problems may be reading the training's own flow. */
scl_status scl_training_units(scl_training *training, scl_flow *out, scl_error *error);
/* The means that the features of `few`, `ratio` times the first ones of `many`, subtract become
 * those of `many`. Both subtract some, or none. */
void scl_training_take_pilot(scl_training *few, const scl_training *many, double ratio);
/* Make the flow of `few` subtract pilot means if that of `many` does. *alike: both subtract means
 * from features, or neither does: with the same means sums of one training are valid for the
 * other. */
scl_status scl_training_centre_alike(scl_training *few, const scl_training *many, bool *alike,
                                     scl_error *error);
/* Change an intercept (c) for features and targets as they are into one for features and targets
 * less the flow's pilot means. coefficients: D x c. */
void scl_training_intercept_to_pilot(const scl_training *training, const double *coefficients,
                                     double *intercept);
/* The reverse, for a fit: add the targets' pilot means to the intercept; the features' go to
 * fit->pilot. */
scl_status scl_training_keep_pilot(const scl_training *training, scl_fit *fit, scl_error *error);
/* A solution before the solver fills it in: no outcome, and NaN for each number that a solver may
 * leave unknown. */
scl_solution scl_solution_blank(void);
/* One solve, or one for each value of the path option, in three steps: allocate the matrices of the
 * results, call the solver, compute intercepts and losses. The caller releases the fits with
 * scl_fit_release, also after a failure. */
scl_status scl_fits_start(const scl_problem *problem, size_t count, scl_fit *fits,
                          scl_error *error);
scl_status scl_problem_call(const scl_problem *problem, const scl_instance *solver,
                            const double *values, size_t count, scl_fit *fits, scl_error *error);
scl_status scl_fits_finish(solve_context *s, size_t count, scl_fit *fits, scl_error *error);
/* model.c: the models that the solver fits to an open problem, as scl_model_fit. */
scl_status scl_model_fit_problem(const solve_context *s, scl_instance *solver, const double *values,
                                 size_t count, scl_fit *fits, scl_model **out, scl_error *error);

/* Before processes solve together: whether they have the same solver, options and values. */
scl_status scl_training_agree(const scl_training *training, const scl_instance *solver,
                              const double *values, size_t count, scl_error *error);
/* folds_divided.c: whether processes solve some of the groups each; solve them, and give the fits
 * to all processes. As scl_training_solve_groups, for solvers that make no models. */
bool scl_folds_divide(const scl_training *training, size_t groups, bool models);
scl_status scl_folds_solve_divided(scl_training *training, const scl_instance *solver,
                                   const long *without, size_t groups, const double *values,
                                   size_t count, scl_fit *fits, scl_error *error);

/* Called first by each verb that reads rows or fills caches. A visit runs while a walk holds the
 * lock on the rows, so that a verb called from inside a visit would deadlock: it fails with
 * SCL_STATUS_INTERNAL and the verb's name instead. */
scl_status scl_problem_enter(const scl_problem *problem, const char *verb, scl_error *error);
/* Call the solver's visit with these rows, and mark the problem as visiting meanwhile. */
scl_status scl_problem_visit(const scl_problem *problem, scl_visit visit, void *context,
                             const scl_rows *rows, scl_error *error);

/* problem_walk.c: the runs of rows of a block that belong to the problem, before and after the
 * group left out. Returns how many. */
size_t scl_problem_runs(const solve_context *s, const scl_flow_block *block, size_t run[2][2]);
/* Visit every run, in the flow's dtype, sparse rows and bits as they are. */
typedef struct scl_run {
  const scl_flow_block *block;
  size_t start; /* of the run in the block */
  scl_rows rows;
} scl_run;
typedef scl_status (*scl_run_visit)(void *context, const scl_run *run, scl_error *error);
scl_status scl_problem_walk_runs(const scl_problem *problem, scl_run_visit visit, void *context,
                                 scl_error *error);
/* The same over this process's part of the rows, of a problem that is divided. */
scl_status scl_problem_walk_part(const scl_problem *problem, scl_run_visit visit, void *context,
                                 scl_error *error);
/* Rows of which float sums are made before they are added exactly: parts of processes are cut at
 * multiples of it. */
size_t scl_problem_leaf_rows(const scl_flow *flow);
/* The training's flow in the form that such walks make and keep: features that take two values are
 * bits, whatever the allowance, so that no result depends on it. */
scl_flow scl_problem_flow(const scl_flow *of);
/* Staged rows and targets, without features. */
scl_status scl_problem_walk_rows(scl_training *training, scl_flow_visit visit, void *context,
                                 scl_error *error);
/* Rows as the solver takes them: in its dtype, with the zeros of sparse ones where it wants
 * them. */
typedef struct scl_show {
  const scl_problem *problem;
  const scl_flow *flow; /* whose blocks they are */
  scl_visit visit;
  void *context;
  void *room; /* for rows that are converted; the caller releases it */
} scl_show;
scl_status scl_show_rows(scl_show *show, const scl_run *run, scl_error *error);
scl_status scl_problem_walk(const scl_problem *problem, scl_visit visit, void *context,
                            scl_error *error);
scl_status scl_problem_responses(const scl_problem *problem, double *targets, double *weights,
                                 scl_error *error);

/* problem_normal.c: the sums of all groups, if they are not made yet. */
scl_status scl_training_make_sums(scl_training *training, scl_error *error);
scl_status scl_problem_normal(const scl_problem *problem, scl_normal *out, scl_error *error);
scl_status scl_problem_reweighted(const scl_problem *problem, const double *weights,
                                  scl_normal *out, scl_error *error);
/* Coordinates for the penalty a'a or a'Ga, made once, with the sums that they come from. *out =
 * NULL where there are none. */
scl_status scl_training_reduce(scl_training *training, scl_penalty penalty, const scl_reduced **out,
                               scl_error *error);
/* Means of features and targets in s->totals, by a walk where the sums were not made. */
scl_status scl_problem_means(solve_context *s, scl_error *error);

/* problem_reduced.c: restate an open problem in fewer coordinates, if its sums have these and the
 * solver needs only the normal equations; otherwise do nothing. Not for float32 features, whose
 * rounding would outweigh a small lambda. */
bool scl_problem_is_reducible(const scl_training *training, const scl_instance *solver,
                              const scl_problem *problem, const double *values, size_t count);
scl_status scl_problem_reduce(solve_context *s, const scl_instance *solver, const double *values,
                              size_t count, scl_error *error);

/* problem_passes.c. out (count x k) = sparse rows times a (D x k): entry s of row i is `value` in
 * column columns[i entries + s]; a negative column is no entry. */
void scl_sparse_product(const int32_t *columns, size_t entries, double value, size_t count,
                        const double *a, size_t k, double *out);
scl_status scl_problem_product(const scl_problem *problem, const double *a, size_t k, double *out,
                               scl_error *error);
scl_status scl_problem_adjoint(const scl_problem *problem, const double *r, size_t k, double *out,
                               scl_error *error);
scl_status scl_problem_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                             void *context, double *out, scl_error *error);

/* problem_turns.c: the scores of a sweep, and the parts in which its turn gets them. */
typedef struct scl_turns {
  scl_turn turn;
  void *context;
  size_t k;
  double *scores;  /* n x k: Phi a, replaced by what the turn makes of it */
  uint64_t *parts; /* the rows of each part; room for n */
  size_t count;    /* of the parts */
} scl_turns;
/* Allocate the memory for a problem, which the caller releases. */
scl_status scl_turns_open(const scl_problem *problem, scl_turns *turns, scl_error *error);
void scl_turns_close(scl_turns *turns);
/* Read targets, weights and places of the problem's rows, unless that was done; then: `count` rows
 * from `first` on, without their features. */
scl_status scl_problem_read_facts(const scl_problem *problem, scl_error *error);
scl_rows scl_problem_rows_at(const scl_problem *problem, size_t first, size_t count);
/* Call the turn for all parts, in their order. */
scl_status scl_turns_replay(const scl_problem *problem, scl_turns *turns, scl_error *error);
/* One call of the turn with no rows. */
scl_status scl_turns_without_rows(const scl_problem *problem, scl_turn turn, void *context,
                                  scl_error *error);
void scl_row_facts_destroy(scl_row_facts *facts);

/* problem_divided.c: the same verbs where processes make parts of the passes. */

scl_status scl_divided_product(const scl_problem *problem, const double *a, size_t k, double *out,
                               scl_error *error);
scl_status scl_divided_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                             void *context, double *out, scl_error *error);
scl_status scl_divided_total(const scl_problem *problem, const double *values, size_t count,
                             size_t k, double *sums, scl_error *error);
/* problem_passes.c, for these: out (n x k) = Phi a for this process's rows, zeros elsewhere, and
 * parts[i] = the number of rows of the part of a sweep that begins at row i, 0 where none does
 * (NULL: not wanted). */
scl_status scl_problem_part_scores(const scl_problem *problem, const double *a, size_t k,
                                   double *out, uint64_t *parts, scl_error *error);
/* The rows first .. end-1 of the problem that are those of process `rank`. */
void scl_problem_part(const scl_problem *problem, size_t rank, size_t *first, size_t *end);

/* The kind of the record of sums with other weights (problem_normal.c). */
#define SCL_LOG_REWEIGHTED (UINT64_C(4) << 56)

/* problem_log.c: the same verbs for a flow with a checkpoint, and scl_problem.keep. */
scl_status scl_logged_product(const scl_problem *problem, const double *a, size_t k, double *out,
                              scl_error *error);
scl_status scl_logged_adjoint(const scl_problem *problem, const double *r, size_t k, double *out,
                              scl_error *error);
scl_status scl_logged_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                            void *context, double *out, scl_error *error);
scl_status scl_problem_keep(const scl_problem *problem, const scl_state_part *parts, size_t count,
                            int32_t *restored, scl_error *error);

/* problem_adjoint.c: exact sums V'r over rows of bits or whole numbers (rows/whole_adjoint.c). A
 * number of r that is not finite makes all of them NaN. */
typedef struct scl_adjoint {
  const scl_flow *flow;
  size_t features, k;
  scl_exact *sum, *ones; /* k x D: V'r; k: 1'r. NULL: closed */
  bool finite;
} scl_adjoint;
scl_status scl_adjoint_open(const scl_flow *flow, size_t features, size_t k, scl_adjoint *out,
                            scl_error *error);
void scl_adjoint_close(scl_adjoint *a);
/* r: rows of the run x k */
scl_status scl_adjoint_add(scl_adjoint *a, const scl_run *run, const double *r, scl_error *error);
/* out (D x k) = the sum Phi'r = unit o V'r + base (1'r)', each V'r and 1'r rounded once; base NULL:
 * zeros. */
void scl_adjoint_value(const scl_adjoint *a, const double *unit, const double *base, double *out);

/* problem_csr.c: sparse rows. */

/* Rows start .. start+count-1 of a block's sparse rows, as a view without a reference. */
scl_csr scl_block_csr(const scl_flow_block *block, size_t start, size_t count);
/* Rows of the leaves of sums over sparse rows (scl_problem_leaf_rows): so many that adding up the D
 * numbers of a leaf is little work beside its rows. */
size_t scl_csr_leaf_rows(const scl_flow *flow, size_t least);
/* Visit a run with its sparse rows, or, where the solver does not read them, see scl_show_rows. */
scl_status scl_show_csr(const scl_show *show, const scl_run *run, scl_error *error);
/* *out = the problem's staged rows, where these are sparse (with or without a map), in the flow's
 * dtype and the order of the walk; the caller releases it. */
scl_status scl_problem_gather_csr(const scl_problem *problem, scl_csr *out, scl_error *error);
scl_status scl_problem_sparse_rows(const scl_problem *problem, scl_const_csr *out,
                                   scl_error *error);
/* Visit a run of sparse rows as dense blocks of a part of its rows each, without groups and places:
 * rows `at` .. of the run are row 0 .. of the block. */
typedef scl_status (*scl_part_visit)(void *context, const scl_flow_block *part, size_t at,
                                     scl_error *error);
scl_status scl_run_densely(const scl_flow *flow, const scl_run *run, scl_part_visit visit,
                           void *context, scl_error *error);
/* Fill `outer` with the products of all pairs of rows. */
scl_status scl_csr_outer(const scl_csr *rows, scl_symmetric *outer, scl_error *error);

/* problem_dual.c. The bytes of the blocks from which Phi Phi' of n rows and d features is made. */
double scl_dual_block_bytes(const scl_flow *flow, size_t rows, size_t d);
scl_status scl_problem_dual(const scl_problem *problem, const scl_symmetric **outer,
                            const double **targets, scl_error *error);

/* problem_minibatch.c */
scl_status scl_problem_minibatch(const scl_problem *problem, uint64_t seed, uint64_t step,
                                 size_t size, size_t first, size_t count, int32_t plain,
                                 scl_visit visit, void *context, scl_error *error);
void scl_window_destroy(scl_window *window);
/* Visit chosen rows in one block, with features first .. first+count-1 of `map`, which is the
 * flow's map or the one without K. */
typedef struct scl_chosen_rows {
  scl_source *source;    /* the data's own, or staged rows */
  const size_t *places;  /* in the source */
  const size_t *index;   /* in the data */
  const double *weights; /* NULL: all 1 */
  size_t first, count;   /* first: the first one's place among the rows that are shown */
} scl_chosen_rows;
scl_status scl_problem_show_chosen(const scl_problem *problem, const scl_map *map,
                                   const scl_chosen_rows *rows, size_t first, size_t count,
                                   scl_visit visit, void *context, scl_error *error);

/* problem_order.c. For whole-number features *out = the places of all rows, in an order that
 * depends on their contents and not on the order of the source; else NULL. Owned by the
 * training. */
scl_status scl_training_order(scl_training *training, const size_t **out, scl_error *error);
/* *out = a training on the rows in that order where features are bits or whole numbers, which
 * belongs to the training; else the training itself. */
scl_status scl_training_in_order(scl_training *training, scl_training **out, scl_error *error);

/* problem_holdout.c: the verbs hold_out and held of scl_problem (scullery/plugin/solver.h). */
scl_status scl_problem_hold_out(const scl_problem *problem, double share, uint64_t seed,
                                size_t *count, scl_error *error);
scl_status scl_problem_held(const scl_problem *problem, size_t first, size_t count, scl_visit visit,
                            void *context, scl_error *error);
/* Whether a row of the data is held out; held NULL: no. */
bool scl_held_has(const scl_held *held, size_t row);
void scl_held_destroy(scl_held *held);

#endif
