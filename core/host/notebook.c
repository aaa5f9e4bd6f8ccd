/* `scullery notebook serve IN OUT`: the process behind a Jupyter kernel. Requests come as JSON
 * lines from descriptor IN, answers go as JSON lines to descriptor OUT; what scripts print goes to
 * the standard streams alone. Of several processes, the first reads requests for all, and answers.
 * lua/scullery/notebook/server.lua describes the requests. */
#define _GNU_SOURCE
#include "host/host.h"

#include "base/interrupt.h"
#include "lua/glue.h"
#include "processes/processes.h"
#include "progress/progress.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static struct {
  int out;
  pthread_mutex_t writing; /* for whole lines: any thread may report progress */
  atomic_llong request;    /* number of the request being answered */
  long long asked;      /* when process 0 had read it, and when Ctrl-C came last between cells, */
  atomic_llong pressed; /* in nanoseconds: for several processes */
} notebook = {.writing = PTHREAD_MUTEX_INITIALIZER};

/* Write all bytes to OUT, also where the system takes them in pieces. */
static bool write_all(const char *text, size_t left) {
  while (left > 0) {
    const ssize_t written = write(notebook.out, text, left);
    if (written < 0 && errno != EINTR) return false;
    if (written < 0) continue;
    text += written;
    left -= (size_t)written;
  }
  return true;
}

/* Write to OUT, after everything that was printed before. False, with errno: it cannot be
 * written. */
static bool write_out(const char *text, size_t length) {
  (void)fflush(stdout);
  pthread_mutex_lock(&notebook.writing);
  const bool written = write_all(text, length);
  pthread_mutex_unlock(&notebook.writing);
  return written;
}

/* send(line): write one line to OUT, in process 0; raises an error if that fails. */
static int send_line(lua_State *L) {
  size_t length;
  luaL_checkstring(L, 1);
  if (scl_processes_rank() > 0) return 0;
  lua_settop(L, 1);
  lua_pushliteral(L, "\n");
  lua_concat(L, 2);
  const char *line = lua_tolstring(L, 1, &length);
  if (write_out(line, length)) return 0;
  return luaL_error(L, "the notebook cannot be written to: %s", strerror(errno));
}

/* Send the progress line of the running cell; "" erases it. */
static void send_progress(const char *line) {
  cJSON *event = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(event, "event", "progress");
  (void)cJSON_AddNumberToObject(event, "id", (double)atomic_load(&notebook.request));
  (void)cJSON_AddStringToObject(event, "text", line);
  char *text = cJSON_PrintUnformatted(event);
  if (text != NULL) {
    const size_t length = strlen(text);
    text[length] = '\n'; /* replaces the terminating zero, which is not sent */
    (void)write_out(text, length + 1);
  }
  cJSON_free(text);
  cJSON_Delete(event);
}

/* The inherited descriptor that the text names, which processes started by scripts will not
 * inherit; -1 if there is none. */
static int inherited_descriptor(const char *text) {
  char *end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != 0 || number <= STDERR_FILENO || number > INT_MAX ||
      fcntl((int)number, F_SETFD, FD_CLOEXEC) != 0)
    return -1;
  return (int)number;
}

/* require "scullery.notebook.server".start(send) -> answer, failed; at places 1 and 2. */
static bool start_server(lua_State *L) {
  lua_settop(L, 0);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery.notebook.server");
  if (scl_protected_call(L, 1, 1) != LUA_OK) return false;
  lua_getfield(L, 1, "start");
  lua_pushcfunction(L, send_line);
  if (scl_protected_call(L, 1, 2) != LUA_OK) return false;
  lua_remove(L, 1);
  return true;
}

/* answer(line), but for Ctrl-C that came before this process was there. */
static int answer_pressed(lua_State *L) {
  if (atomic_load(&notebook.pressed) >= notebook.asked) (void)raise(SIGINT);
  lua_call(L, 1, 0);
  return 0;
}

/* Answer a request by answer(line). If that raises an error, as it does after several presses of
 * Ctrl-C, failed(message) is called: in a call of its own, in which earlier presses do not
 * count. */
