#include "problem.h"

#include <stdlib.h>
#include <string.h>

static void give_up(const char *what, const char *name) {
  (void)fprintf(stderr, "reference: %s%s\n", what, name);
  exit(2);
}

void *numbers(size_t count, size_t bytes) {
  void *memory = calloc(count + 1, bytes);
  if (memory == NULL) give_up("not enough memory", "");
  return memory;
}

quad *quads(size_t count) { return numbers(count, sizeof(quad)); }

static quad *read_numbers(FILE *file, size_t count) {
  quad *list = quads(count);
  for (size_t i = 0; i < count; i++) {
    double value = 0;
    if (fscanf(file, "%lf", &value) != 1) give_up("a number is missing", "");
    list[i] = value;
  }
  return list;
}

bool problem_read(FILE *file, problem *p) {
  *p = (problem){.x = NULL};
  const int found =
      fscanf(file, "%31s %zu %zu %zu %zu %zu", p->solver, &p->n, &p->m, &p->d, &p->c, &p->options);
  if (found == EOF) return false;
  if (found != 6 || p->options > MOST_OPTIONS) give_up("malformed: ", p->solver);
  for (size_t k = 0; k < p->options; k++)
    if (fscanf(file, "%31s %31s", p->option[k].name, p->option[k].value) != 2)
      give_up("an option is missing: ", p->solver);
  p->x = read_numbers(file, (p->n + p->m) * p->d);
  p->y = read_numbers(file, p->n * p->c);
  return true;
}

void problem_write(FILE *file, const problem *p) {
  const bool found = p->out != NULL;
  (void)fprintf(file, "%zu %zu\n", found ? p->out_rows : 0, found ? p->out_cols : 0);
  for (size_t i = 0; found && i < p->out_rows; i++)
    for (size_t j = 0; j < p->out_cols; j++)
      (void)fprintf(file, "%.17g%c", (double)p->out[i * p->out_cols + j],
                    j + 1 < p->out_cols ? ' ' : '\n');
}

void problem_release(problem *p) {
  free(p->x);
  free(p->y);
  free(p->out);
}

const char *option_given(const problem *p, const char *name) {
  for (size_t k = 0; k < p->options; k++)
    if (strcmp(p->option[k].name, name) == 0) return p->option[k].value;
  return "";
}

const char *option_word(const problem *p, const char *name) {
  const char *value = option_given(p, name);
  if (value[0] == '\0') give_up("an option is missing: ", name);
  return value;
}

double option_number(const problem *p, const char *name) {
  char *end = NULL;
  const char *text = option_word(p, name);
  const double value = strtod(text, &end);
  if (*end != '\0') give_up("not a number: ", name);
  return value;
}

quad *answer(problem *p) {
  p->out_rows = p->n + p->m;
  p->out_cols = p->c;
  p->out = quads(p->out_rows * p->out_cols);
  return p->out;
}

void centre(problem *p) {
  for (size_t j = 0; j < p->d; j++) {
    quad mean = 0;
    for (size_t i = 0; i < p->n; i++)
      mean += row(p, i)[j];
    mean /= p->n;
    for (size_t i = 0; i < p->n + p->m; i++)
      p->x[i * p->d + j] -= mean;
  }
}
