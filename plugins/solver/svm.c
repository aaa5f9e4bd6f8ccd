/* Support vector machines by LIBSVM (Chang and Lin 2011). Classes, y_i = +-1, and numbers (epsilon
 * support vector regression):
 *
 *   min_{f, f0}  (1/2) ||f||_K^2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + f0))
 *   min_{f, f0}  (1/2) ||f||_K^2 + C sum_i w_i max(0, |f(x_i) + f0 - y_i| - epsilon)
 *
 * The solution is f = sum_i b_i K(x_i, .) with |b_i| <= C w_i and sum_i b_i = 0. Several classes
 * are learnt in pairs and vote; several targets one by one. LIBSVM weighs classes, so w_i may
 * depend on the class alone.
 *
 * LIBSVM computes Gaussian and linear kernels itself, and is given a table of all values of any
 * other kernel (solver/svm_kernel.h).
 *
 * What is kept is an expansion over the support vectors. How far the b_i are from optimal is
 * measured here, on kernel values in double precision:
 *
 *   max_{i, j} v_i - v_j   over b_i that may grow and b_j that may shrink, v = y - f
 */
#include "shared/rows.h"
#include "solver/svm_kernel.h"

#include <float.h>
#include <stdio.h>

static const scl_option options[] = {
    SCL_ROW(svm, kernel, SCL_FORM_PARTS, "kernel", NULL,
            "the kernel on rows, as sc.kernel.linear{} (default: Gaussian, as gamma says)",
            .range = 0),
    SCL_NUMBER(svm, gamma, NULL,
               "instead of kernel: the rate in exp(-gamma ||x-y||^2) (default 1/d, d columns)",
               SCL_POSITIVE, .width = SCL_WIDTH_GAMMA),
    SCL_NUMBER(svm, C, "1", "weight of each row's loss; larger fits closer", SCL_POSITIVE,
               .role = SCL_ROLE_CAPACITY),
    SCL_NUMBER(svm, epsilon, "0.1", "regression: errors up to this cost nothing", SCL_NOT_NEGATIVE),
    SCL_NUMBER(svm, tolerance, "1e-3", "stop at this violation of optimality", SCL_POSITIVE),
    SCL_NUMBER(svm, cache, "200", "megabytes of kernel values that are kept", SCL_ABOVE(0, 1e6))};

static scl_status create(void *instance, scl_error *error) {
  const svm *self = instance;
  if (self->kernel.plugin == NULL || isnan(self->gamma)) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                               "gamma and kernel both say the kernel: give one of them");
}

/* ------------------------------------------------------------ models */

/* Scores are the functions themselves, or the votes of one function a pair of classes. */
typedef struct machines {
  expansion base;
  size_t targets;
  int32_t *pairs; /* functions x 2: the classes above 0 and below; NULL: no votes */
} machines;

static void end(const void *instance, void *model) {
  const scl_host *host = ((const svm *)instance)->base.host;
  const machines *m = model;
  expansion_release(host, &m->base);
  host->release(m->pairs);
  host->release(model);
}

/* The votes of a class, and within a third of a vote the sum of its functions, which decides where
 * votes are equal. */
static void vote(const machines *m, const double *values, double *sums, double *scores) {
  for (size_t j = 0; j < m->targets; j++)
    scores[j] = sums[j] = 0;
  for (size_t p = 0; p < m->base.functions; p++) {
    const int32_t plus = m->pairs[2 * p], minus = m->pairs[2 * p + 1];
    scores[values[p] > 0 ? plus : minus] += 1;
    sums[plus] += values[p];
    sums[minus] -= values[p];
  }
  for (size_t j = 0; j < m->targets; j++)
    scores[j] += sums[j] / (3 * (fabs(sums[j]) + 1));
}

static scl_status decide(const void *instance, const void *model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const scl_host *host = ((const svm *)instance)->base.host;
  const machines *m = model;
  const size_t functions = m->base.functions;
  const scl_const_parameters u =
      scl_dense_rows(rows->data, rows->row_stride, rows->rows, rows->cols);
  if (m->pairs == NULL)
    return expansion_values(instance, svm_gram, &m->base, &u, scores, stride, error);
  double *values = host->allocate((rows->rows * functions + m->targets) * sizeof *values);
  if (values == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu functions of a row",
                      functions);
  const scl_status status =
      expansion_values(instance, svm_gram, &m->base, &u, values, (ptrdiff_t)functions, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->rows; i++)
    vote(m, values + i * functions, values + rows->rows * functions,
         scores + (ptrdiff_t)i * stride);
  host->release(values);
  return status;
}

