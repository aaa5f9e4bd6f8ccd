/* One problem of the input: rows, targets and options, and where the answer goes. */
#ifndef SCULLERY_TESTS_REFERENCE_PROBLEM_H
#define SCULLERY_TESTS_REFERENCE_PROBLEM_H

#include "quad.h"

#include <stdbool.h>
#include <stdio.h>

enum { WORD = 32, MOST_OPTIONS = 16 };

typedef struct option {
  char name[WORD], value[WORD];
} option;

typedef struct problem {
  char solver[WORD];
  size_t n, m, d, c; /* rows to learn from, rows that follow them, columns, targets */
  size_t options;
  option option[MOST_OPTIONS];
  quad *x; /* (n + m) x d */
  quad *y; /* n x c */
  size_t out_rows, out_cols;
  quad *out; /* the answer, in row order; NULL: none was found */
} problem;

/* The next problem of the file:
 *
 *   SOLVER n m d c options
 *   NAME VALUE          for each option
 *   numbers of x and y
 *
 * False at its end. A malformed file ends the program with a message. */
bool problem_read(FILE *file, problem *p);

/* A line of rows and columns, and one for each row. "0 0": there is no answer. */
void problem_write(FILE *file, const problem *p);

void problem_release(problem *p);

/* Options by name; ends the program where there is none. */
double option_number(const problem *p, const char *name);
const char *option_word(const problem *p, const char *name);
/* "" where there is none. */
const char *option_given(const problem *p, const char *name);

/* Zeros, released by free; ends the program where memory is short. */
void *numbers(size_t count, size_t bytes);
quad *quads(size_t count);

/* p->out of (n + m) x c zeros. */
quad *answer(problem *p);

/* A row of x, of learning rows first. */
static inline const quad *row(const problem *p, size_t i) { return p->x + i * p->d; }

/* ------------ the references */

/* Subtract from each column its mean over the first n rows: with a constant, no optimum depends on
 * it, nor does a distance. */
void centre(problem *p);

void solve_smooth(problem *p);       /* smooth.c: ridge, huber, logistic */
void solve_patterns(problem *p);     /* patterns.c: lasso, and box with a smooth loss */
void solve_trimmed(problem *p);      /* smooth.c */
void solve_margin(problem *p);       /* margin.c: hinge, svm, and box with the hinge */
void solve_kernel_ridge(problem *p); /* kernels.c */
void solve_gram(problem *p);         /* kernels.c: the matrix of kernel values itself */
void solve_knn(problem *p);          /* rows.c */
void solve_adaboost(problem *p);     /* rows.c */
void stage_standardize(problem *p);  /* stages.c */
void stage_minmax(problem *p);
void stage_pca(problem *p);

/* kernel(x_i, x_j) for rows i of all and j < n, as the options say: (n + m) x n numbers. */
quad *kernel_matrix(const problem *p);

#endif
