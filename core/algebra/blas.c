/* OpenBLAS: loading, and the memory that its calls need. See blas.h for the reasons. */
#define _GNU_SOURCE
#include "algebra/blas.h"

#include "base/memory.h"
#include "base/thread.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Each thread that is inside a call of OpenBLAS uses one buffer of this size (common_x86_64.h; they
 * are smaller on other machines). OpenBLAS maps another buffer if all are in use, retries without
 * end if that fails, and keeps buffers until the process ends. */
static const size_t BUFFER = ((size_t)128 << 20) + ((size_t)1 << 16);
/* Memory of OpenBLAS's code and data, with the libraries that it needs. */
static const size_t LIBRARY = (size_t)56 << 20;
/* The stack and the heap of a further thread: address space, of which little is touched. */
static const size_t THREAD = ((size_t)8 << 20) + ((size_t)64 << 20);

enum { MOST_THREADS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static scl_blas loaded;
static atomic_bool started;
static size_t ready; /* buffers that OpenBLAS has mapped */
static void *(*buffer_alloc)(int position);
static void (*buffer_free)(void *buffer);
static bool for_threads; /* calls of several threads at a time do not disturb each other */

/* Whether so much address space can be mapped now. */
static bool can_map(size_t bytes) {
  void *probe = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

/* Make OpenBLAS map `wanted` buffers, by allocating as many at the same time and freeing them
 * again. False: there is not enough memory for them and `spare` further bytes. */
static bool take_buffers(size_t wanted, size_t spare) {
  void *buffers[MOST_THREADS];
  if (wanted <= ready || buffer_alloc == NULL || buffer_free == NULL) return true;
  if (wanted > MOST_THREADS || !can_map((wanted - ready) * BUFFER + spare)) return false;
  for (size_t i = 0; i < wanted; i++)
    buffers[i] = buffer_alloc(0);
  for (size_t i = wanted; i > 0; i--)
    buffer_free(buffers[i - 1]);
  ready = wanted;
  return true;
}

/* For scl_thread_admit: whether a thread may be started, with `threads` in all. Reserves its
 * memory; half of what is left must remain for the data. */
static bool admit_thread(size_t threads) {
  pthread_mutex_lock(&lock);
  const bool may = !atomic_load(&started) || (for_threads && can_map(2 * (BUFFER + THREAD)) &&
                                              take_buffers(threads, BUFFER + 2 * THREAD));
  pthread_mutex_unlock(&lock);
  return may;
}

/* Debian's OpenBLAS has 256 buffers in all. */
enum { MOST_CALLERS = 64 };

bool scl_blas_admits(size_t callers) {
  if (callers <= 1) return true;
  pthread_mutex_lock(&lock);
  const bool may =
      !atomic_load(&started) || (for_threads && callers <= MOST_CALLERS &&
                                 take_buffers(scl_thread_count() - 1 + callers, BUFFER));
  pthread_mutex_unlock(&lock);
  return may;
}

/* ------------ loading */

/* A symbol as a function: ISO C has no conversion of one to the other. */
static bool find_symbol(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

/* Set all functions of the table. False: the library lacks one. */
static bool find_all(void *library, scl_blas *b) {
  return find_symbol(library, "cblas_dgemm", &b->dgemm) &&
         find_symbol(library, "cblas_sgemm", &b->sgemm) &&
         find_symbol(library, "cblas_dsyrk", &b->dsyrk) &&
         find_symbol(library, "cblas_ssyrk", &b->ssyrk) &&
         find_symbol(library, "cblas_dtrsm", &b->dtrsm) &&
         find_symbol(library, "cblas_strsm", &b->strsm) &&
         find_symbol(library, "cblas_dgemv", &b->dgemv) &&
         find_symbol(library, "cblas_dtrsv", &b->dtrsv) &&
         find_symbol(library, "dpotrf_", &b->dpotrf) && find_symbol(library, "dsyev_", &b->dsyev) &&
         find_symbol(library, "dsyevr_", &b->dsyevr) && find_symbol(library, "dgeev_", &b->dgeev);
}

/* Load OpenBLAS with one thread. It reads the number of threads from an environment variable when
 * it is loaded; the variable is restored, so that child processes do not inherit the change. If
 * OpenBLAS is loaded already, the environment is not touched, since other threads may be reading
 * it. */
static void *open_for_one_thread(void) {
  static const char name[] = "OPENBLAS_NUM_THREADS", file[] = "libopenblas.so.0";
  void *there = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (there != NULL) return there;
  const char *before = getenv(name);
  char *kept = before == NULL ? NULL : strdup(before);
  (void)setenv(name, "1", 1);
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (kept == NULL)
    (void)unsetenv(name);
  else
    (void)setenv(name, kept, 1);
  free(kept);
  return library;
}

/* Set for_threads. A build without threads (Debian's serial one) manages its buffers without a
 * lock, so that only one thread may call it. */
static void look_at_threads(void *library) {
  int (*parallel)(void) = NULL;
  void (*set_threads)(int) = NULL;
  for_threads = find_symbol(library, "openblas_get_parallel", &parallel) && parallel() != 0;
  if (find_symbol(library, "openblas_set_num_threads", &set_threads)) set_threads(1);
}

/* The lock is held. */
static scl_status load_blas(scl_error *error) {
  if (atomic_load(&started)) return SCL_STATUS_OK;
  if (!can_map(LIBRARY + BUFFER)) return scl_fail_memory(error, BUFFER, "matrix products");
  void *library = open_for_one_thread();
  if (library == NULL || !find_all(library, &loaded))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "OpenBLAS cannot be loaded: %s", dlerror());
  (void)find_symbol(library, "blas_memory_alloc", &buffer_alloc);
  (void)find_symbol(library, "blas_memory_free", &buffer_free);
  look_at_threads(library);
  if (!take_buffers(1, 0)) return scl_fail_memory(error, BUFFER, "matrix products");
  scl_thread_admit(admit_thread);
  atomic_store(&started, true);
  return SCL_STATUS_OK;
}

scl_status scl_blas_start(scl_error *error) {
  if (atomic_load(&started)) return SCL_STATUS_OK;
  pthread_mutex_lock(&lock);
  const scl_status status = load_blas(error);
  pthread_mutex_unlock(&lock);
  return status;
}

const scl_blas *scl_blas_get(void) {
  scl_error error = {0};
  if (scl_blas_start(&error) == SCL_STATUS_OK) return &loaded;
  (void)fprintf(stderr, "scullery: %s\n", error.message);
  exit(EXIT_FAILURE);
}
