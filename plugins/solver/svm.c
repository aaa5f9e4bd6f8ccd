/* Support vector machines by LIBSVM (Chang and Lin 2011), in its forms:
 *
 *   classes, y_i = +-1       min_{f, f0} (1/2) ||f||_K^2 + C sum_i w_i max(0,
 *       1 - y_i (f(x_i) + f0))
 *   numbers (epsilon-SVR)    min_{f, f0} (1/2) ||f||_K^2 + C sum_i w_i max(0,
 *       |f(x_i) + f0 - y_i| - epsilon)
 *
 * f = sum_i b_i K(x_i, .), K linear or exp(-gamma ||x - y||^2), |b_i| <= C w_i. Several classes are
 * learnt in pairs and vote; several targets one by one. LIBSVM weighs classes, so w_i may depend on
 * the class alone.
 *
 * LIBSVM finds the b_i. What is kept is an expansion over the support vectors, whose values need no
 * LIBSVM; and how far the b_i are from optimal is measured here: max over pairs (i up, j down) of
 * v_i - v_j, where v = y - f, "up" can grow and "down" can shrink. */
#include "shared/expansion.h"
#include "shared/failure.h"
#include "shared/kernel.h"

#include <float.h>
#include <libsvm/svm.h>
#include <stdio.h>

enum { KERNEL, C, GAMMA, EPSILON, TOLERANCE, CACHE, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"kernel", SCL_FORM_WORD, "rbf|linear", "rbf", 0, 0, 0, SCL_WIDTH_NONE,
     "rbf: exp(-gamma ||x-y||^2); linear: <x, y>"},
    {"C", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "weight of each row's loss; larger fits closer"},
    {"gamma", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_GAMMA, "of rbf (default 1/d, d columns)"},
    {"epsilon", SCL_FORM_NUMBER, NULL, "0.1", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "regression: errors up to this cost nothing"},
    {"tolerance", SCL_FORM_NUMBER, NULL, "1e-3", 0, INFINITY,
     SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "stop at this violation of optimality"},
    {"cache", SCL_FORM_NUMBER, NULL, "200", 0, 1e6, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "megabytes of kernel values that are kept"},
};

typedef struct svm {
  kernel base; /* its scale is 0 until the number of columns says gamma */
  double c, epsilon, tolerance, cache;
} svm;

/* Scores are the functions themselves, or, of several classes, the votes of one function a pair. */
typedef struct machines {
  expansion base;
  size_t targets;
  size_t *plus, *minus; /* functions: the classes of each pair, > 0 for the first; NULL: no votes */
} machines;

static void quiet(const char *text) {
  (void)text;
}

static void finish_rbf(const void *instance, size_t dim, size_t count, double *numbers) {
  const svm *self = instance;
  (void)dim;
  for (size_t j = 0; j < count; j++)
    numbers[j] = -numbers[j];
  self->base.math->exp(count, numbers, numbers);
}

static void finish_linear(const void *instance, size_t dim, size_t count, double *numbers) {
  (void)instance, (void)dim, (void)count, (void)numbers;
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const int rbf = strcmp(values[KERNEL].word, "rbf") == 0, given = values[GAMMA].form != 0;
  const kernel linear = {.number = KERNEL_DOT, .scale = 1, .finish = finish_linear};
  const kernel gaussian = {.number = KERNEL_SQUARE,
                           .scale = given ? sqrt(values[GAMMA].number) : 0,
                           .finish = finish_rbf};
  if (!rbf && given)
    return host->fail(error, SCL_STATUS_BAD_OPTION, "gamma goes with kernel = \"rbf\"");
  const scl_status status =
      kernel_create(host, sizeof(svm), rbf ? gaussian : linear, instance, error);
  if (status != SCL_STATUS_OK) return status;
  svm *self = *instance;
  self->c = values[C].number;
  self->epsilon = values[EPSILON].number;
  self->tolerance = values[TOLERANCE].number;
  self->cache = values[CACHE].number;
  return SCL_STATUS_OK;
}

/* The instance for rows of `dim` columns. */
static svm of_columns(const svm *self, size_t dim) {
  svm made = *self;
  if (made.base.scale == 0) made.base.scale = sqrt(1 / (double)dim);
  return made;
}

static row_kernel row_kernel_of(const svm *self) {
  return (row_kernel){self->base.host, self->base.algebra, self, kernel_gram};
}

