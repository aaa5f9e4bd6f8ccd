/* What the tests of scullery.h share: the models of tests/core/model/embed_models.lua in a folder
 * of their own, and the tables beside them. */
#ifndef EMBED_H
#define EMBED_H

#include <math.h>
#include <scullery/scullery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;
static char folder[] = "/tmp/scullery_embed_XXXXXX";
static const char *const models[] = {"linear",   "logistic", "regression", "neighbours", "cells",
                                     "sections", "whole",    "bytes",      "labels"};
enum { MODELS = sizeof models / sizeof *models };

static inline void expect(bool holds, const char *what, const char *more) {
  if (holds) return;
  failures++;
  (void)fprintf(stderr, "embed: %s: %s\n", what, more);
}

/* ------------ files */

typedef struct bytes {
  char *data;
  size_t size;
} bytes;

static inline bytes read_file(const char *name, const char *ending) {
  char path[200];
  bytes out = {NULL, 0};
  (void)snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  (void)fseek(file, 0, SEEK_END);
  out.size = (size_t)ftell(file);
  rewind(file);
  out.data = malloc(out.size + 1);
  if (out.data == NULL || fread(out.data, 1, out.size, file) != out.size) exit(EXIT_FAILURE);
  (void)fclose(file);
  return out;
}

typedef struct table {
  size_t rows, cols;
  double *numbers;
} table;

static inline table read_table(const char *name, const char *ending) {
  int64_t sizes[2];
  const bytes file = read_file(name, ending);
  memcpy(sizes, file.data, sizeof sizes);
  table out = {(size_t)sizes[0], (size_t)sizes[1], malloc(file.size)};
  if (out.numbers == NULL) exit(EXIT_FAILURE);
  memcpy(out.numbers, file.data + sizeof sizes, file.size - sizeof sizes);
  free(file.data);
  return out;
}

static inline scl_predictor *load(const char *name) {
  char path[200];
  scl_error error = {0};
  scl_predictor *out = NULL;
  (void)snprintf(path, sizeof path, "%s/%s.safetensors", folder, name);
  if (scl_predictor_load(path, &out, &error) != SCL_STATUS_OK) {
    (void)fprintf(stderr, "embed: %s\n", error.message);
    exit(EXIT_FAILURE);
  }
  return out;
}

typedef scl_status (*predicting)(const scl_predictor *, scl_dtype, const void *, size_t, size_t,
                                 void *, size_t, scl_error *);

static inline void refused(scl_status status, scl_status wanted, const scl_error *error,
                           const char *words) {
  expect(status == wanted && error->status == wanted, words, "another status");
  expect(strstr(error->message, words) != NULL, words, error->message);
}

/* ------------ the models */

static inline void make_models(void) {
  char line[1000];
  const char *program = getenv("SCULLERY_BINARY"), *source = getenv("SCULLERY_SOURCE");
  if (mkdtemp(folder) == NULL || program == NULL) {
    (void)fprintf(stderr, "embed: SCULLERY_BINARY names the command that makes the models\n");
    exit(EXIT_FAILURE);
  }
  (void)snprintf(line, sizeof line, "'%s' '%s/tests/core/model/embed_models.lua' '%s'", program,
                 source == NULL ? "." : source, folder);
  if (system(line) != 0) exit(EXIT_FAILURE);
}

static inline void remove_models(void) {
  char line[200];
  (void)snprintf(line, sizeof line, "rm -r '%s'", folder);
  expect(system(line) == 0, "the models", "were not removed");
}

#endif
