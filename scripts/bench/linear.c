/* For linear.lua: rows like those of RCV1, and LIBLINEAR on rows of a file.
 *
 *   linear make ROWS COLUMNS NUMBERS FILE     LIBSVM text: unit rows of about NUMBERS numbers, columns
 *                                             by Zipf's law, classes by hidden weights and noise
 *   linear fit FILE LAMBDA TYPE TOLERANCE...  a line each: seconds of the processor, and the objective
 *                                             as scullery's, without a constant */
#include <linear.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state = 88172645463325252u;

static double uniform(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return ((double)(state >> 12) + 0.5) / 4503599627370496.0;
}

static double normal(void) {
  return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* ------------ rows */

typedef struct words {
  int count;
  double *share, *weight, *rarity; /* cumulated shares: count + 1 numbers */
} words;

static words words_of(int count, double numbers) {
  words w = {count, malloc((size_t)(count + 1) * sizeof(double)),
             malloc((size_t)count * sizeof(double)), malloc((size_t)count * sizeof(double))};
  w.share[0] = 0;
  for (int j = 0; j < count; j++) {
    w.share[j + 1] = w.share[j] + 1 / (j + 20.0);
    w.weight[j] = uniform() < 0.3 ? normal() : 0;
  }
  for (int j = 0; j < count; j++)
    w.rarity[j] = log(1 + w.share[count] / (numbers * (w.share[j + 1] - w.share[j])));
  return w;
}

static int word_at(const words *w, double place) {
  int low = 0, high = w->count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (w->share[middle] <= place)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* One row; drawn and values: room. */
static void write_row(FILE *file, const words *w, double numbers, int *drawn, double *values) {
  const int count = 1 + (int)(numbers / 2 * (1 - log(uniform())));
  double square = 0, score = 0;
  int terms = 0;
  for (int k = 0; k < count; k++)
    drawn[k] = word_at(w, uniform() * w->share[w->count]);
  qsort(drawn, (size_t)count, sizeof *drawn, ascending);
  for (int k = 0, next; k < count; k = next) {
    for (next = k; next < count && drawn[next] == drawn[k];)
      next++;
    values[terms] = (1 + log(next - k)) * w->rarity[drawn[k]];
    square += values[terms] * values[terms];
    score += values[terms] * w->weight[drawn[k]];
    drawn[terms++] = drawn[k];
  }
  score = 3 * score / sqrt(square) + 0.1 + 0.35 * normal();
  (void)fputs(score > 0 ? "+1" : "-1", file);
  for (int k = 0; k < terms; k++)
    (void)fprintf(file, " %d:%.6g", drawn[k] + 1, values[k] / sqrt(square));
  (void)fputc('\n', file);
}

static int make(long rows, int columns, double numbers, const char *path) {
  const words w = words_of(columns, numbers);
  const size_t most = (size_t)(30 * numbers) + 100;
  int *drawn = malloc(most * sizeof *drawn);
  double *values = malloc(most * sizeof *values);
  FILE *file = fopen(path, "w");
  if (file == NULL) return 1;
  for (long i = 0; i < rows; i++)
    write_row(file, &w, numbers, drawn, values);
  return fclose(file) != 0;
}

/* ------------ LIBLINEAR */

static struct feature_node *nodes;
static size_t room, used;

static void add_node(int index, double value) {
  if (used == room) {
    room = room == 0 ? 1 << 20 : 2 * room;
    nodes = realloc(nodes, room * sizeof *nodes);
  }
  nodes[used++] = (struct feature_node){index, value};
}

static struct problem read_rows(const char *path) {
  enum { LINE = 1 << 20 };
  struct problem p = {.bias = -1};
  char *line = malloc(LINE);
  size_t *starts = NULL, lines = 0;
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, LINE, file) != NULL) {
    char *at = line;
    if ((size_t)p.l == lines) {
      lines = lines == 0 ? 1 << 16 : 2 * lines;
      starts = realloc(starts, lines * sizeof *starts);
      p.y = realloc(p.y, lines * sizeof *p.y);
    }
    starts[p.l] = used;
    p.y[p.l++] = strtod(at, &at);
    while (*at == ' ') {
      const int index = (int)strtol(at, &at, 10);
      add_node(index, strtod(at + 1, &at));
      p.n = index > p.n ? index : p.n;
    }
    add_node(-1, 0);
  }
  p.x = malloc((size_t)(p.l + 1) * sizeof *p.x);
  for (int i = 0; i < p.l; i++)
    p.x[i] = nodes + starts[i];
  return p;
}

static double loss(int type, double margin) {
  const double z = fmax(0, 1 - margin);
  if (type == L2R_L1LOSS_SVC_DUAL) return z;
  if (type == L2R_L2LOSS_SVC_DUAL || type == L2R_L2LOSS_SVC) return z * z / 2;
  return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

static double objective(const struct problem *p, const struct model *m, int type, double lambda) {
  const double sign = m->label[0] > 0 ? 1 : -1;
  double sum = 0, norm = 0;
  for (int i = 0; i < p->l; i++) {
    double score = 0;
    for (const struct feature_node *x = p->x[i]; x->index != -1; x++)
      score += m->w[x->index - 1] * x->value;
    sum += loss(type, sign * p->y[i] * score);
  }
  for (int j = 0; j < p->n; j++)
    norm += type == L1R_LR ? fabs(m->w[j]) : m->w[j] * m->w[j] / 2;
  return sum / p->l + lambda * norm;
}

static void quiet(const char *text) { (void)text; }

static int fit(int count, char **arguments) {
  const struct problem p = read_rows(arguments[0]);
  const double lambda = atof(arguments[1]);
  const int type = atoi(arguments[2]);
  const bool squared = type == L2R_L2LOSS_SVC_DUAL || type == L2R_L2LOSS_SVC;
  set_print_string_function(quiet);
  for (int k = 3; k < count; k++) {
    const struct parameter how = {.solver_type = type,
                                  .eps = atof(arguments[k]),
                                  .C = 1 / (lambda * p.l) / (squared ? 2 : 1)};
    const clock_t start = clock();
    struct model *m = train(&p, &how);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%s %.3f %.10f\n", arguments[k], seconds, objective(&p, m, type, lambda));
    free_and_destroy_model(&m);
  }
  return p.l == 0;
}

int main(int count, char **arguments) {
  if (count == 6 && strcmp(arguments[1], "make") == 0)
    return make(atol(arguments[2]), atoi(arguments[3]), atof(arguments[4]), arguments[5]);
  if (count >= 6 && strcmp(arguments[1], "fit") == 0) return fit(count - 2, arguments + 2);
  (void)fputs("linear make ROWS COLUMNS NUMBERS FILE | fit FILE LAMBDA TYPE TOLERANCE...\n",
              stderr);
  return 1;
}
