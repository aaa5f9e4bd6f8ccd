#define _POSIX_C_SOURCE 200809L
#include "data/shares.h"
#include "base/interrupt.h"
#include "data/files/input.h"
#include "processes/processes.h"

#include <string.h>
#include <sys/stat.h>

size_t scl_shares_bytes(const char *path, bool packed) {
  struct stat file;
  scl_input *input;
  char byte;
  size_t got, bytes = 0;
  const bool own =
      stat(path, &file) == 0 && S_ISREG(file.st_mode) && strncmp(path, "/dev/", 5) != 0;
  if (!own || scl_input_open(path, &input, NULL) != SCL_STATUS_OK) return 0;
  const bool before = scl_interrupt_ignore(true); /* the next check sees it */
  if (scl_input_read(input, &byte, 1, &got, NULL) == SCL_STATUS_OK &&
      (packed || (scl_input_seeks(input) && !scl_input_is_packed(input))))
    bytes = scl_input_most(input);
  (void)scl_interrupt_ignore(before);
  scl_input_close(input);
  return bytes == SIZE_MAX ? 0 : bytes;
}

scl_status scl_shares_same_files(const char *const *paths, size_t count, bool *same,
                                 scl_error *error) {
  uint64_t hash = 0;
  for (size_t k = 0; k < count; k++) {
    struct stat file = {0};
    (void)stat(paths[k], &file);
    hash = (hash ^ (uint64_t)file.st_ino) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uint64_t)file.st_dev) * 0x9e3779b97f4a7c15u;
  }
  int64_t seen[2] = {(int64_t)(hash >> 2), -(int64_t)(hash >> 2)};
  SCL_TRY(scl_processes_maximum(seen, 2, error));
  *same = seen[0] == -seen[1];
  return SCL_STATUS_OK;
}

scl_status scl_shares_end(scl_status mine, int64_t *most, size_t count, bool *again,
                          scl_error *error) {
  most[0] = mine != SCL_STATUS_OK;
  SCL_TRY(scl_processes_meet(mine == SCL_STATUS_CANCELLED ? mine : SCL_STATUS_OK, error,
                             "the ends of the shares"));
  SCL_TRY(scl_processes_maximum(most, count, error));
  *again = most[0] != 0;
  return SCL_STATUS_OK;
}

scl_status scl_shares_gather(scl_status mine, size_t own_count, const void *own, size_t size,
                             void **out, size_t *count, scl_error *error) {
  const size_t p = scl_processes_count();
  int64_t *lengths = scl_allocate_zero(p * sizeof *lengths);
  char *at = NULL;
  if (mine == SCL_STATUS_OK && lengths == NULL) mine = scl_fail_memory(error, p, "shares of files");
  if (lengths != NULL) lengths[scl_processes_rank()] = (int64_t)own_count;
  *count = 0;
  *out = NULL;
  scl_status status = scl_processes_meet(mine, error, "the sizes of the shares of files");
  if (status == SCL_STATUS_OK) status = scl_processes_sum(lengths, p, error);
  for (size_t r = 0; status == SCL_STATUS_OK && r < p; r++)
    *count += (size_t)lengths[r];
  if (status == SCL_STATUS_OK) {
    at = *out = scl_allocate_array(*count + 1, size);
    status = at == NULL ? scl_fail_memory(error, *count * size, "shares of files") : SCL_STATUS_OK;
    status = scl_processes_meet(status, error, "what is in the shares of files");
  }
  for (size_t r = 0; status == SCL_STATUS_OK && r < p; r++) {
    const size_t bytes = (size_t)lengths[r] * size;
    if (bytes == 0) continue;
    if (r == scl_processes_rank()) memcpy(at, own, bytes);
    status = scl_processes_broadcast(r, at, bytes, error);
    at += bytes;
  }
  scl_release(lengths);
  return status;
}

scl_status scl_shares_worth(const char *const *paths, size_t files, bool *worth, scl_error *error) {
  size_t all = 0, least = SIZE_MAX;
  bool same;
  *worth = false;
  if (!scl_processes_divide() || scl_processes_here() < scl_processes_count()) return SCL_STATUS_OK;
  for (size_t k = 0; k < files; k++) {
    const size_t bytes = scl_shares_bytes(paths[k], false);
    least = scl_min(least, bytes);
    all += bytes;
  }
  int64_t few = least == 0 || all < SCL_SHARED_BYTES;
  SCL_TRY(scl_processes_meet(SCL_STATUS_OK, error, "the reading of %zu files of rows", files));
  SCL_TRY(scl_shares_same_files(paths, files, &same, error));
  SCL_TRY(scl_processes_maximum(&few, 1, error));
  *worth = same && few == 0;
  return SCL_STATUS_OK;
}

scl_status scl_shares_matrix(scl_status mine, size_t rows, size_t cols, scl_dtype dtype,
                             scl_status (*fill)(void *context, const scl_matrix *all,
                                                scl_error *error),
                             void *context, scl_matrix *out, bool *read, scl_error *error) {
  int64_t most[1];
  bool again;
  void *block;
  scl_matrix all = {0};
  *read = false;
  SCL_TRY(scl_shares_end(mine, most, 1, &again, error));
  if (again || rows * cols == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_processes_share(SCL_STATUS_OK, rows * cols * scl_dtype_size(dtype), &block, error));
  if (block == NULL) return SCL_STATUS_OK;
  scl_status status = scl_matrix_borrow(block, rows, cols, (ptrdiff_t)cols, dtype, &all, error);
  if (status == SCL_STATUS_OK) status = fill(context, &all, error);
  scl_matrix_release(&all);
  status = scl_shares_end(status, most, 1, &again, error);
  if (status == SCL_STATUS_OK && !again)
    status = scl_processes_part_memory(status, &block, 1, error);
  *read = status == SCL_STATUS_OK && !again;
  if (*read) return scl_matrix_adopt(block, rows, cols, dtype, out, error);
  scl_release(block);
  return status;
}

scl_status scl_shares_labels(scl_labels *labels, scl_error *error) {
  void *all = NULL;
  size_t count;
  scl_status status = scl_shares_gather(SCL_STATUS_OK, labels->count, labels->values,
                                        sizeof(double), &all, &count, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    if (!scl_labels_add(labels, ((const double *)all)[i]))
      status = scl_fail_memory(error, count * sizeof(double), "labels");
  scl_release(all);
  return status;
}
