#include "plugin/host.h"

#include "algebra/dense.h"
#include "algebra/symmetric.h"
#include "base/base.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/random.h"
#include <stdatomic.h>
#include <string.h>

static _Atomic(void (*)(const char *)) sink;

void scl_host_set_log(void (*log)(const char *message)) {
  atomic_store(&sink, log);
}

static void host_log(const char *message) {
  void (*log)(const char *) = atomic_load(&sink);
  if (log != NULL) log(message);
}

static void host_parallel(size_t count, void (*task)(void *context, size_t index), void *context) {
  scl_pool_run(count, task, context);
}

static const void *host_service(const char *id) {
  if (strcmp(id, SCL_SERVICE_RANDOM) == 0) return &scl_service_random;
  if (strcmp(id, SCL_SERVICE_VECTOR_MATH) == 0) return &scl_loops_get()->math;
  if (strcmp(id, SCL_SERVICE_DENSE_ALGEBRA) == 0) return &scl_service_dense;
  if (strcmp(id, SCL_SERVICE_SYMMETRIC) == 0) return &scl_service_symmetric;
  return NULL;
}

const scl_host scl_host_table = {SCL_HEAD(scl_host), scl_fail, scl_allocate, scl_release,
                                 host_parallel,      host_log, host_service};
