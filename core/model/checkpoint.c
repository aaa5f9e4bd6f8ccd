/* Checkpoints in files. Called by core/lua/checkpoint.c. */
#define _GNU_SOURCE
#include "model/checkpoint.h"

#include "base/file_limit.h"
#include "base/progress.h"
#include "data/files/file.h"
#include "data/files/output.h"
#include "model/sums.h"
#include "plugin/host.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The beginning of PATH.passes and PATH.state. */
typedef struct file_head {
  char magic[16];
  char identity[SCL_CHECKPOINT_IDENTITY];
  uint64_t part;
} file_head;

/* Before the bytes of a record. */
typedef struct record_head {
  uint64_t what, size, digest;
} record_head;

typedef struct files {
  scl_checkpoint slots; /* first: what the engine sees */
  char *sums, *passes, *state;
  file_head head;
  uint64_t sums_of; /* the work whose sums PATH.sums has */
  double every;
  double last, cost; /* when something was written last, and the seconds that a write takes */
  int log;           /* PATH.passes; -1: not open */
  size_t place;      /* the end of its valid records, or the next record that is replayed */
  bool replaying;
  bool state_asked; /* whether the stored state was looked for */
  bool failed;      /* something could not be written, which was said */
} files;

static files *files_of(const scl_checkpoint *checkpoint) { return (files *)(uintptr_t)checkpoint; }

/* Say once that a checkpoint cannot be written. */
static void say_failed(files *f, const char *path, const char *reason) {
  char line[1400];
  (void)snprintf(line, sizeof line, "checkpoint %s: %s; the fit goes on without new checkpoints",
                 path, reason);
  if (!f->failed) scl_host_write(line);
  f->failed = true;
}

/* ------------ records */

/* FNV-1a over the spans. */
static uint64_t digest_of(const scl_span *spans, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t s = 0; s < count; s++)
    for (size_t i = 0; i < spans[s].size; i++)
      hash = (hash ^ ((const unsigned char *)spans[s].data)[i]) * 1099511628211u;
  return hash;
}

static uint64_t size_of(const scl_span *spans, size_t count) {
  uint64_t size = 0;
  for (size_t s = 0; s < count; s++)
    size += spans[s].size;
  return size;
}

/* Exactly `size` bytes from place `from`; false: there are not as many. */
static bool read_at(int file, void *to, size_t size, size_t from) {
  for (size_t got = 0; got < size;) {
    const ssize_t piece = pread(file, (char *)to + got, size - got, (off_t)(from + got));
    if (piece < 0 && errno == EINTR) continue;
    if (piece <= 0) return false;
    got += (size_t)piece;
  }
  return true;
}

/* 0, or errno. */
static int write_at(int file, const void *from, size_t size, size_t to) {
  for (size_t put = 0; put < size;) {
    const ssize_t piece = pwrite(file, (const char *)from + put, size - put, (off_t)(to + put));
    if (piece < 0 && errno == EINTR) continue;
    if (piece <= 0) return piece == 0 ? ENOSPC : errno;
    put += (size_t)piece;
  }
  return 0;
}

/* Read the record at `place` into the spans, the last of which may be filled in part. *found =
 * false: there is no whole record of that size and digest. */
static void read_record(int file, size_t place, const record_head *head, scl_span *spans,
                        size_t count, bool *found) {
  scl_span *last = &spans[count - 1];
  const uint64_t most = size_of(spans, count), least = most - last->size;
  *found = false;
  if (head->size < least || head->size > most) return;
  last->size = head->size - least;
  place += sizeof *head;
  for (size_t s = 0; s < count; place += spans[s++].size)
    if (!read_at(file, spans[s].data, spans[s].size, place)) return;
  *found = digest_of(spans, count) == head->digest;
}

/* ------------ results of passes */

