/* scullery/fit.h: fitting in other programs, by the library scullery-fit, which contains Lua. A
 * recipe (a text that gives a pipeline, as one writes it in a script) and arrays make a model, whose
 * bytes scullery/scullery.h loads for predictions.
 *
 *   scl_session *session;
 *   scl_error error;
 *   void *model = NULL;
 *   size_t size;
 *   scl_table table = {n, d, SCL_DTYPE_FLOAT64, x, 0, NULL, NULL, NULL};
 *   scl_targets targets = {SCL_TARGETS_VALUES, y, 1, NULL, NULL};
 *   if (scl_session_open(&session, &error) != SCL_STATUS_OK ||
 *       scl_session_fit(session, "sc.pipeline{ sc.standardize(), sc.features{ T = 500 }, "
 *                       "sc.solver.ridge{} }", &table, &targets, 0, &model, &size, &error) !=
 *           SCL_STATUS_OK)
 *     fprintf(stderr, "%s\n", error.message);
 *   ... scl_predictor_load_memory(model, size, &predictor, &error) ...
 *   scl_free(model);
 *   scl_session_close(session);
 *
 * What holds for every function:
 *
 *  - Failure. A status other than SCL_STATUS_OK (0) comes with a sentence in *error; `error` may be
 *    NULL. Nothing was made then.
 *  - Threads. Any function may be called on any thread. Calls of all sessions of a process take
 *    turns: one waits for the one that runs. Each works on the threads of the library, SCULLERY_THREADS
 *    or as many as there are processors. Predictions (scullery.h) run beside them. A child process
 *    (fork) may go on with what it finds; there, calls work on the thread that makes them.
 *  - Ownership. Arrays are borrowed for the call alone, and not changed. Results are the caller's:
 *    scl_free.
 *  - The program. Nothing is printed and no signal handled; scl_session_listen gets progress and
 *    warnings. Locale and current folder stay as they are. The environment variables of the command
 *    (SCULLERY_THREADS, SCULLERY_LOG, ...) are read. Calls may start the threads of the library.
 *    OpenBLAS stays set to one thread (docs/embedding.md).
 *
 * C11 and C++11; functions, records and constants alone, no macros. Later versions add functions and
 * change none. */
#ifndef SCULLERY_FIT_H
#define SCULLERY_FIT_H

#include "plugin/base.h"
#include "plugin/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------ records */

/* Rows of numbers, dense or compressed sparse. */
typedef struct scl_table {
  size_t rows, columns;
  scl_dtype dtype;       /* SCL_DTYPE_FLOAT64 or SCL_DTYPE_FLOAT32 */
  const void *values;    /* dense: row by row; sparse: values[k] is in column places[k] */
  size_t stride;         /* dense: numbers from one row to the next; 0: without gaps */
  const int64_t *starts; /* NULL: dense. Row i has k = starts[i] .. starts[i+1]-1; starts[0] is 0 */
  const int32_t *places; /* columns from 0, which ascend in a row */
  const char *const *names; /* of the columns, UTF-8; NULL: they have none */
} scl_table;

enum {
  SCL_TARGETS_NONE = 0,      /* for a pipeline without a solver */
  SCL_TARGETS_VALUES = 1,    /* a regression: rows x columns numbers, row by row */
  SCL_TARGETS_LABELS = 2,    /* a classification: a number for each row */
  SCL_TARGETS_TEXTS = 3,     /* a classification: a text for each row */
  SCL_TARGETS_INDICATORS = 4 /* multi-label targets: rows x columns of 0 and 1, a column a label */
};

/* What is learnt, and how much a row counts. */
typedef struct scl_targets {
  int32_t kind;         /* SCL_TARGETS_... */
  const double *values; /* of VALUES, LABELS and INDICATORS */
  size_t columns;       /* of VALUES and INDICATORS; else 1 */
  const char *const *texts;
  const double *weights; /* rows numbers of at least 0; NULL: all are 1 */
} scl_targets;

