/* The slots of a transport by MPI, for each implementation of MPI: the file that includes this one
 * is compiled with its mpi.h, and defines
 *
 *   MPI_LIBRARY            the library (made by the build)
 *   MPI_SIZE_VARIABLE      the variable of the environment with the number of processes that its
 *                          launcher started
 *   MPI_HANDLE(name, symbol)  a handle such as MPI_SUM, which is a number, or the address of a
 *                          symbol of the library
 *
 * The library is opened when processes are joined, not with the plugin: it takes a third of a
 * second, and changes signal handlers. Collective functions are called from one thread
 * (MPI_THREAD_FUNNELED). By MPI's default, an error ends all processes with a message of the
 * implementation.
 *
 * Every exchange is one that does not block, and a process that waits for it sleeps: the functions
 * of MPI that block keep a core busy until the slowest process arrives, and where there are more
 * processes than cores, keep it from that process. */
#ifndef SCULLERY_SHARED_MPI_TRANSPORT_H
#define SCULLERY_SHARED_MPI_TRANSPORT_H

#include <scullery/plugin.h>

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum {
  MPI_CHUNK = 1 << 24,            /* elements of a call, whose counts are int */
  MPI_YIELD_NANOSECONDS = 50000,  /* for which a process that waits does not sleep yet */
  MPI_SLEEP_NANOSECONDS = 1000000 /* the longest sleep between two looks */
};

/* The functions of the library that are called. */
/* clang-format off */
#define MPI_FUNCTIONS(X)                                                                           \
  X(Init_thread) X(Initialized) X(Comm_size) X(Comm_rank) X(Iallreduce) X(Ibcast) X(Ibarrier)      \
  X(Test) X(Finalize) X(Abort)
/* clang-format on */

typedef struct mpi_group {
  const scl_host *host;
  void *library;
#define MPI_MEMBER(name) __typeof__(&MPI_##name) name;
  MPI_FUNCTIONS(MPI_MEMBER)
#undef MPI_MEMBER
  MPI_Comm world;
  int size, rank;
} mpi_group;

static int32_t mpi_launched(const void *self) {
  (void)self;
  const char *text = getenv(MPI_SIZE_VARIABLE);
  return text != NULL && strtol(text, NULL, 10) > 0;
}

