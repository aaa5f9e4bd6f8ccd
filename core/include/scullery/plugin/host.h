/* scullery/plugin/host.h: functions that the host offers to plugins. scl_base points to them. */
#ifndef SCULLERY_PLUGIN_HOST_H
#define SCULLERY_PLUGIN_HOST_H

#include "algebra.h"
#include "option.h"
#include "parameters.h"
#include "random.h"

struct scl_layout; /* sampler.h */
struct scl_draw;
struct scl_shape;   /* nonlinearity.h */
struct scl_problem; /* solver.h */
struct scl_solution;
struct scl_replaced;
struct scl_archive;
struct scl_tilt; /* kernel.h */
struct scl_rows; /* rows.h */
struct scl_division;

/* Task `index` of several. Each task has its own `error`. */
typedef scl_status (*scl_job)(void *context, size_t index, scl_error *error);

/* Calls of other components ("parts") that were given as options. The host also implements simple
 * forms, draws the bias of samplers and adds it to laws, checks kind and space, puts the part's
 * name before its sentences and into crash reports. SCL_STATUS_UNSUPPORTED: not offered. [any] */
typedef struct scl_parts {
  scl_head head;
  /* A table that the part offers by ability id, or NULL; its functions take part->self. For
   * abilities that have no slot here. */
  const void *(*ability)(const scl_part *part, const char *id);
  /* Kernels: out (u->count x v->count, float64) = K(u_i, v_j); out[i] = K(u_i, u_i). */
  scl_status (*gram)(const scl_part *kernel, const scl_const_parameters *u,
                     const scl_const_parameters *v, double *out, ptrdiff_t stride,
                     scl_error *error);
  scl_status (*diagonal)(const scl_part *kernel, const scl_const_parameters *u, double *out,
                         scl_error *error);
  scl_status (*tilt)(const scl_part *kernel, const scl_law *law, struct scl_tilt *out,
                     scl_error *error);
  /* Kernels, to be called only in `bind`: replace *kernel by the same kernel bound to the law, if
   * it needs that. The host destroys the result with the instance `self`. */
  scl_status (*bind)(void *self, scl_part *kernel, const scl_law *law, scl_error *error);
  /* What `kernel` was bound to, "width = 1.83", or an empty text. */
  void (*describe)(const scl_part *kernel, char *text, size_t size);
  /* Samplers. The host presets *out of layout (scl_layout); the caller sets its head and count. */
  scl_status (*layout)(const scl_part *sampler, size_t dim, struct scl_layout *out,
                       scl_error *error);
  scl_status (*draw)(const scl_part *sampler, const struct scl_draw *draw,
                     const scl_parameters *out, scl_error *error);
  scl_status (*law)(const scl_part *sampler, const struct scl_draw *draw, scl_law *out,
                    scl_error *error);
  scl_status (*characteristic)(const scl_part *sampler, const struct scl_draw *draw, size_t rows,
                               const double *delta, ptrdiff_t stride, double *out,
                               scl_error *error);
  /* Nonlinearities: the shape, whose head the caller sets, without zeros (fan_in, fan_out and
   * dtypes are at least 1); and out (rows x cols x fan_out planes) = phi(z) (rows x cols x fan_in
   * planes), both float64 or both float32. SCL_STATUS_UNSUPPORTED for SCL_SHAPE_ONE_HOT. */
  scl_status (*shape)(const scl_part *phi, struct scl_shape *out, scl_error *error);
  scl_status (*apply)(const scl_part *phi, const scl_const_block *z, const scl_block *out,
                      scl_error *error);
  /* Solvers with a slot `solve`, called in a slot `solve` with the problem that this slot got:
   * solve it, with the row weights of the problem (weights NULL) or with others (n, in the order of
   * walk). The caller sets the head, coefficients and intercept of *out; the host presets the rest,
   * and fills in an intercept that the solver leaves to it. With other weights `dual`, `minibatch`,
   * `hold_out` and `held` are SCL_STATUS_UNSUPPORTED. [one] */
  scl_status (*solve)(const scl_part *solver, const struct scl_problem *problem,
                      const double *weights, struct scl_solution *out, scl_error *error);
  /* Solvers of any kind, called in a slot `solve` or `fit` with the problem that this slot got:
   * *model = what the solver learns from it (a model of its own, or coefficients), with the row
   * weights and targets of *replaced (NULL: those of the problem). As for `solve`, the verbs
   * `dual`, `minibatch`, `hold_out` and `held` are then SCL_STATUS_UNSUPPORTED. out: as the
   * solver left it, coefficients and intercept NULL. The caller destroys the model. [one] */
  scl_status (*fit)(const scl_part *solver, const struct scl_problem *problem,
                    const struct scl_replaced *replaced, struct scl_solution *out, void **model,
                    scl_error *error);
  /* scores (rows x c at stride, float64) of a model of that part, for rows of float64 or float32.
   * For a model of coefficients: of the features that the problem had. [any] */
  scl_status (*decide)(const scl_part *solver, const void *model, const scl_const_block *rows,
                       double *scores, ptrdiff_t stride, scl_error *error);
  /* To arrays whose names begin with `prefix` and a dot, and back. */
  scl_status (*save)(const scl_part *solver, const void *model, struct scl_archive *archive,
                     const char *prefix, scl_error *error);
  scl_status (*load)(const scl_part *solver, const struct scl_archive *archive, const char *prefix,
                     size_t features, size_t targets, void **model, scl_error *error);
  void (*destroy)(const scl_part *solver, void *model);
} scl_parts;
#define SCL_LEAST_PARTS SCL_THROUGH(scl_parts, characteristic)

