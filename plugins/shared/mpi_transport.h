/* The slots of a transport by MPI, for each implementation of MPI: the file that includes this one
 * is compiled with its mpi.h, and defines
 *
 *   MPI_SIZE_VARIABLE   the variable of the environment with the number of processes that its
 *                       launcher started
 *
 * Collective functions are called from one thread (MPI_THREAD_FUNNELED). By MPI's default, an error
 * ends all processes with a message of the implementation. */
#ifndef SCULLERY_SHARED_MPI_TRANSPORT_H
#define SCULLERY_SHARED_MPI_TRANSPORT_H

#include <scullery/plugin.h>

#include <mpi.h>
#include <stdlib.h>

enum { MPI_CHUNK = 1 << 24 }; /* elements of a call, whose counts are int */

typedef struct mpi_group {
  const scl_host *host;
  MPI_Comm world;
  int size, rank;
} mpi_group;

/* The number of processes of the launcher; 0: this process was not started by it. */
static long mpi_launched_size(void) {
  const char *text = getenv(MPI_SIZE_VARIABLE);
  return text == NULL ? 0 : strtol(text, NULL, 10);
}

static int32_t mpi_launched(const void *self) {
  (void)self;
  return mpi_launched_size() > 0;
}

static scl_status mpi_open(const void *self, void **group, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  int provided, started;
  mpi_group *g = host->allocate(sizeof *g);
  if (g == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a group");
  if (MPI_Initialized(&started) != MPI_SUCCESS || started ||
      MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    host->release(g);
    return host->fail(error, SCL_STATUS_IO, "MPI cannot be started here");
  }
  g->host = host;
  (void)MPI_Comm_dup(MPI_COMM_WORLD, &g->world);
  (void)MPI_Comm_size(g->world, &g->size);
  (void)MPI_Comm_rank(g->world, &g->rank);
  *group = g;
  const long launched = mpi_launched_size();
  if (launched <= 0 || launched == g->size) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_UNSUPPORTED,
                    "the launcher started %ld processes (" MPI_SIZE_VARIABLE
                    "), and MPI joins %d: the launcher belongs to another MPI",
                    launched, g->size);
}

static size_t mpi_size(void *group) { return (size_t)((const mpi_group *)group)->size; }
static size_t mpi_rank(void *group) { return (size_t)((const mpi_group *)group)->rank; }

static scl_status mpi_reduce(mpi_group *g, int64_t *numbers, size_t count, MPI_Op op,
                             scl_error *error) {
  for (size_t at = 0; at < count; at += MPI_CHUNK) {
    const size_t some = count - at < MPI_CHUNK ? count - at : MPI_CHUNK;
    if (MPI_Allreduce(MPI_IN_PLACE, numbers + at, (int)some, MPI_INT64_T, op, g->world) !=
        MPI_SUCCESS)
      return g->host->fail(error, SCL_STATUS_IO, "an exchange between the processes failed");
  }
  return SCL_STATUS_OK;
}

static scl_status mpi_sum(void *group, int64_t *numbers, size_t count, scl_error *error) {
  return mpi_reduce(group, numbers, count, MPI_SUM, error);
}

static scl_status mpi_maximum(void *group, int64_t *numbers, size_t count, scl_error *error) {
  return mpi_reduce(group, numbers, count, MPI_MAX, error);
}

static scl_status mpi_broadcast(void *group, size_t from, void *bytes, size_t size,
                                scl_error *error) {
  mpi_group *g = group;
  for (size_t at = 0; at < size; at += MPI_CHUNK) {
    const size_t some = size - at < MPI_CHUNK ? size - at : MPI_CHUNK;
    if (MPI_Bcast((char *)bytes + at, (int)some, MPI_BYTE, (int)from, g->world) != MPI_SUCCESS)
      return g->host->fail(error, SCL_STATUS_IO, "an exchange between the processes failed");
  }
  return SCL_STATUS_OK;
}

static void mpi_close(void *group) {
  mpi_group *g = group;
  (void)MPI_Comm_free(&g->world);
  (void)MPI_Finalize();
  g->host->release(g);
}

static void mpi_abort(void *group) { (void)MPI_Abort(((const mpi_group *)group)->world, 1); }

#define MPI_TRANSPORT                                                                              \
  SCL_TRANSPORT(.launched = mpi_launched, .open = mpi_open, .size = mpi_size, .rank = mpi_rank,    \
                .sum = mpi_sum, .maximum = mpi_maximum, .broadcast = mpi_broadcast,                \
                .close = mpi_close, .abort = mpi_abort)

#endif