/* Open PATH.passes, and decide whether there is something to replay. */
static scl_status open_passes(files *f, scl_error *error) {
  file_head head;
  f->log = open(f->passes, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (f->log < 0)
    return scl_fail(error, SCL_STATUS_IO, "%s: cannot be opened: %s", f->passes, strerror(errno));
  f->place = 0;
  f->replaying = false;
  struct stat facts;
  const size_t there = fstat(f->log, &facts) == 0 ? (size_t)facts.st_size : 0,
               some = scl_min(there, sizeof head.magic);
  if (!read_at(f->log, head.magic, some, 0) || memcmp(head.magic, f->head.magic, some) != 0)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: it is not a file of a checkpoint: move it, or begin anew with restart = true",
        f->passes);
  if (!read_at(f->log, &head, sizeof head, 0)) return SCL_STATUS_OK; /* new, or cut off */
  if (memcmp(head.identity, f->head.identity, sizeof head.identity) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it is of another fit", f->passes);
  f->replaying = head.part == f->head.part;
  f->place = sizeof head;
  return SCL_STATUS_OK;
}

/* Slot scl_checkpoint.replay. */
static scl_status files_replay(scl_checkpoint *self, uint64_t what, scl_span *spans, size_t count,
                               bool *found, scl_error *error) {
  files *f = files_of(self);
  record_head head;
  *found = false;
  if (f->log < 0 && !f->failed) SCL_TRY(open_passes(f, error));
  if (!f->replaying) return SCL_STATUS_OK;
  /* Zeros: a process was killed before it wrote the head. */
  if (read_at(f->log, &head, sizeof head, f->place) && head.what != 0) {
    if (head.what != what)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: it is damaged: the solver asks for another pass than the recorded one; "
                      "begin anew with restart = true",
                      f->passes);
    read_record(f->log, f->place, &head, spans, count, found);
  }
  if (*found)
    f->place += sizeof head + head.size;
  else
    f->replaying = false; /* the end, or what a killed process left of a record */
  return SCL_STATUS_OK;
}

/* Append a record; 0, or errno. */
static int append(files *f, const record_head *head, const scl_span *spans, size_t count) {
  size_t at = f->place;
  int failed = ftruncate(f->log, (off_t)at) == 0 ? 0 : errno;
  if (at == 0 && failed == 0) failed = write_at(f->log, &f->head, at = sizeof f->head, 0);
  const size_t start = at;
  at += sizeof *head;
  for (size_t s = 0; failed == 0 && s < count; at += spans[s++].size)
    failed = write_at(f->log, spans[s].data, spans[s].size, at);
  /* The head comes last: a record without one does not exist. */
  if (failed == 0) failed = write_at(f->log, head, sizeof *head, start);
  if (failed == 0)
    f->place = at;
  else
    (void)ftruncate(f->log, (off_t)f->place);
  return failed;
}

/* Slot scl_checkpoint.record. */
static void files_record(scl_checkpoint *self, uint64_t what, const scl_span *spans, size_t count) {
  files *f = files_of(self);
  if (f->failed || f->log < 0) return;
  const record_head head = {what, size_of(spans, count), digest_of(spans, count)};
  const scl_file_limit held = scl_file_limit_block();
  const int failed = append(f, &head, spans, count);
  scl_file_limit_restore(&held);
  if (failed != 0) say_failed(f, f->passes, strerror(failed));
}

/* ------------ when to write */

/* Slot scl_checkpoint.due. Writing takes at most 1/50 of the time. */
static bool files_due(const scl_checkpoint *self, bool finished) {
  const files *f = files_of(self);
  const double since = scl_progress_clock() - f->last, least = 50 * f->cost;
  return !f->failed && since >= (finished ? least : fmax(least, f->every));
}

/* After a write that began at `began`. */
static void written(files *f, double began) {
  f->last = scl_progress_clock();
  f->cost = f->last - began;
}

/* ------------ sums */

/* Write the arrays of an archive to PATH.sums. */
static scl_status write_arrays(const files *f, const scl_array_archive *archive, size_t rows,
                               scl_error *error) {
  char text[SCL_CHECKPOINT_IDENTITY + 160];
  scl_tensor *tensors = scl_allocate_array(archive->count + 1, sizeof *tensors);
  if (tensors == NULL) return scl_fail_memory(error, archive->count * sizeof *tensors, "sums");
  for (size_t i = 0; i < archive->count; i++) {
    (void)snprintf(tensors[i].name, sizeof tensors[i].name, "%s", archive->entries[i].name);
    tensors[i].array = archive->entries[i].array;
  }
  (void)snprintf(text, sizeof text,
                 "{\"format\":\"scullery\",\"version\":5,\"kind\":\"checkpoint\","
                 "\"checkpoint\":\"%.*s\",\"part\":%zu,\"rows\":%zu}",
                 SCL_CHECKPOINT_IDENTITY, f->head.identity, (size_t)f->sums_of, rows);
  const scl_status status = scl_safetensors_write(f->sums, text, tensors, archive->count, error);
  scl_release(tensors);
  return status;
}