/* What a model has beside what predictions need; bits of `keep`. */
enum {
  SCL_KEEP_POSTERIOR = 1,    /* of a ridge regression: for SCL_APPLY_DEVIATIONS */
  SCL_KEEP_PROBABILITIES = 2 /* of a classification whose loss has none: Platt's calibration */
};

/* What a fitted pipeline does with rows (scl_pipeline_apply). */
enum {
  SCL_APPLY_TRANSFORM = 0,  /* the rows after all stages but the solver: n x features */
  SCL_APPLY_DEVIATIONS = 1, /* standard deviations of the predicted function: n x targets */
  SCL_APPLY_IMPORTANCE = 2  /* permutation importance of each column for these targets: columns x 2,
                               what the score loses and its standard error */
};

/* Called on the thread of the call; both may be NULL. Neither may call a function of this header
 * but scl_session_stop. */
typedef struct scl_listener {
  void *context;
  /* A step of the work: done of total (NaN: not known), the loss or NaN. 0 ends the work. */
  int (*report)(void *context, const char *stage, double done, double total, double loss);
  /* A line for the user: what was guessed, changed or did not converge. */
  void (*warn)(void *context, const char *line);
} scl_listener;

/* ------------ sessions */

typedef struct scl_session scl_session;

/* Takes some hundredths of a second, and some MB: keep it for many fits. */
SCL_EXPORT scl_status scl_session_open(scl_session **out, scl_error *error);
/* It must be the last call of the session, whose pipelines are closed before. NULL: does nothing. */
SCL_EXPORT void scl_session_close(scl_session *session);
/* Who hears of later calls of the session; NULL: nobody. The record is copied. */
SCL_EXPORT scl_status scl_session_listen(scl_session *session, const scl_listener *listener,
                                         scl_error *error);
/* End the call of this session that runs, if one does: it fails with SCL_STATUS_CANCELLED, as soon as
 * the engine looks. On any thread, in a signal handler too. */
SCL_EXPORT void scl_session_stop(scl_session *session);

/* Fit the pipeline that the recipe gives, and save it in memory: *model, `size` bytes, which are those
 * of p:save. recipe: Lua 5.4, an expression or statements that return a pipeline; `sc` is the
 * library. It is code of the caller and trusted. With sc.choose in it, the best choice by 5 folds is
 * fitted. keep: bits of SCL_KEEP_.... The sentence names option, row or column. */
SCL_EXPORT scl_status scl_session_fit(scl_session *session, const char *recipe,
                                      const scl_table *table, const scl_targets *targets,
                                      uint32_t keep, void **model, size_t *size, scl_error *error);
/* The help of the library on a topic ("solver.ridge"), as help(topic) prints it: *text, which ends
 * with a zero byte. */
SCL_EXPORT scl_status scl_session_help(scl_session *session, const char *topic, char **text,
                                       scl_error *error);

/* ------------ fitted pipelines */

typedef struct scl_pipeline scl_pipeline;

/* The pipeline of a model's bytes, which may go afterwards. */
SCL_EXPORT scl_status scl_session_load(scl_session *session, const void *model, size_t size,
                                       scl_pipeline **out, scl_error *error);
/* On any thread, also while a call runs. NULL: does nothing. Before its session is closed. */
SCL_EXPORT void scl_pipeline_close(scl_pipeline *pipeline);
/* *values: rows x columns numbers of type *dtype, row by row. what: SCL_APPLY_.... targets: of
 * IMPORTANCE, else NULL. */
SCL_EXPORT scl_status scl_pipeline_apply(scl_pipeline *pipeline, int32_t what,
                                         const scl_table *table, const scl_targets *targets,
                                         void **values, size_t *rows, size_t *columns,
                                         scl_dtype *dtype, scl_error *error);
/* The pipeline as print(p) shows it: its stages, what was chosen, its report. */
SCL_EXPORT scl_status scl_pipeline_describe(scl_pipeline *pipeline, char **text, scl_error *error);

/* Release what a function of this header gave. NULL: does nothing. */
SCL_EXPORT void scl_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
