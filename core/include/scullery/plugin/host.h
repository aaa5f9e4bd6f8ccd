/* scullery/plugin/host.h: what the host does for plugins. An instance finds it in scl_base. */
#ifndef SCULLERY_PLUGIN_HOST_H
#define SCULLERY_PLUGIN_HOST_H

#include "algebra.h"
#include "option.h"
#include "parameters.h"
#include "random.h"

struct scl_layout; /* sampler.h */
struct scl_draw;
struct scl_tilt; /* kernel.h */

/* One of many tasks. Its `error` is its own. */
typedef scl_status (*scl_job)(void *context, size_t index, scl_error *error);

/* Calls of other components, which came as options. The host serves simple forms too, draws and
 * declares the bias of samplers, checks kind and space, puts the part's name before its sentences,
 * and names the part when it crashes. SCL_STATUS_UNSUPPORTED: the part does not offer it. [any] */
typedef struct scl_parts {
  scl_head head;
  /* A table that the part offers by ability id, or NULL; its functions take part->self. For
   * abilities without a slot here. */
  const void *(*ability)(const scl_part *part, const char *id);
  /* Kernels: out (u->count x v->count, float64) = K(u_i, v_j); out[i] = K(u_i, u_i). */
  scl_status (*gram)(const scl_part *kernel, const scl_const_parameters *u,
                     const scl_const_parameters *v, double *out, ptrdiff_t stride,
                     scl_error *error);
  scl_status (*diagonal)(const scl_part *kernel, const scl_const_parameters *u, double *out,
                         scl_error *error);
  scl_status (*tilt)(const scl_part *kernel, const scl_law *law, struct scl_tilt *out,
                     scl_error *error);
  /* Kernels, from `bind` alone: replace *kernel by the same one bound to the law, if it needs that.
   * The host ends the result with the instance `self`. */
  scl_status (*bind)(void *self, scl_part *kernel, const scl_law *law, scl_error *error);
  /* What `kernel` was bound to, "width = 1.83", or an empty text. */
  void (*describe)(const scl_part *kernel, char *text, size_t size);
  /* Samplers. *out of layout comes as scl_layout says; the caller has set its head and count. */
  scl_status (*layout)(const scl_part *sampler, size_t dim, struct scl_layout *out,
                       scl_error *error);
  scl_status (*draw)(const scl_part *sampler, const struct scl_draw *draw,
                     const scl_parameters *out, scl_error *error);
  scl_status (*law)(const scl_part *sampler, const struct scl_draw *draw, scl_law *out,
                    scl_error *error);
  scl_status (*characteristic)(const scl_part *sampler, const struct scl_draw *draw, size_t rows,
                               const double *delta, ptrdiff_t stride, double *out,
                               scl_error *error);
} scl_parts;
#define SCL_LEAST_PARTS SCL_THROUGH(scl_parts, characteristic)

typedef struct scl_host {
  scl_head head;
  /* Store a sentence in *error and return the status: `return host->fail(error, ...)`. [any] */
  SCL_PRINTF(3, 4)
  scl_status (*fail)(scl_error *error, scl_status status, const char *format, ...);
  /* 64-byte aligned memory, not set; NULL when there is none. release(NULL) does nothing. [any] */
  void *(*allocate)(size_t bytes);
  void (*release)(void *memory);
  /* Run task(context, i, error) for i in [0, count) on the host's threads; returns when all have
   * ended. The status and sentence of the failing task with the lowest index. Calls may nest (the
   * inner one runs on the calling thread). The split never depends on the number of threads.
   * [any] */
  scl_status (*parallel)(size_t count, scl_job task, void *context, scl_error *error);
  /* A line for the user, from the instance `self`, through the host's own channel. [any] */
  SCL_PRINTF(2, 3) void (*log)(const void *self, const char *format, ...);
  const scl_random *random;
  const scl_vector_math *math;
  const scl_dense_algebra *dense;
  const scl_symmetric_algebra *symmetric;
  const scl_parts *parts;
  /* A later service by its id, or NULL. [any] */
  const void *(*service)(const char *id);
  /* Memory for the current call: 64-byte aligned, not set; NULL when there is none. The host
   * releases it when the slot returns, whatever the slot returns; nobody else does. All slots may
   * use it, `create` and `destroy` among them. It belongs to the innermost call on the thread:
   *
   *  - in a task of `parallel`, to this task, and ends with it (memory that several tasks use comes
   *    from the slot, before `parallel`);
   *  - in a visit or a turn, which the host calls within a slot, to this slot;
   *  - in no call (on a thread of the plugin's own, say) it is NULL.
   *
   * Memory that outlives the call, such as that of `create`, comes from `allocate`. So does memory
   * for one turn of a long loop: scratch stays until the slot returns. [any] */
  void *(*scratch)(size_t bytes);
  const char *name;    /* of the program that the host is: "scullery" */
  const char *version; /* its version, "0.1.0" */
  /* Fail the current call of a slot that returns no status (loops, `finish`, `move`, `factor`,
   * duals, losses, ...): the host takes the status and the sentence as if the slot had returned
   * them, and does not use what the slot wrote or returned. The first failure of a call counts. A
   * slot that answers about options alone (`penalty`, `shift`, `scale`, `describe`) and `destroy`
   * have nothing to fail: `create` refuses such options; there the sentence is a line for the user.
   * [any] */
  SCL_PRINTF(2, 3) void (*fail_call)(scl_status status, const char *format, ...);
} scl_host;
#define SCL_LEAST_HOST SCL_THROUGH(scl_host, service)

#endif
