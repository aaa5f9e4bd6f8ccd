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
 * implementation. */
#ifndef SCULLERY_SHARED_MPI_TRANSPORT_H
#define SCULLERY_SHARED_MPI_TRANSPORT_H

#include <scullery/plugin.h>

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

enum { MPI_CHUNK = 1 << 24 }; /* elements of a call, whose counts are int */

/* The functions of the library that are called. */
/* clang-format off */
#define MPI_FUNCTIONS(X)                                                                           \
  X(Init_thread) X(Initialized) X(Comm_dup) X(Comm_size) X(Comm_rank) X(Allreduce) X(Bcast)        \
  X(Comm_free) X(Finalize) X(Abort)
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
               : g->host->fail(error, SCL_STATUS_UNSUPPORTED, MPI_LIBRARY " is no MPI");
}

/* Start MPI, and find the place of this process. */
static scl_status mpi_start(mpi_group *g, scl_error *error) {
  int provided, started;
  if (g->Initialized(&started) != MPI_SUCCESS || started ||
      g->Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return g->host->fail(error, SCL_STATUS_IO, "MPI cannot be started here");
  (void)g->Comm_dup(MPI_HANDLE(MPI_COMM_WORLD, "ompi_mpi_comm_world"), &g->world);
  (void)g->Comm_size(g->world, &g->size);
  (void)g->Comm_rank(g->world, &g->rank);
  return SCL_STATUS_OK;
}

static scl_status mpi_open(const void *self, void **group, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  mpi_group *g = host->allocate(sizeof *g);
  if (g == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a group");
  memset(g, 0, sizeof *g);
  g->host = host;
  scl_status status = mpi_load(g, error);
  if (status == SCL_STATUS_OK) status = mpi_start(g, error);
  if (status == SCL_STATUS_OK)
    *group = g;
  else
    host->release(g);
  return status;
}

static size_t mpi_size(void *group) { return (size_t)((const mpi_group *)group)->size; }
static size_t mpi_rank(void *group) { return (size_t)((const mpi_group *)group)->rank; }

static scl_status mpi_failed(const mpi_group *g, scl_error *error) {
  return g->host->fail(error, SCL_STATUS_IO, "an exchange between the processes failed");
}

static scl_status mpi_reduce(mpi_group *g, int64_t *numbers, size_t count, MPI_Op op,
                             scl_error *error) {
  const MPI_Datatype type = MPI_HANDLE(MPI_INT64_T, "ompi_mpi_int64_t");
  for (size_t at = 0; at < count; at += MPI_CHUNK) {
    const size_t some = count - at < MPI_CHUNK ? count - at : MPI_CHUNK;
    if (g->Allreduce(MPI_IN_PLACE, numbers + at, (int)some, type, op, g->world) != MPI_SUCCESS)
      return mpi_failed(g, error);
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
    if (g->Bcast((char *)bytes + at, (int)some, type, (int)from, g->world) != MPI_SUCCESS)
      return mpi_failed(g, error);
  }
  return SCL_STATUS_OK;
}

static void mpi_close(void *group) {
  mpi_group *g = group;
  (void)g->Comm_free(&g->world);
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