/* Slot scl_checkpoint.store_sums. */
static void files_store_sums(scl_checkpoint *self, scl_whole_sums *sums,
                             const scl_fingerprints *prints, size_t rows) {
  files *f = files_of(self);
  const double began = scl_progress_clock();
  scl_array_archive archive;
  scl_error error = {0};
  scl_row_sums row_sums = {.whole = sums, .printed = prints != NULL};
  scl_archive_open(&archive);
  scl_status status = SCL_STATUS_OK;
  /* a copy, because saving sorts it */
  if (prints != NULL) status = scl_fingerprints_join(&row_sums.prints, prints, &error);
  if (status == SCL_STATUS_OK) status = scl_row_sums_save(&row_sums, &archive, &error);
  if (status == SCL_STATUS_OK) status = write_arrays(f, &archive, rows, &error);
  scl_fingerprints_release(&row_sums.prints);
  scl_archive_close(&archive);
  if (status != SCL_STATUS_OK) say_failed(f, f->sums, error.message);
  written(f, began);
}

/* Whether an opened PATH.sums is of this fit and part; *rows = the rows that it covers. */
static scl_status check_sums(const files *f, const scl_saved *saved, bool *ours, size_t *rows,
                             scl_error *error) {
  const char *identity;
  size_t part;
  SCL_TRY(scl_saved_word(saved->body, "checkpoint", &identity, error));
  SCL_TRY(scl_saved_whole(saved, saved->body, "part", 0, SIZE_MAX / 2, &part, error));
  SCL_TRY(scl_saved_whole(saved, saved->body, "rows", 1, SIZE_MAX / 2, rows, error));
  if (strlen(identity) != SCL_CHECKPOINT_IDENTITY ||
      memcmp(identity, f->head.identity, SCL_CHECKPOINT_IDENTITY) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "it is of another fit");
  *ours = part == f->sums_of;
  return SCL_STATUS_OK;
}

/* Slot scl_checkpoint.load_sums. */
static scl_status files_load_sums(scl_checkpoint *self, size_t features, size_t targets,
                                  scl_fingerprints *prints, scl_whole_sums **sums, size_t *rows,
                                  scl_error *error) {
  files *f = files_of(self);
  scl_saved saved;
  bool ours = false;
  *sums = NULL;
  if (access(f->sums, F_OK) != 0) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_open(f->sums, NULL, 0, f->sums, SCL_LOADER_SCRIPT, &saved, error));
  scl_row_sums found = {0};
  scl_status status = check_sums(f, &saved, &ours, rows, error);
  if (status == SCL_STATUS_OK && ours)
    status = scl_saved_sums(&saved, features, targets, &found, error);
  if (status == SCL_STATUS_OK && ours && prints != NULL)
    status = found.printed ? scl_fingerprints_join(prints, &found.prints, error)
                           : scl_fail(error, SCL_STATUS_BAD_DATA, "it has no fingerprints of rows");
  if (status == SCL_STATUS_OK) {
    *sums = found.whole;
    found.whole = NULL;
  } else {
    (void)scl_prefix(error, "%s (restart = true begins anew)", f->sums);
  }
  scl_row_sums_release(&found);
  scl_saved_close(&saved);
  return status;
}

/* ------------ states of solvers */

