/* Optima of small learning problems in 113 bits, to judge by what solvers make of the same doubles.
 *
 *   reference PROBLEMS ANSWERS
 *
 * Both files are text (problem.h). The rows may go through a stage first: option `stage`. */
#include "problem.h"

#include <stdlib.h>
#include <string.h>

typedef struct reference {
  const char *name;
  void (*solve)(problem *p);
} reference;

static const reference references[] = {
    {"ridge", solve_smooth},     {"huber", solve_smooth},
    {"logistic", solve_smooth},  {"trimmed", solve_trimmed},
    {"lasso", solve_patterns},   {"box", solve_patterns},
    {"hinge", solve_margin},     {"svm", solve_margin},
    {"box_hinge", solve_margin}, {"kernel_ridge", solve_kernel_ridge},
    {"knn", solve_knn},          {"adaboost", solve_adaboost},
    {"gram", solve_gram},        {"standardize", stage_standardize},
    {"minmax", stage_minmax},    {"pca", stage_pca},
};

static void (*find(const char *name))(problem *) {
  for (size_t k = 0; k < sizeof references / sizeof *references; k++)
    if (strcmp(references[k].name, name) == 0) return references[k].solve;
  (void)fprintf(stderr, "reference: nothing is known of %s\n", name);
  exit(2);
}

/* The stage's rows in place of those that were read. */
static void go_through(problem *p, const char *stage) {
  if (stage[0] == '\0') return;
  find(stage)(p);
  free(p->x);
  p->x = p->out;
  p->d = p->out_cols;
  p->out = NULL;
}

int main(int count, char **arguments) {
  FILE *in = count == 3 ? fopen(arguments[1], "r") : NULL;
  FILE *out = count == 3 ? fopen(arguments[2], "w") : NULL;
  problem p;
  if (in == NULL || out == NULL) {
    (void)fprintf(stderr, "usage: reference PROBLEMS ANSWERS\n");
    return 2;
  }
  while (problem_read(in, &p)) {
    go_through(&p, option_given(&p, "stage"));
    find(p.solver)(&p);
    problem_write(out, &p);
    problem_release(&p);
  }
  (void)fclose(in);
  return fclose(out) == 0 ? 0 : 2;
}