typedef struct scl_host {
  scl_head head;
  /* Store a sentence in *error and return the status: `return host->fail(error, ...)`. [any] */
  SCL_PRINTF(3, 4)
  scl_status (*fail)(scl_error *error, scl_status status, const char *format, ...);
  /* 64-byte aligned memory, not zeroed; NULL if there is not enough. release(NULL) does nothing. */
  void *(*allocate)(size_t bytes);
  void (*release)(void *memory);
  /* Run task(context, i, error) for i in [0, count) on the host's threads; returns when all have
   * ended, with the status and sentence of the failing task that has the lowest index. Calls may
   * nest (the inner one runs on the calling thread). The division into tasks is the caller's,
   * whatever the number of threads. [any] */
  scl_status (*parallel)(size_t count, scl_job task, void *context, scl_error *error);
  /* Show a line to the user, from the instance `self`. [any] */
  SCL_PRINTF(2, 3) void (*log)(const void *self, const char *format, ...);
  const scl_random *random;
  const scl_vector_math *math;
  const scl_dense_algebra *dense;
  const scl_symmetric_algebra *symmetric;
  const scl_parts *parts;
  /* A service by its id (SCL_SERVICE_...), NULL if this host does not have it. [any] */
  const void *(*service)(const char *id);
  /* Memory for the current call: 64-byte aligned, not zeroed; NULL if there is not enough. The host
   * releases it when the slot returns, whether it succeeds or fails; the plugin must not. Every
   * slot may use it, also `create` and `destroy`. It belongs to the innermost call on the thread:
   *
   *  - in a task of `parallel` it belongs to the task and is released when the task ends (for
   *    memory that several tasks share, call scratch in the slot, before `parallel`);
   *  - in a visit or a turn, which the host calls within a slot, it belongs to this slot;
   *  - outside a call of the host (on another thread, for example) scratch returns NULL.
   *
   * Use `allocate` for memory that outlives the call, such as that of an instance, and for memory
   * of one iteration of a long loop, because scratch is kept until the slot returns. [any] */
  void *(*scratch)(size_t bytes);
  const char *name;    /* of the program that loads the plugin: "scullery" */
  const char *version; /* its version, "0.1.0" */
  /* Fail the current call of a slot that returns no status (loops, `finish`, `move`, `factor`,
   * duals, losses, ...): the host takes the status and the sentence as if the slot had returned
   * them, and does not use what the slot wrote or returned. The first failure of a call counts.
   * Slots that depend only on the options (`penalty`, `shift`, `scale`, `describe`) and `destroy`
   * cannot fail: `create` must refuse such options. In them the sentence is only shown to the user.
   * [any] */
  SCL_PRINTF(2, 3) void (*fail_call)(scl_status status, const char *format, ...);
  /* In a visit, of `walk`, `minibatch` or `held`: work on the rows of the block on all threads, as
   * scl_division says. The visits themselves come one after another. The status and sentence are
   * those of the first part that fails. */
  scl_status (*divide_rows)(const struct scl_rows *rows, const struct scl_division *division,
                            void *context, scl_error *error);
} scl_host;
#define SCL_LEAST_HOST SCL_THROUGH(scl_host, service)

#endif