/* A symbol of the library as a pointer to a function, which C does not convert. */
static bool mpi_find(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

/* Open the library, and find its functions. */
static scl_status mpi_load(mpi_group *g, scl_error *error) {
  bool found = true;
  g->library = dlopen(MPI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (g->library == NULL)
    return g->host->fail(error, SCL_STATUS_UNSUPPORTED, "MPI is not here: %s", dlerror());
#define MPI_FIND(name) found = found && mpi_find(g->library, "MPI_" #name, &g->name);
  MPI_FUNCTIONS(MPI_FIND)
#undef MPI_FIND
  return found ? SCL_STATUS_OK
               : g->host->fail(error, SCL_STATUS_UNSUPPORTED, MPI_LIBRARY " is not an MPI");
}

/* Start MPI, and find the place of this process. */
static scl_status mpi_start(mpi_group *g, scl_error *error) {
  int provided, started;
  if (g->Initialized(&started) != MPI_SUCCESS || started ||
      g->Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return g->host->fail(error, SCL_STATUS_IO, "MPI cannot be started here");
  g->world = MPI_HANDLE(MPI_COMM_WORLD, "ompi_mpi_comm_world");
  (void)g->Comm_size(g->world, &g->size);
  (void)g->Comm_rank(g->world, &g->rank);
  return SCL_STATUS_OK;
}

static size_t mpi_size(void *group) { return (size_t)((const mpi_group *)group)->size; }
static size_t mpi_rank(void *group) { return (size_t)((const mpi_group *)group)->rank; }

static int64_t mpi_nanoseconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Wait for an exchange that `begun` has begun. A sleep takes an eighth of the time waited so far:
 * it delays a long wait little, and a short one not at all. */
static scl_status mpi_wait(const mpi_group *g, int begun, MPI_Request *request, scl_error *error) {
  const int64_t from = mpi_nanoseconds();
  int done = 0;
  while (begun == MPI_SUCCESS && g->Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
    if (done) return SCL_STATUS_OK;
    const int64_t waited = mpi_nanoseconds() - from, eighth = waited / 8;
    const struct timespec sleep = {
        0, (long)(eighth < MPI_SLEEP_NANOSECONDS ? eighth : MPI_SLEEP_NANOSECONDS)};
    if (waited < MPI_YIELD_NANOSECONDS)
      (void)sched_yield();
    else
      (void)nanosleep(&sleep, NULL);
  }
  return g->host->fail(error, SCL_STATUS_IO, "an exchange between the processes failed");
}

static scl_status mpi_reduce(mpi_group *g, int64_t *numbers, size_t count, MPI_Op op,
                             scl_error *error) {
  const MPI_Datatype type = MPI_HANDLE(MPI_INT64_T, "ompi_mpi_int64_t");
  for (size_t at = 0; at < count; at += MPI_CHUNK) {
    const size_t some = count - at < MPI_CHUNK ? count - at : MPI_CHUNK;
    MPI_Request request;
    const int begun =
        g->Iallreduce(MPI_IN_PLACE, numbers + at, (int)some, type, op, g->world, &request);
    const scl_status status = mpi_wait(g, begun, &request, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

static scl_status mpi_sum(void *group, int64_t *numbers, size_t count, scl_error *error) {
  const mpi_group *g = group;
  return mpi_reduce(group, numbers, count, MPI_HANDLE(MPI_SUM, "ompi_mpi_op_sum"), error);
}

static scl_status mpi_maximum(void *group, int64_t *numbers, size_t count, scl_error *error) {
  const mpi_group *g = group;
  return mpi_reduce(group, numbers, count, MPI_HANDLE(MPI_MAX, "ompi_mpi_op_max"), error);
}

static scl_status mpi_broadcast(void *group, size_t from, void *bytes, size_t size,
                                scl_error *error) {
  const mpi_group *g = group;
  const MPI_Datatype type = MPI_HANDLE(MPI_BYTE, "ompi_mpi_byte");
  for (size_t at = 0; at < size; at += MPI_CHUNK) {
    const size_t some = size - at < MPI_CHUNK ? size - at : MPI_CHUNK;
    MPI_Request request;
    const int begun = g->Ibcast((char *)bytes + at, (int)some, type, (int)from, g->world, &request);
    const scl_status status = mpi_wait(g, begun, &request, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

/* Exchange messages of all kinds once: MPI maps another process's memory when a message first needs
 * it, and where there is no room for that later, MPICH waits for ever without a word. */
static scl_status mpi_prepare(mpi_group *g, scl_error *error) {
  enum { SHORT = 512, LONG = 8192 }; /* numbers: copied twice, and read in place */
  /* Not allocated: where one process fails here, the others wait for ever. */
  int64_t numbers[LONG] = {0};
  scl_status status = SCL_STATUS_OK;
  for (size_t count = SHORT; count <= LONG && status == SCL_STATUS_OK; count *= LONG / SHORT) {
    status = mpi_maximum(g, numbers, count, error);
    for (size_t r = 0; r < (size_t)g->size && status == SCL_STATUS_OK; r++)
      status = mpi_broadcast(g, r, numbers, count * sizeof *numbers, error);
  }
  return status;
}

static scl_status mpi_open(const void *self, void **group, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  mpi_group *g = host->allocate(sizeof *g);
  if (g == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a group");
  memset(g, 0, sizeof *g);
  g->host = host;
  scl_status status = mpi_load(g, error);
  if (status == SCL_STATUS_OK) status = mpi_start(g, error);
  if (status == SCL_STATUS_OK) status = mpi_prepare(g, error);
  if (status == SCL_STATUS_OK)
    *group = g;
  else
    host->release(g);
  return status;
}

static void mpi_close(void *group) {
  mpi_group *g = group;
  MPI_Request request;
  scl_error error;
  /* Finalize waits for all, and keeps a core busy while it does. */
  (void)mpi_wait(g, g->Ibarrier(g->world, &request), &request, &error);
  (void)g->Finalize();
  g->host->release(g);
}

static void mpi_abort(void *group) {
  const mpi_group *g = group;
  (void)g->Abort(g->world, 1);
}

#define MPI_TRANSPORT \
  SCL_TRANSPORT(.launched = mpi_launched, .open = mpi_open, .size = mpi_size, .rank = mpi_rank, \
                .sum = mpi_sum, .maximum = mpi_maximum, .broadcast = mpi_broadcast, \
                .close = mpi_close, .abort = mpi_abort)

#endif