/* ---------------------------------------------------------------- models */

static void end(const void *instance, void *model) {
  const scl_host *host = ((const svm *)instance)->base.host;
  machines *m = model;
  if (m == NULL) return;
  expansion_release(host, &m->base);
  host->release(m->plus);
  host->release(m->minus);
  host->release(m);
}

static scl_status reserve_pairs(const scl_host *host, machines *m, scl_error *error) {
  m->plus = host->allocate((m->base.functions + 1) * sizeof *m->plus);
  m->minus = host->allocate((m->base.functions + 1) * sizeof *m->minus);
  if (m->plus != NULL && m->minus != NULL) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu pairs of classes",
                    m->base.functions);
}

/* The votes of a class, and within a third of a vote the sum of its functions, which decides where
 * votes are equal. */
static void vote(const machines *m, const double *values, double *sums, double *scores) {
  for (size_t j = 0; j < m->targets; j++)
    scores[j] = sums[j] = 0;
  for (size_t p = 0; p < m->base.functions; p++) {
    scores[values[p] > 0 ? m->plus[p] : m->minus[p]] += 1;
    sums[m->plus[p]] += values[p];
    sums[m->minus[p]] -= values[p];
  }
  for (size_t j = 0; j < m->targets; j++)
    scores[j] += sums[j] / (3 * (fabs(sums[j]) + 1));
}

static scl_status decide(const void *instance, const void *model, const scl_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const machines *m = model;
  const svm self = of_columns(instance, m->base.cols);
  const row_kernel k = row_kernel_of(&self);
  if (m->plus == NULL) return expansion_decide(&k, &m->base, rows, scores, stride, error);
  const size_t functions = m->base.functions;
  double *values = k.host->allocate((rows->rows * functions + m->targets) * sizeof *values);
  if (values == NULL)
    return k.host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu functions of a row",
                        functions);
  const scl_status status =
      expansion_decide(&k, &m->base, rows, values, (ptrdiff_t)functions, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->rows; i++)
    vote(m, values + i * functions, values + rows->rows * functions,
         scores + (ptrdiff_t)i * stride);
  k.host->release(values);
  return status;
}

/* ---------------------------------------------------------------- what LIBSVM is given */

typedef struct training {
  svm self;
  const scl_problem *problem;
  row_set set;
  machines *m;
  size_t classes; /* 0: regression */
  double *bound;  /* C w: of each class; of regression one */
  struct svm_node *nodes;
  struct svm_node **row;
  double *labels; /* rows: the class, or the target at hand */
  double *b;      /* rows x functions, before those without support vectors go */
  size_t *kept;   /* their places among the rows */
  double *ends; /* the tasks': largest v that can grow, smallest that can shrink, for each function
                   of each tile of rows */
  failure *failed;
} training;

static size_t class_of(const training *t, size_t row) {
  return t->classes == 0 ? 0 : rows_class(&t->set, row);
}

