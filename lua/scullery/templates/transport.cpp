/* Processes of this machine, made by fork and joined by sockets in a chain. Process r has x_r:
 *
 *   sum:  y_i = x_0i + x_1i + ...      maximum:  y_i = max(x_0i, x_1i, ...)
 *
 * Numbers are combined on their way from the last process to process 0; y goes the way back. */
#include <scullery/plugin.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct chain {
  scl_base base; // what the host offers, and the options as they came
  size_t processes;
};

// For scullery --processes N. A transport with a launcher has the slot `launched` instead.
const scl_option options[] = {
    SCL_INTEGER(chain, processes, "2", "how many processes", SCL_WITHIN(1, 64))};

struct group {
  const scl_host *host;
  size_t size, rank;
  int to[2]; // sockets to processes rank - 1 and rank + 1; -1: there is none
};

group *of(void *context) { return static_cast<group *>(context); }

// Send or receive all bytes. A process that has ended has closed its socket: that is a failure,
// with a sentence. Nothing here waits for a process that has ended.
scl_status pass(const group *g, int to, bool out, void *data, size_t n, scl_error *error) {
  for (size_t at = 0; to >= 0 && at < n;) {
    const ssize_t passed = out ? send(to, static_cast<char *>(data) + at, n - at, MSG_NOSIGNAL)
                               : recv(to, static_cast<char *>(data) + at, n - at, 0);
    if (passed < 0 && errno == EINTR) continue;
    if (passed <= 0) return g->host->fail(error, SCL_STATUS_IO, "another process has ended");
    at += (size_t)passed;
  }
  return SCL_STATUS_OK;
}

scl_status my_broadcast(void *self, size_t from, void *data, size_t n, scl_error *error) {
  const group *g = of(self);
  const bool before = g->rank < from;
  const scl_status status = pass(g, g->to[before], g->rank == from, data, n, error);
  if (status != SCL_STATUS_OK) return status;
  return pass(g, g->to[!before], true, data, n, error);
}

scl_status combine(void *self, int64_t *x, size_t count, bool maximum, scl_error *error) {
  const group *g = of(self);
  const size_t size = count * sizeof *x;
  auto *next = static_cast<int64_t *>(g->host->scratch(size));
  if (next == nullptr && count > 0) return g->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  scl_status status = pass(g, g->to[1], false, next, size, error);
  for (size_t i = 0; i < count && g->to[1] >= 0 && status == SCL_STATUS_OK; i++)
    x[i] = !maximum ? x[i] + next[i] : next[i] > x[i] ? next[i] : x[i];
  if (status == SCL_STATUS_OK) status = pass(g, g->to[0], true, x, size, error);
  return status != SCL_STATUS_OK ? status : my_broadcast(self, 0, x, size, error);
}

scl_status my_sum(void *self, int64_t *x, size_t count, scl_error *error) {
  return combine(self, x, count, false, error);
}

scl_status my_maximum(void *self, int64_t *x, size_t count, scl_error *error) {
  return combine(self, x, count, true, error);
}

size_t my_size(void *self) { return of(self)->size; }
size_t my_rank(void *self) { return of(self)->rank; }

// A closed socket is all that the others need to know of: `abort` does the same as `close`.
void my_close(void *self) {
  const group *g = of(self);
  (void)close(g->to[0]);
  (void)close(g->to[1]);
  g->host->release(self);
}

// Returns in each process that it starts; the one that starts them ends with the first failure.
// Sockets of other processes are closed: only so do these see that one has ended.
scl_status my_open(const void *instance, void **out, scl_error *error) {
  const auto *self = static_cast<const chain *>(instance);
  const scl_host *host = self->base.host;
  auto *g = static_cast<group *>(host->allocate(sizeof(group)));
  *out = g;
  if (g == nullptr) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a group");
  *g = group{host, self->processes, 0, {-1, -1}};
  for (; g->rank < g->size; g->rank++) {
    int pair[2];
    const pid_t pid = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 ? fork() : -1;
    if (pid < 0) return my_close(g), host->fail(error, SCL_STATUS_IO, "no process can be started");
    (void)close(pid == 0 ? pair[1] : g->to[0]);
    if (pid == 0) {
      (void)prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with the process that started it
      g->to[1] = g->rank + 1 < g->size ? pair[0] : -1;
      return SCL_STATUS_OK;
    }
    (void)close(pair[0]);
    g->to[0] = pair[1];
  }
  (void)signal(SIGINT, SIG_IGN); // Ctrl-C reaches the others from the terminal
  int first = 0, status;
  while (wait(&status) > 0)
    if (first == 0) first = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  _exit(first);
}

} // namespace

const scl_plugin scullery_plugin = scullery::plugin(
    SCL_KIND_TRANSPORT,
    scl_transport{.open = my_open,
                  .size = my_size,
                  .rank = my_rank,
                  .sum = my_sum,
                  .maximum = my_maximum,
                  .broadcast = my_broadcast,
                  .close = my_close,
                  .abort = my_close},
    {.name = "my_plugin",
     .summary = "processes of this machine, made by fork and joined by sockets in a chain",
     .doc = "The time of an exchange grows with the number of processes.",
     SCL_INSTANCE(chain, options),
     .version = "0.1"});
