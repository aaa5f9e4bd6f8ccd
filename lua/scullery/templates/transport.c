/* Processes of this machine, made by fork and joined by sockets. Of P processes, r has x_r:
 *
 *   sum:        y_i = x_0i + x_1i + ... + x_(P-1)i
 *   maximum:    y_i = max_r x_ri
 *
 * Each process sends its numbers to process 0, which combines them and sends y to all. */
#define _GNU_SOURCE
#include <scullery/plugin.h>

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 }; /* processes */

typedef struct star {
  scl_base base; /* what the host offers, and the options as they came */
  size_t processes;
} star;

/* An option of this name: the transport starts the processes itself, as scullery --processes N
 * asks. One with a launcher, such as MPI's, has the slot `launched` in its place. */
static const scl_option options[] = {
    SCL_INTEGER(star, processes, "2", "how many processes", SCL_WITHIN(1, MOST))};

typedef struct group {
  const scl_host *host;
  size_t size, rank;
  int to[MOST]; /* sockets: of process 0 to each other one, elsewhere to[0] alone; -1: none */
} group;

/* ------------------------------------------------------------ exchanges */

/* Send or receive all bytes. A process that has ended has closed its socket: that is a failure,
 * with a sentence. Nothing here waits for a process that has ended. */
static scl_status pass(const group *g, size_t other, bool out, void *bytes, size_t size,
                       scl_error *error) {
  for (size_t at = 0; at < size;) {
    const ssize_t passed = out ? send(g->to[other], (char *)bytes + at, size - at, MSG_NOSIGNAL)
                               : recv(g->to[other], (char *)bytes + at, size - at, 0);
    if (passed < 0 && errno == EINTR) continue;
    if (passed <= 0)
      return g->host->fail(error, SCL_STATUS_IO, "process %zu of %zu has ended", other, g->size);
    at += (size_t)passed;
  }
  return SCL_STATUS_OK;
}

/* Process `from` sends to process 0, and process 0 to all others. */
static scl_status my_broadcast(void *context, size_t from, void *bytes, size_t size,
                               scl_error *error) {
  const group *g = context;
  scl_status status = SCL_STATUS_OK;
  if (g->rank > 0) return pass(g, 0, g->rank == from, bytes, size, error);
  if (from > 0) status = pass(g, from, false, bytes, size, error);
  for (size_t r = 1; r < g->size && status == SCL_STATUS_OK; r++)
    if (r != from) status = pass(g, r, true, bytes, size, error);
  return status;
}

/* In process 0: x = the combination of the numbers of all. */
static scl_status gather(const group *g, int64_t *x, size_t count, bool maximum, scl_error *error) {
  int64_t *other = g->host->scratch(count * sizeof *other);
  if (other == NULL && count > 0)
    return g->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu numbers", count);
  for (size_t r = 1; r < g->size; r++) {
    const scl_status status = pass(g, r, false, other, count * sizeof *other, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; i < count; i++)
      x[i] = !maximum ? x[i] + other[i] : other[i] > x[i] ? other[i] : x[i];
  }
  return SCL_STATUS_OK;
}

static scl_status combine(void *context, int64_t *x, size_t count, bool maximum, scl_error *error) {
  const group *g = context;
  const scl_status status = g->rank == 0 ? gather(g, x, count, maximum, error)
                                         : pass(g, 0, true, x, count * sizeof *x, error);
  return status != SCL_STATUS_OK ? status : my_broadcast(context, 0, x, count * sizeof *x, error);
}

static scl_status my_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  return combine(context, x, count, false, error);
}

static scl_status my_maximum(void *context, int64_t *x, size_t count, scl_error *error) {
  return combine(context, x, count, true, error);
}

/* ------------------------------------------------------------ joining and leaving */

static size_t my_size(void *context) { return ((const group *)context)->size; }
static size_t my_rank(void *context) { return ((const group *)context)->rank; }

static void close_sockets(group *g) {
  for (size_t r = 0; r < g->size; r++)
    if (g->to[r] >= 0) (void)close(g->to[r]);
  memset(g->to, -1, sizeof g->to);
}

/* A closed socket is all that the others need to know of: `abort` does the same as `close`. */
static void my_close(void *context) {
  group *g = context;
  close_sockets(g);
  g->host->release(g);
}

/* The process that has started the others waits for all, and ends with the first failure. */
static _Noreturn void wait_for_all(void) {
  int first = 0, status;
  (void)signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the others from the terminal */
  for (;;) {
    const pid_t pid = wait(&status);
    if (pid < 0 && errno != EINTR) _exit(first);
    if (pid > 0 && first == 0)
      first = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

/* Start the processes, the last one first, so that process 0 has a socket to each. A process
 * closes the ends that are not its own: only so do the others see that one has ended. Returns 0 in
 * each of them, in the one that starts them the number of the last, or -1. */
static pid_t start(group *g) {
  pid_t pid = 1;
  for (g->rank = g->size; g->rank > 0 && pid > 0;) {
    int pair[2] = {-1, -1};
    if (--g->rank > 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    pid = fork();
    if (g->rank == 0) break;
    if (pid == 0) close_sockets(g);
    (void)close(pair[pid == 0 ? 0 : 1]);
    g->to[pid == 0 ? 0 : g->rank] = pair[pid == 0 ? 1 : 0];
  }
  return pid;
}

static scl_status my_open(const void *instance, void **out, scl_error *error) {
  const star *self = instance;
  const scl_host *host = self->base.host;
  const pid_t starter = getpid();
  group *g = host->allocate(sizeof *g);
  if (g == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a group");
  *g = (group){.host = host, .size = self->processes};
  memset(g->to, -1, sizeof g->to);
  const pid_t pid = start(g);
  const int reason = errno;
  if (pid == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with the process that started it */
    if (getppid() != starter) _exit(1);
    *out = g;
    return SCL_STATUS_OK;
  }
  my_close(g);
  if (pid > 0) wait_for_all();
  return host->fail(error, SCL_STATUS_IO, "the processes cannot be started: %s", strerror(reason));
}

const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "processes of this machine, made by fork, joined by sockets through process 0",
    .doc = "scullery --transport 'my_plugin{processes = 4}' fit.lua runs the script in four\n"
           "processes, each on a part of the rows. Process 0 receives the numbers of all, adds\n"
           "them, and sends the sums back: the time of an exchange grows with the processes.",
    SCL_TRANSPORT(.open = my_open, .size = my_size, .rank = my_rank, .sum = my_sum,
                  .maximum = my_maximum, .broadcast = my_broadcast, .close = my_close,
                  .abort = my_close),
    SCL_INSTANCE(star, options),
    .version = "0.1"};