static bool answer_request(lua_State *L, const char *line, size_t length) {
  lua_pushcfunction(L, answer_pressed);
  lua_pushvalue(L, 1);
  lua_pushlstring(L, line, length);
  if (scl_interruptible_call(L, 2, 0, 0) == LUA_OK) return true;
  lua_pushvalue(L, 2);
  lua_insert(L, -2);
  return scl_protected_call(L, 1, 0) == LUA_OK;
}

/* Of several processes, some may not have begun with a cell in which others are stopped already. So
 * a press of Ctrl-C that comes after process 0 has read the cell belongs to it, in all of them. */
static long long nanoseconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void note_press(int signal) {
  (void)signal;
  atomic_store(&notebook.pressed, nanoseconds());
}

/* next(requests) -> the line of the next request, "" at the end: process 0 reads it for all. */
static int next_request(lua_State *L) {
  FILE *requests = lua_touserdata(L, 1);
  char *line = NULL;
  size_t size = 0;
  const ssize_t length = scl_processes_rank() > 0 ? 0 : getline(&line, &size, requests);
  const long long read = nanoseconds();
  lua_pushlstring(L, (const char *)&read, sizeof read);
  lua_pushlstring(L, line, length <= 0 ? 0 : (size_t)length);
  free(line);
  lua_concat(L, 2);
  scl_lua_share_text(L, "a cell of the notebook");
  size_t shared;
  const char *text = lua_tolstring(L, -1, &shared);
  memcpy(&notebook.asked, text, sizeof notebook.asked);
  lua_pushlstring(L, text + sizeof notebook.asked, shared - sizeof notebook.asked);
  return 1;
}

/* The next request on top of the stack, or an error. A process that Ctrl-C has stopped where others
 * were at an exchange is told so when it asks for the next request, and asks again. */
static bool read_request(lua_State *L, FILE *requests) {
  static const char ctrl_c[] = "interrupted!";
  for (;;) {
    lua_settop(L, 2);
    lua_pushcfunction(L, next_request);
    lua_pushlightuserdata(L, requests);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) return true;
    const char *text = lua_tostring(L, -1);
    const size_t length = text == NULL ? 0 : strlen(text), end = sizeof ctrl_c - 1;
    if (length < end || strcmp(text + length - end, ctrl_c) != 0) return false;
  }
}

/* A write to OUT whose reader is gone fails with EPIPE, which is reported, and does not end the
 * process. A handler, because a process that a script starts inherits an ignored signal, but not a
 * handler. */
static void outlive_reader(int signal) { (void)signal; }

void scl_follow_notebook(void) { (void)prctl(PR_SET_PDEATHSIG, SIGTERM); }

/* Each request is answered before the next one is read. Its line begins with the number of the
 * cell, to which reports of progress belong. */
int scl_notebook(lua_State *L, int argc, char **argv) {
  const int in = argc == 5 ? inherited_descriptor(argv[3]) : -1,
            out = argc == 5 ? inherited_descriptor(argv[4]) : -1;
  FILE *requests = in < 0 || out < 0 ? NULL : fdopen(in, "r");
  if (requests == NULL) {
    (void)fputs("scullery: notebook serve takes two descriptors that its parent opened\n", stderr);
    return EXIT_FAILURE;
  }
  if (scl_processes_count() == 1) scl_follow_notebook();
  (void)signal(SIGPIPE, outlive_reader);
  const struct sigaction noting = {.sa_handler = note_press, .sa_flags = SA_RESTART};
  (void)signal(SIGINT, SIG_IGN); /* between cells there is nothing to stop */
  if (scl_processes_count() > 1) (void)sigaction(SIGINT, &noting, NULL);
  (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  scl_interrupt_in_session();
  notebook.out = out;
  if (scl_processes_rank() == 0) scl_progress_show_by(send_progress);
  bool well = start_server(L);
  while (well && (well = read_request(L, requests))) {
    size_t length;
    const char *line = lua_tolstring(L, -1, &length);
    if (length == 0) break;
    atomic_store(&notebook.request, strtoll(line, NULL, 10));
    well = answer_request(L, line, length);
    (void)fflush(stdout);
  }
  if (!well) scl_report(L, "scullery: ");
  scl_progress_show_by(NULL);
  (void)fclose(requests);
  return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