static scl_status set_bounds(training *t, scl_error *error) {
  const scl_host *host = t->problem->host;
  const size_t count = t->classes == 0 ? 1 : t->classes;
  t->bound = host->allocate(count * sizeof *t->bound);
  if (t->bound == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu classes", count);
  for (size_t j = 0; j < count; j++)
    t->bound[j] = 0;
  for (size_t i = 0; i < t->set.rows; i++) {
    double *bound = &t->bound[class_of(t, i)], value = t->self.c * t->set.weights[i];
    if (*bound != 0 && *bound != value)
      return host->fail(error, SCL_STATUS_UNSUPPORTED,
                        "LIBSVM takes no weights of rows, but of classes: here they differ %s",
                        t->classes == 0 ? "from row to row" : "within a class");
    *bound = value;
  }
  return SCL_STATUS_OK;
}

static size_t count_nodes(const row_set *set) {
  size_t count = set->rows;
  for (size_t i = 0; i < set->rows * set->cols; i++)
    count += set->x[i] != 0;
  return count;
}

/* Columns from 1, zeros left out, -1 at the end of a row. */
static void make_nodes(const training *t) {
  struct svm_node *node = t->nodes;
  for (size_t i = 0; i < t->set.rows; i++) {
    t->row[i] = node;
    for (size_t j = 0; j < t->set.cols; j++)
      if (t->set.x[i * t->set.cols + j] != 0)
        *node++ = (struct svm_node){(int)j + 1, t->set.x[i * t->set.cols + j]};
    *node++ = (struct svm_node){-1, 0};
  }
}

/* LIBSVM would go on with infinite products of rows, to a model of NaN: products themselves are
 * kept in single precision, exponentials of double ones. */
static scl_status check_products(const training *t, scl_error *error) {
  const double gamma = t->self.base.scale * t->self.base.scale,
               most = t->self.base.number == KERNEL_SQUARE ? DBL_MAX : FLT_MAX;
  for (size_t i = 0; i < t->set.rows; i++) {
    double square = 0;
    for (size_t j = 0; j < t->set.cols; j++)
      square += t->set.x[i * t->set.cols + j] * t->set.x[i * t->set.cols + j];
    if (!(4 * square * fmax(gamma, 1) <= most))
      return t->problem->host->fail(
          error, SCL_STATUS_BAD_DATA,
          "row %zu is too long for LIBSVM's kernel values: scale the rows", i + 1);
  }
  return SCL_STATUS_OK;
}

/* LIBSVM does not ask whether it got its memory: see first that there is some. */
static int room_for_libsvm(const training *t) {
  const double n = (double)t->set.rows, bytes = 256 * n + fmin(t->self.cache * 1e6, 4 * n * n);
  void *memory = t->problem->host->allocate((size_t)bytes);
  t->problem->host->release(memory);
  return memory != NULL;
}

static scl_status prepare(training *t, scl_error *error) {
  const scl_host *host = t->problem->host;
  const size_t n = t->set.rows, nodes = count_nodes(&t->set);
  if (n > INT32_MAX / 2 || t->set.cols >= INT32_MAX)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "%zu x %zu numbers are more than LIBSVM counts", n, t->set.cols);
  t->nodes = host->allocate(nodes * sizeof *t->nodes);
  t->row = host->allocate(n * sizeof(struct svm_node *));
  t->labels = host->allocate(n * sizeof *t->labels);
  t->kept = host->allocate(n * sizeof *t->kept);
  if (t->nodes == NULL || t->row == NULL || t->labels == NULL || t->kept == NULL ||
      !room_for_libsvm(t))
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for %zu rows as LIBSVM takes them", n);
  make_nodes(t);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- what LIBSVM gives back */

/* Function `at` is class `plus` against class `minus` in LIBSVM's order of classes; of two classes
 * the second is the one above 0. */
static void take_pair(const training *t, const struct svm_model *found, size_t at, int plus,
                      int minus) {
  const size_t functions = t->m->base.functions;
  const double sign = t->set.targets == 1 && found->label[plus] == 0 ? -1 : 1;
  int first = 0;
  for (int k = 0; k < found->nr_class; first += found->nSV[k++]) {
    if (k != plus && k != minus) continue;
    const double *from = found->sv_coef[k == plus ? minus - 1 : plus];
    for (int i = first; i < first + found->nSV[k]; i++)
      t->b[((size_t)found->sv_indices[i] - 1) * functions + at] = sign * from[i];
  }
  t->m->base.f0[at] = -sign * found->rho[at];
  if (t->m->plus == NULL) return;
  t->m->plus[at] = (size_t)found->label[plus];
  t->m->minus[at] = (size_t)found->label[minus];
}

static void take_target(const training *t, const struct svm_model *found, size_t at) {
  for (int i = 0; i < found->l; i++)
    t->b[((size_t)found->sv_indices[i] - 1) * t->m->base.functions + at] = found->sv_coef[0][i];
  t->m->base.f0[at] = -found->rho[0];
}

/* b: rows x functions, all rows for now. */
static scl_status reserve_functions(training *t, size_t functions, scl_error *error) {
  const scl_host *host = t->problem->host;
  t->m->base.rows = t->set.rows;
  t->m->base.cols = t->set.cols;
  t->m->base.functions = functions;
  t->m->targets = t->set.targets;
  scl_status status = expansion_reserve(host, &t->m->base, error);
  t->b = t->m->base.b;
  t->m->base.b = NULL;
  if (status == SCL_STATUS_OK && t->classes > 2) status = reserve_pairs(host, t->m, error);
  return status;
}

static scl_status train(const training *t, const struct svm_parameter *how, struct svm_model **out,
                        scl_error *error) {
  const struct svm_problem data = {(int)t->set.rows, t->labels, t->row};
  const char *wrong = svm_check_parameter(&data, how);
  if (wrong != NULL)
    return t->problem->host->fail(error, SCL_STATUS_BAD_OPTION, "LIBSVM says: %s", wrong);
  *out = svm_train(&data, how);
  return SCL_STATUS_OK;
}

/* A tenth of the tolerance is left to what LIBSVM's single precision kernel values make of it. */
static struct svm_parameter parameters_of(const training *t) {
  const svm *self = &t->self;
  const int rbf = self->base.number == KERNEL_SQUARE;
  return (struct svm_parameter){.svm_type = t->classes == 0 ? EPSILON_SVR : C_SVC,
                                .kernel_type = rbf ? RBF : LINEAR,
                                .gamma = self->base.scale * self->base.scale,
                                .cache_size = self->cache,
                                .eps = 0.9 * self->tolerance,
                                .C = 1,
                                .p = self->epsilon,
                                .shrinking = 1};
}

static scl_status train_classes(training *t, scl_error *error) {
  const scl_host *host = t->problem->host;
  struct svm_parameter how = parameters_of(t);
  struct svm_model *found = NULL;
  int *names = host->allocate(t->classes * sizeof *names);
  double *weights = host->allocate(t->classes * sizeof *weights);
  if (names == NULL || weights == NULL) {
    host->release(names);
    host->release(weights);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu classes", t->classes);
  }
  for (size_t j = 0; j < t->classes;
       j++) /* of the classes that have rows: LIBSVM complains of others */
    if (t->bound[j] > 0) {
      names[how.nr_weight] = (int)j;
      weights[how.nr_weight++] = t->bound[j];
    }
  for (size_t i = 0; i < t->set.rows; i++)
    t->labels[i] = (double)rows_class(&t->set, i);
  how.weight_label = names;
  how.weight = weights;
  scl_status status = train(t, &how, &found, error);
  if (status == SCL_STATUS_OK)
    status = reserve_functions(t, (size_t)(found->nr_class * (found->nr_class - 1) / 2), error);
  size_t at = 0;
  for (int i = 0; status == SCL_STATUS_OK && i < found->nr_class; i++)
    for (int j = i + 1; j < found->nr_class; j++)
      take_pair(t, found, at++, i, j);
  if (found != NULL) svm_free_and_destroy_model(&found);
  host->release(names);
  host->release(weights);
  return status;
}

static scl_status train_targets(training *t, scl_error *error) {
  struct svm_parameter how = parameters_of(t);
  const size_t c = t->set.targets;
  scl_status status = reserve_functions(t, c, error);
  how.C = t->bound[0];
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    struct svm_model *found = NULL;
    for (size_t i = 0; i < t->set.rows; i++)
      t->labels[i] = t->set.y[i * c + j];
    status = t->problem->progress(t->problem, (double)j / (double)c, "support vectors", error);
    if (status == SCL_STATUS_OK) status = train(t, &how, &found, error);
    if (status == SCL_STATUS_OK) take_target(t, found, j);
    if (found != NULL) svm_free_and_destroy_model(&found);
  }
  return status;
}