/* Copy the stored state to the spans. *found = false: there is none of this part. */
static scl_status load_state(const files *f, const scl_span *spans, size_t count, bool *found,
                             scl_error *error) {
  file_head head;
  record_head record;
  scl_span to[SCL_CHECKPOINT_SPANS];
  const int file = open(f->state, O_RDONLY | O_CLOEXEC);
  *found = false;
  if (file < 0) return SCL_STATUS_OK;
  const uint64_t size = size_of(spans, count);
  memcpy(to, spans, count * sizeof *to);
  bool whole = read_at(file, &head, sizeof head, 0) &&
               memcmp(&head, &f->head, offsetof(file_head, part)) == 0;
  const bool ours = whole && head.part == f->head.part;
  if (ours) {
    whole = read_at(file, &record, sizeof record, sizeof head) && record.size == size;
    if (whole) read_record(file, sizeof head, &record, to, count, &whole);
    *found = whole;
  }
  (void)close(file);
  return whole ? SCL_STATUS_OK
               : scl_fail(error, SCL_STATUS_BAD_DATA,
                          "%s: it is damaged, or of another fit: begin anew with restart = true",
                          f->state);
}

static void store_state(files *f, const scl_span *spans, size_t count) {
  const double began = scl_progress_clock();
  const record_head head = {0, size_of(spans, count), digest_of(spans, count)};
  scl_error error = {0};
  scl_output *out;
  scl_status status = scl_output_open(f->state, &out, &error);
  if (status == SCL_STATUS_OK) {
    scl_output_write(out, &f->head, sizeof f->head);
    scl_output_write(out, &head, sizeof head);
    for (size_t s = 0; s < count; s++)
      scl_output_write(out, spans[s].data, spans[s].size);
    status = scl_output_commit(out, &error);
  }
  if (status != SCL_STATUS_OK) say_failed(f, f->state, error.message);
  written(f, began);
}

/* Slot scl_checkpoint.keep. */
static scl_status files_keep(scl_checkpoint *self, const scl_span *spans, size_t count,
                             bool *restored, scl_error *error) {
  files *f = files_of(self);
  *restored = false;
  if (count == 0 || count > SCL_CHECKPOINT_SPANS)
    return scl_fail(error, SCL_STATUS_INTERNAL, "a state has %zu parts; it may have %d", count,
                    SCL_CHECKPOINT_SPANS);
  if (!f->state_asked) {
    f->state_asked = true;
    return load_state(f, spans, count, restored, error);
  }
  if (files_due(self, false)) store_state(f, spans, count);
  return SCL_STATUS_OK;
}

/* ------------ opening and closing */

static char *path_of(const char *path, const char *ending) {
  const size_t room = strlen(path) + strlen(ending) + 1;
  char *out = scl_allocate(room);
  if (out != NULL) (void)snprintf(out, room, "%s%s", path, ending);
  return out;
}

void scl_checkpoint_begin(scl_checkpoint *checkpoint, uint64_t part, uint64_t sums) {
  files *f = files_of(checkpoint);
  f->head.part = part;
  f->sums_of = sums;
  if (f->log >= 0) (void)close(f->log);
  f->log = -1;
  f->state_asked = false;
}

scl_status scl_checkpoint_open(const char *path, const char *identity, double every,
                               scl_checkpoint **out, scl_error *error) {
  files *f = scl_allocate_zero(sizeof *f);
  if (f == NULL) return scl_fail_memory(error, sizeof *f, "a checkpoint");
  *f = (files){.slots = {files_load_sums, files_due, files_store_sums, files_replay, files_record,
                         files_keep},
               .sums = path_of(path, ".sums"),
               .passes = path_of(path, ".passes"),
               .state = path_of(path, ".state"),
               .head = {.magic = "scullery passes"},
               .every = every,
               .last = scl_progress_clock(),
               .log = -1};
  memcpy(f->head.identity, identity, sizeof f->head.identity);
  if (f->sums == NULL || f->passes == NULL || f->state == NULL) {
    scl_checkpoint_close(&f->slots);
    return scl_fail_memory(error, 3 * strlen(path), "a checkpoint");
  }
  *out = &f->slots;
  return SCL_STATUS_OK;
}

void scl_checkpoint_close(scl_checkpoint *checkpoint) {
  if (checkpoint == NULL) return;
  files *f = files_of(checkpoint);
  if (f->log >= 0) (void)close(f->log);
  SCL_RELEASE(f->sums, f->passes, f->state, f);
}