/* ------------------------------------------------------------ the problem, and its bounds */

typedef struct training {
  const svm *self;
  const scl_host *host;
  const scl_problem *problem;
  row_set set;
  machines *m;
  size_t classes; /* 0: regression */
  double *bound;  /* C w: of each class; of regression one */
  svm_form form;
  struct svm_node *nodes;
  struct svm_node **row;
  double *labels; /* rows: the class, or the target at hand */
  double *b;      /* rows x functions, before rows without coefficients go */
  size_t *kept;   /* places of those that stay */
  double *ends; /* tiles of rows x functions x 2: largest v that can grow, least that can shrink */
} training;

static size_t class_of(const training *t, size_t row) {
  return t->classes == 0 ? 0 : rows_class(&t->set, row);
}

static scl_status set_bounds(training *t, scl_error *error) {
  const size_t count = t->classes == 0 ? 1 : t->classes;
  t->bound = t->host->allocate(count * sizeof *t->bound);
  if (t->bound == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu classes", count);
  for (size_t j = 0; j < count; j++)
    t->bound[j] = 0;
  for (size_t i = 0; i < t->set.rows; i++) {
    double *bound = &t->bound[class_of(t, i)], value = t->self->C * t->set.weights[i];
    if (*bound != 0 && *bound != value)
      return t->host->fail(error, SCL_STATUS_UNSUPPORTED,
                           "LIBSVM takes no weights of rows, but of classes: here they differ %s",
                           t->classes == 0 ? "from row to row" : "within a class");
    *bound = value;
  }
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ the input of LIBSVM */

enum { STRIP = 256 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* LIBSVM would go on with infinite products of rows, to a model of NaN. It keeps products in single
 * precision; exponentials are taken of double ones. */
static scl_status check_products(const training *t, scl_error *error) {
  const double factor = t->form.type == RBF ? fmax(t->form.gamma, 1) : 1,
               most = t->form.type == RBF ? DBL_MAX : FLT_MAX;
  for (size_t i = 0; i < t->set.rows; i++) {
    double square = 0;
    for (size_t j = 0; j < t->set.cols; j++)
      square += t->set.x[i * t->set.cols + j] * t->set.x[i * t->set.cols + j];
    if (!(4 * square * factor <= most))
      return t->host->fail(error, SCL_STATUS_BAD_DATA,
                           "row %zu is too long for LIBSVM's kernel values: scale the rows", i + 1);
  }
  return SCL_STATUS_OK;
}

/* Rows as they are: columns from 1, zeros left out, -1 at the end of a row. */
static void make_rows(const training *t) {
  struct svm_node *node = t->nodes;
  for (size_t i = 0; i < t->set.rows; i++) {
    t->row[i] = node;
    for (size_t j = 0; j < t->set.cols; j++)
      if (t->set.x[i * t->set.cols + j] != 0)
        *node++ = (struct svm_node){(int)j + 1, t->set.x[i * t->set.cols + j]};
    *node++ = (struct svm_node){-1, 0};
  }
}

/* The kernel values of row i as a row of the table: (0, i + 1), (j + 1, K(x_i, x_j)), (-1, 0). */
static scl_status table_values(const training *t, size_t i, size_t first, size_t count,
                               const double *k, scl_error *error) {
  struct svm_node *node = t->row[i];
  node[0] = (struct svm_node){0, (double)(i + 1)};
  node[t->set.rows + 1] = (struct svm_node){-1, 0};
  for (size_t j = 0; j < count; j++) {
    node[first + j + 1] = (struct svm_node){(int)(first + j + 1), k[j]};
    if (!(4 * fabs(k[j]) <= FLT_MAX))
      return t->host->fail(
          error, SCL_STATUS_BAD_DATA,
          "kernel.%s is %g for rows %zu and %zu, too large for LIBSVM: scale the rows",
          t->self->kernel.plugin->name, k[j], i + 1, first + j + 1);
  }
  return SCL_STATUS_OK;
}

static scl_status table_task(void *context, size_t index, scl_error *error) {
  const training *t = context;
  const size_t n = t->set.rows, d = t->set.cols, top = index * STRIP,
               height = least(n - top, STRIP);
  const scl_const_parameters u = scl_dense_rows(t->set.x + top * d, (ptrdiff_t)d, height, d);
  double *k = t->host->allocate(sizeof *k * STRIP * STRIP);
  scl_status status = SCL_STATUS_OK;
  if (k == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for a tile of kernel values");
  for (size_t first = 0; status == SCL_STATUS_OK && first < n; first += STRIP) {
    const size_t count = least(n - first, STRIP);
    const scl_const_parameters v = scl_dense_rows(t->set.x + first * d, (ptrdiff_t)d, count, d);
    status = svm_gram(t->self, &u, &v, k, STRIP, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < height; i++)
      status = table_values(t, top + i, first, count, k + i * STRIP, error);
  }
  t->host->release(k);
  return status;
}

static scl_status make_table(training *t, scl_error *error) {
  for (size_t i = 0; i < t->set.rows; i++)
    t->row[i] = t->nodes + i * (t->set.rows + 2);
  return t->host->parallel((t->set.rows + STRIP - 1) / STRIP, table_task, t, error);
}

static size_t count_nodes(const training *t) {
  size_t count = t->set.rows;
  if (t->form.type == PRECOMPUTED) return t->set.rows * (t->set.rows + 2);
  for (size_t i = 0; i < t->set.rows * t->set.cols; i++)
    count += t->set.x[i] != 0;
  return count;
}

/* LIBSVM does not ask whether it got its memory, and crashes where it did not: see first that there
 * is some. A row takes up to 256 bytes while a problem is solved, and two numbers for each other
 * class afterwards; a pair of classes takes 64. A quarter more is for malloc's own use. */
static bool has_room_for_libsvm(const training *t) {
  const double n = (double)t->set.rows, others = t->classes < 2 ? 1 : (double)t->classes - 1,
               kept = 16 * n * others + 32 * others * (others + 1),
               bytes = 1.25 * (256 * n + kept + fmin(t->self->cache * 1e6, 4 * n * n));
  void *memory = bytes < 0x1p62 ? t->host->allocate((size_t)bytes) : NULL;
  t->host->release(memory);
  return memory != NULL;
}

static scl_status refuse_size(const training *t, size_t nodes, scl_error *error) {
  if (t->form.type != PRECOMPUTED)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for %zu rows as LIBSVM takes them", t->set.rows);
  return t->host->fail(
      error, SCL_STATUS_NO_MEMORY,
      "LIBSVM takes kernel.%s as a table of its values between %zu rows, %.3g GB, more memory than "
      "there is: take fewer rows, a Gaussian or linear kernel (which need no table), or "
      "sc.solver.kernel_ridge (a quarter of that)",
      t->self->kernel.plugin->name, t->set.rows, (double)nodes * sizeof(struct svm_node) * 1e-9);
}

static scl_status prepare(training *t, scl_error *error) {
  const size_t n = t->set.rows;
  if (n > INT32_MAX / 2 || t->set.cols >= INT32_MAX)
    return t->host->fail(error, SCL_STATUS_UNSUPPORTED,
                         "%zu x %zu numbers are more than LIBSVM counts", n, t->set.cols);
  const size_t nodes = count_nodes(t);
  t->nodes = nodes > SIZE_MAX / 32 ? NULL : t->host->allocate(nodes * sizeof *t->nodes);
  t->row = t->host->allocate(n * sizeof(struct svm_node *));
  t->labels = t->host->allocate(n * sizeof *t->labels);
  t->kept = t->host->allocate(n * sizeof *t->kept);
  if (t->nodes == NULL || t->row == NULL || t->labels == NULL || t->kept == NULL ||
      !has_room_for_libsvm(t))
    return refuse_size(t, nodes, error);
  if (t->form.type == PRECOMPUTED) return make_table(t, error);
  make_rows(t);
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ the output of LIBSVM */

/* Function `at` is class `plus` against class `minus` in LIBSVM's order of classes. Of two classes
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
  if (t->m->pairs == NULL) return;
  t->m->pairs[2 * at] = found->label[plus];
  t->m->pairs[2 * at + 1] = found->label[minus];
}

static void take_target(const training *t, const struct svm_model *found, size_t at) {
  for (int i = 0; i < found->l; i++)
    t->b[((size_t)found->sv_indices[i] - 1) * t->m->base.functions + at] = found->sv_coef[0][i];
  t->m->base.f0[at] = -found->rho[0];
}

static scl_status reserve_functions(training *t, size_t functions, scl_error *error) {
  const bool votes = t->classes > 2;
  t->m->base.cols = t->set.cols;
  t->m->base.functions = functions;
  t->m->targets = t->set.targets;
  t->b = functions > SIZE_MAX / 16 / t->set.rows
             ? NULL
             : models_new(t->host, t->set.rows * functions * sizeof *t->b, error);
  t->m->base.f0 = models_new(t->host, functions * sizeof(double), error);
  if (votes) t->m->pairs = t->host->allocate(2 * functions * sizeof *t->m->pairs);
  if (t->b != NULL && t->m->base.f0 != NULL && (!votes || t->m->pairs != NULL))
    return SCL_STATUS_OK;
  return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu x %zu coefficients",
                       t->set.rows, functions);
}

static scl_status train(const training *t, const struct svm_parameter *how, struct svm_model **out,
                        scl_error *error) {
  const struct svm_problem data = {(int)t->set.rows, t->labels, t->row};
  const char *wrong = svm_check_parameter(&data, how);
  if (wrong != NULL) return t->host->fail(error, SCL_STATUS_BAD_OPTION, "LIBSVM says: %s", wrong);
  if (!has_room_for_libsvm(t))
    return refuse_size(t, count_nodes(t), error); /* of what is left now */
  *out = svm_train(&data, how);
  return SCL_STATUS_OK;
}

/* A tenth of the tolerance is left to LIBSVM's kernel values in single precision. */
static struct svm_parameter parameters_of(const training *t) {
  const svm *self = t->self;
  return (struct svm_parameter){.svm_type = t->classes == 0 ? EPSILON_SVR : C_SVC,
                                .kernel_type = t->form.type,
                                .gamma = t->form.type == RBF ? t->form.gamma : 0,
                                .cache_size = self->cache,
                                .eps = 0.9 * self->tolerance,
                                .C = 1,
                                .p = self->epsilon,
                                .shrinking = 1};
}

static scl_status train_classes(training *t, scl_error *error) {
  struct svm_parameter how = parameters_of(t);
  struct svm_model *found = NULL;
  int *names = t->host->allocate(t->classes * sizeof *names);
  double *weights = t->host->allocate(t->classes * sizeof *weights);
  scl_status status = SCL_STATUS_OK;
  if (names == NULL || weights == NULL)
    status =
        t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu classes", t->classes);
  for (size_t j = 0; status == SCL_STATUS_OK && j < t->classes; j++)
    if (t->bound[j] > 0) { /* LIBSVM complains of classes without rows */
      names[how.nr_weight] = (int)j;
      weights[how.nr_weight++] = t->bound[j];
    }
  for (size_t i = 0; i < t->set.rows; i++)
    t->labels[i] = (double)rows_class(&t->set, i);
  how.weight_label = names;
  how.weight = weights;
  if (status == SCL_STATUS_OK) status = train(t, &how, &found, error);
  const size_t k = found == NULL ? 0 : (size_t)found->nr_class;
  if (status == SCL_STATUS_OK) status = reserve_functions(t, k * (k - 1) / 2, error);
  size_t at = 0;
  for (int i = 0; status == SCL_STATUS_OK && i < found->nr_class; i++)
    for (int j = i + 1; j < found->nr_class; j++)
      take_pair(t, found, at++, i, j);
  if (found != NULL) svm_free_and_destroy_model(&found);
  t->host->release(names);
  t->host->release(weights);
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
    status = t->problem->progress(t->problem, "support vectors", (double)j / (double)c, NAN, error);
    if (status == SCL_STATUS_OK) status = train(t, &how, &found, error);
    if (status == SCL_STATUS_OK) take_target(t, found, j);
    if (found != NULL) svm_free_and_destroy_model(&found);
  }
  return status;
}

static bool has_coefficient(const training *t, size_t row) {
  const size_t functions = t->m->base.functions;
  for (size_t j = 0; j < functions; j++)
    if (t->b[row * functions + j] != 0) return true;
  return false;
}

/* The rows with a coefficient, and at least one row, go into the model. */
static scl_status keep_support(training *t, scl_error *error) {
  expansion *e = &t->m->base;
  const size_t d = e->cols, c = e->functions;
  for (size_t i = 0; i < t->set.rows; i++)
    if (has_coefficient(t, i) || (e->rows == 0 && i + 1 == t->set.rows)) t->kept[e->rows++] = i;
  e->x = t->host->allocate(e->rows * d * sizeof *e->x);
  e->b = t->host->allocate(e->rows * c * sizeof *e->b);
  if (e->x == NULL || e->b == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu support vectors",
                         e->rows);
  for (size_t i = 0; i < e->rows; i++) {
    memcpy(e->x + i * d, t->set.x + t->kept[i] * d, d * sizeof *e->x);
    memcpy(e->b + i * c, t->b + t->kept[i] * c, c * sizeof *e->b);
  }
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ the violation of optimality */

static void widen_ends(double *ends, double v, bool grows, bool shrinks) {
  if (grows && v > ends[0]) ends[0] = v;
  if (shrinks && v < ends[1]) ends[1] = v;
}

/* Row i against one of several functions, f its value there. */
static void meet_pair(const training *t, size_t i, size_t function, double f, double *ends) {
  const size_t class = rows_class(&t->set, i);
  const size_t plus = t->m->pairs == NULL ? 1 : (size_t)t->m->pairs[2 * function],
               minus = t->m->pairs == NULL ? 0 : (size_t)t->m->pairs[2 * function + 1];
  if (class != plus && class != minus) return;
  const double b = t->b[i * t->m->base.functions + function], bound = t->bound[class];
  if (class == plus)
    widen_ends(ends, 1 - f, b < bound, 0 < b);
  else
    widen_ends(ends, -1 - f, b < 0, -bound < b);
}

/* Two multipliers a row: b = max(b, 0) - max(-b, 0). */
static void meet_target(const training *t, size_t i, size_t function, double f, double *ends) {
  const double b = t->b[i * t->m->base.functions + function], bound = t->bound[0],
               v = t->set.y[i * t->set.targets + function] - f;
  widen_ends(ends, v - t->self->epsilon, b < bound, 0 < b);
  widen_ends(ends, v + t->self->epsilon, b < 0, -bound < b);
}

static scl_status meet_task(void *context, size_t index, scl_error *error) {
  const training *t = context;
  const expansion *e = &t->m->base;
  const size_t d = e->cols, c = e->functions, first = index * STRIP,
               count = least(t->set.rows - first, STRIP);
  const scl_const_parameters u = scl_dense_rows(t->set.x + first * d, (ptrdiff_t)d, count, d);
  double *ends = t->ends + 2 * index * c, *f = t->host->allocate(STRIP * c * sizeof *f);
  if (f == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the values of %d rows",
                         STRIP);
  const scl_status status = expansion_values(t->self, svm_gram, e, &u, f, (ptrdiff_t)c, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    ends[2 * j] = -INFINITY;
    ends[2 * j + 1] = INFINITY;
    for (size_t i = 0; i < count; i++)
      (t->classes == 0 ? meet_target : meet_pair)(t, first + i, j, f[i * c + j], ends + 2 * j);
  }
  t->host->release(f);
  return status;
}

static double violation(const training *t, size_t tiles) {
  const size_t c = t->m->base.functions;
  double worst = 0;
  for (size_t j = 0; j < c; j++) {
    double ends[2] = {-INFINITY, INFINITY};
    for (size_t k = 0; k < tiles; k++) {
      widen_ends(ends, t->ends[2 * (k * c + j)], true, false);
      widen_ends(ends, t->ends[2 * (k * c + j) + 1], false, true);
    }
    if (!(ends[0] - ends[1] <= worst)) worst = ends[0] - ends[1];
  }
  return worst;
}

static scl_status judge(training *t, scl_solution *out, scl_error *error) {
  const size_t tiles = (t->set.rows + STRIP - 1) / STRIP;
  t->ends = t->host->allocate(2 * tiles * t->m->base.functions * sizeof *t->ends);
  if (t->ends == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory to judge %zu functions",
                         t->m->base.functions);
  const scl_status status = t->host->parallel(tiles, meet_task, t, error);
  if (status != SCL_STATUS_OK) return status;
  out->residual = violation(t, tiles);
  out->tolerance = t->self->tolerance;
  const bool converged = out->residual <= out->tolerance;
  out->outcome = converged ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  (void)snprintf(
      out->note, sizeof out->note, "%zu of %zu rows are support vectors%s", t->m->base.rows,
      t->set.rows,
      converged
          ? ""
          : "; LIBSVM stopped before its condition held, or could not see it in single precision");
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ fitting */

static scl_status run(training *t, scl_solution *out, scl_error *error) {
  const scl_problem *problem = t->problem;
  scl_status status = rows_collect(problem, &t->set, error);
  if (status == SCL_STATUS_OK && t->classes > 0)
    status = rows_need_two_classes(t->host, &t->set, error);
  if (status == SCL_STATUS_OK) status = set_bounds(t, error);
  if (status == SCL_STATUS_OK)
    status = svm_choose_form(t->self, t->set.x, t->set.rows, t->set.cols, &t->form, error);
  if (status == SCL_STATUS_OK && t->form.type != PRECOMPUTED) status = check_products(t, error);
  if (status == SCL_STATUS_OK) status = prepare(t, error);
  if (status == SCL_STATUS_OK)
    status = problem->progress(problem, "support vectors", 0, NAN, error);
  if (status == SCL_STATUS_OK)
    status = t->classes > 0 ? train_classes(t, error) : train_targets(t, error);
  if (status == SCL_STATUS_OK) status = keep_support(t, error);
  if (status == SCL_STATUS_OK)
    status = problem->progress(problem, "the violation of optimality", 0.9, NAN, error);
  return status == SCL_STATUS_OK ? judge(t, out, error) : status;
}

static void release(training *t) {
  rows_release(t->host, &t->set);
  t->host->release(t->bound);
  t->host->release(t->nodes);
  t->host->release(t->row);
  t->host->release(t->labels);
  t->host->release(t->b);
  t->host->release(t->kept);
  t->host->release(t->ends);
}

static void quiet(const char *text) { (void)text; }

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  training t = {.self = instance, .host = problem->host, .problem = problem};
  t.m = models_new(t.host, sizeof *t.m, error);
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

/* ------------------------------------------------------------ arrays: rows (the support vectors),
 * coefficients, intercept; votes (0 or 1), pairs */

static scl_status save(const void *instance, const void *model, scl_archive *archive,
                       scl_error *error) {
  const machines *m = model;
  const int32_t votes = m->pairs != NULL;
  model_writer w = {archive, error, SCL_STATUS_OK};
  (void)instance;
  expansion_put(&w, &m->base);
  models_put(&w, "votes", SCL_DTYPE_INT32, 1, 0, &votes);
  if (votes) models_put(&w, "pairs", SCL_DTYPE_INT32, m->base.functions, 2, m->pairs);
  return w.status;
}

static void get_model(const void *self, model_reader *r, size_t features, size_t targets,
                      void *model) {
  machines *m = model;
  size_t one = 1;
  int32_t *votes = models_get_places(r, "votes", &one, 0, 2);
  const bool in_pairs = votes != NULL && votes[0] == 1;
  (void)self;
  r->host->release(votes);
  m->targets = targets;
  m->base.cols = features;
  m->base.functions = in_pairs ? 0 : targets;
  expansion_get(r, &m->base);
  if (in_pairs) m->pairs = models_get_places(r, "pairs", &m->base.functions, 2, targets);
}
MODELS_LOAD(machines)

const scl_plugin scullery_plugin = {
    .name = "svm",
    .summary = "Support vector machines by LIBSVM: classes (one against one) and numbers "
               "(epsilon-SVR)",
    .doc =
        "Classes: min (1/2) ||f||_K^2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + f0)). Numbers:\n"
        "max(0, |f(x_i) + f0 - y_i| - epsilon) for the loss. K is exp(-gamma ||x-y||^2), or any\n"
        "kernel on rows: kernel = sc.kernel.linear{}. LIBSVM computes Gaussian and linear kernels\n"
        "itself; of others it takes a table of 16 n^2 bytes. Scores of two classes are f(x) + f0.\n"
        "Scores of several are the votes of all pairs, plus within a third of a vote the sum of a\n"
        "class's functions, which decides where votes are equal. w_i: weights of classes\n"
        "(class_weights), not of rows. residual is the largest violation of the dual's\n"
        "optimality, measured anew in double precision. Scale the rows first, as in\n"
        "sc.standardize(). Ctrl-C takes effect between LIBSVM's problems (pairs of classes,\n"
        "targets). The model keeps the support\n"
        "vectors (arrays rows, coefficients, intercept, votes, pairs). Chang and Lin 2011.",
    MODELS_SOLVER,
    SCL_INSTANCE(svm, options),
    .create = create};