/* The rows with a coefficient (at least one row) go into the model. */
static scl_status keep_support(training *t, scl_error *error) {
  const scl_host *host = t->problem->host;
  expansion *e = &t->m->base;
  size_t kept = 0;
  for (size_t i = 0; i < t->set.rows; i++) {
    int any = kept == 0 && i + 1 == t->set.rows;
    for (size_t j = 0; j < e->functions; j++)
      any |= t->b[i * e->functions + j] != 0;
    if (any) t->kept[kept++] = i;
  }
  e->rows = kept;
  e->x = host->allocate((kept * e->cols + 1) * sizeof *e->x);
  e->b = host->allocate((kept * e->functions + 1) * sizeof *e->b);
  if (e->x == NULL || e->b == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu support vectors",
                      kept);
  for (size_t i = 0; i < kept; i++) {
    memcpy(e->x + i * e->cols, t->set.x + t->kept[i] * e->cols, e->cols * sizeof *e->x);
    memcpy(e->b + i * e->functions, t->b + t->kept[i] * e->functions, e->functions * sizeof *e->b);
  }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- how optimal it is */

enum { STRIP = 256 };

static void widen_ends(double *ends, double v, int grows, int shrinks) {
  if (grows && v > ends[0]) ends[0] = v;
  if (shrinks && v < ends[1]) ends[1] = v;
}

/* Row i against one of several functions, f its value there. */
static void meet_pair(const training *t, size_t i, size_t function, double f, double *ends) {
  const size_t class = rows_class(&t->set, i);
  const size_t plus = t->m->plus == NULL ? 1 : t->m->plus[function],
               minus = t->m->plus == NULL ? 0 : t->m->minus[function];
  if (class != plus && class != minus) return;
  const double b = t->b[i * t->m->base.functions + function], bound = t->bound[class];
  if (class == plus)
    widen_ends(ends, 1 - f, b<bound, b> 0);
  else
    widen_ends(ends, -1 - f, b<0, b> - bound);
}

/* Two multipliers a row: b = max(b, 0) - max(-b, 0). */
static void meet_target(const training *t, size_t i, size_t function, double f, double *ends) {
  const double b = t->b[i * t->m->base.functions + function], bound = t->bound[0],
               v = t->set.y[i * t->set.targets + function] - f;
  widen_ends(ends, v - t->self.epsilon, b<bound, b> 0);
  widen_ends(ends, v + t->self.epsilon, b<0, b> - bound);
}

static scl_status meet_rows(const training *t, size_t index, double *values, scl_error *error) {
  const expansion *e = &t->m->base;
  const row_kernel k = row_kernel_of(&t->self);
  const size_t first = index * STRIP,
               count = t->set.rows - first < STRIP ? t->set.rows - first : STRIP, c = e->functions;
  double *ends = t->ends + 2 * index * c;
  const scl_status status = expansion_values(&k, e, t->set.x + first * e->cols, (ptrdiff_t)e->cols,
                                             count, values, (ptrdiff_t)c, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    ends[2 * j] = -INFINITY;
    ends[2 * j + 1] = INFINITY;
    for (size_t i = 0; i < count; i++)
      (t->classes == 0 ? meet_target : meet_pair)(t, first + i, j, values[i * c + j], ends + 2 * j);
  }
  return status;
}

static void meet_task(void *context, size_t index) {
  const training *t = context;
  const scl_host *host = t->problem->host;
  scl_error error = {0};
  double *values = host->allocate(STRIP * t->m->base.functions * sizeof *values);
  const scl_status status = values == NULL
                                ? host->fail(&error, SCL_STATUS_NO_MEMORY,
                                             "not enough memory for the values of %d rows", STRIP)
                                : meet_rows(t, index, values, &error);
  failure_note(t->failed, status, &error);
  host->release(values);
}

static double violation(const training *t, size_t tiles) {
  const size_t c = t->m->base.functions;
  double worst = 0;
  for (size_t j = 0; j < c; j++) {
    double ends[2] = {-INFINITY, INFINITY};
    for (size_t k = 0; k < tiles; k++) {
      widen_ends(ends, t->ends[2 * (k * c + j)], 1, 0);
      widen_ends(ends, t->ends[2 * (k * c + j) + 1], 0, 1);
    }
    if (!(ends[0] - ends[1] <= worst)) worst = ends[0] - ends[1];
  }
  return worst;
}

static scl_status judge(training *t, scl_solution *out, scl_error *error) {
  const scl_host *host = t->problem->host;
  const size_t tiles = (t->set.rows + STRIP - 1) / STRIP;
  failure failed;
  failure_begin(&failed);
  t->failed = &failed;
  t->ends = host->allocate(2 * tiles * t->m->base.functions * sizeof *t->ends);
  if (t->ends == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory to judge %zu functions",
                      t->m->base.functions);
  host->parallel(tiles, meet_task, t);
  const scl_status status = failure_end(&failed, error);
  if (status != SCL_STATUS_OK) return status;
  out->residual = violation(t, tiles);
  out->tolerance = t->self.tolerance;
  out->outcome = out->residual <= out->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  const int fewer = out->outcome == SCL_OUTCOME_CONVERGED ? 0 : 1;
  (void)snprintf(
      out->note, sizeof out->note, "%zu of %zu rows are support vectors%s", t->m->base.rows,
      t->set.rows,
      fewer ? "; LIBSVM stopped before its condition held, or could not see it in single precision"
            : "");
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- fitting */

static scl_status run(training *t, scl_solution *out, scl_error *error) {
  const scl_problem *problem = t->problem;
  scl_status status = rows_collect(problem, &t->set, error);
  if (status == SCL_STATUS_OK && t->classes > 0)
    status = rows_need_two_classes(problem->host, &t->set, error);
  if (status == SCL_STATUS_OK) status = set_bounds(t, error);
  if (status == SCL_STATUS_OK) status = check_products(t, error);
  if (status == SCL_STATUS_OK) status = prepare(t, error);
  if (status == SCL_STATUS_OK) status = problem->progress(problem, 0, "support vectors", error);
  if (status == SCL_STATUS_OK)
    status = t->classes > 0 ? train_classes(t, error) : train_targets(t, error);
  if (status == SCL_STATUS_OK) status = keep_support(t, error);
  if (status == SCL_STATUS_OK)
    status = problem->progress(problem, 0.9, "how optimal they are", error);
  return status == SCL_STATUS_OK ? judge(t, out, error) : status;
}

static void release(training *t) {
  const scl_host *host = t->problem->host;
  rows_release(host, &t->set);
  host->release(t->bound);
  host->release(t->nodes);
  host->release(t->row);
  host->release(t->labels);
  host->release(t->b);
  host->release(t->kept);
  host->release(t->ends);
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  training t = {.self = of_columns(instance, problem->features), .problem = problem};
  t.m = expansion_new(problem->host, sizeof *t.m, error);
  if (t.m == NULL) return SCL_STATUS_NO_MEMORY;
  if (problem->task == SCL_TASK_CLASSIFICATION)
    t.classes = problem->targets == 1 ? 2 : problem->targets;
  svm_set_print_string_function(quiet);
  const scl_status status = run(&t, out, error);
  release(&t);
  if (status == SCL_STATUS_OK)
    *model = t.m;
  else
    end(instance, t.m);
  return status;
}

/* ---------------------------------------------------------------- bytes */

static const char title[] = "svm 1";

static scl_status save(const void *instance, const void *model, scl_write write, void *context,
                       scl_error *error) {
  (void)instance;
  const machines *m = model;
  byte_writer w = {write, context, error, SCL_STATUS_OK};
  bytes_put_title(&w, title);
  expansion_put(&w, &m->base);
  bytes_put_size(&w, m->targets);
  bytes_put_size(&w, m->plus != NULL);
  for (size_t p = 0; m->plus != NULL && p < m->base.functions; p++) {
    bytes_put_size(&w, m->plus[p]);
    bytes_put_size(&w, m->minus[p]);
  }
  return w.status;
}

static void get_pairs(byte_reader *r, machines *m) {
  m->targets = bytes_get_size(r, 1, 65536, "the number of targets");
  const size_t votes =
      bytes_get_size(r, m->targets != m->base.functions, m->targets > 2, "the vote of classes");
  if (r->status == SCL_STATUS_OK && votes) r->status = reserve_pairs(r->host, m, r->error);
  for (size_t p = 0; r->status == SCL_STATUS_OK && votes && p < m->base.functions; p++) {
    m->plus[p] = bytes_get_size(r, 0, m->targets - 1, "a class");
    m->minus[p] = bytes_get_size(r, 0, m->targets - 1, "a class");
  }
}

static scl_status load(const void *instance, scl_read read, void *context, void **model,
                       scl_error *error) {
  const scl_host *host = ((const svm *)instance)->base.host;
  byte_reader r = {host, read, context, error, SCL_STATUS_OK};
  machines *m = expansion_new(host, sizeof *m, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  bytes_expect_title(&r, title);
  expansion_get(&r, &m->base);
  if (r.status == SCL_STATUS_OK) get_pairs(&r, m);
  if (r.status == SCL_STATUS_OK)
    *model = m;
  else
    end(instance, m);
  return r.status;
}

#include "shared/model_solver.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "svm",
    "1.0",
    "The Scullery authors",
    "Support vector machines by LIBSVM: classes (one against one) and numbers (epsilon-SVR)",
    "Classes: min (1/2) ||f||_K^2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + f0)); numbers: max(0, "
    "|f(x_i) + f0 - y_i| - epsilon) for the\n"
    "loss; K linear or exp(-gamma ||x-y||^2). Scores of two classes are f(x) + f0; of several, the "
    "votes of all pairs, plus within a\n"
    "third of a vote the sum of a class's functions, which decides where votes are equal. w_i: "
    "weights of classes (class_weights),\n"
    "not of rows. residual is the largest violation of the dual's optimality, measured anew in "
    "double precision. Scale the rows first,\n"
    "as in sc.standardize(). Ctrl-C is heard when LIBSVM is done. Chang and Lin 2011.",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    ability};
