/* A metric learnt by average gradient outer products, the recursive feature machine of
 * Radhakrishnan, Beaglehole, Pandit and Belkin (2024, Mechanism for feature learning in neural
 * networks and backpropagation-free machine learning models). x are standardised rows, M_0 = I:
 *
 *   f_r = a ridge regression on features of the kernel k(|M_r^1/2 (x - x')|)
 *   M_(r+1) = sum_i w_i grad f_r(x_i) grad f_r(x_i)', its largest eigenvalue made 1
 *
 * A row x becomes M^1/2 x of the round whose f has the least error on held-out rows, if that error
 * is clearly less than that of M_0; otherwise x. The diagonal form keeps the diagonal of M_r. */
#include "agop.h"
#include "shared/projection.h"
#include "shared/solver_options.h"

static const scl_option options[] = {
    SCL_WORD(agop, form, "full|diagonal", "full",
             "full: directions that mix columns; diagonal: a scale for each column"),
    SCL_INTEGER(agop, rounds, "5", "fits with a learnt metric, at most", SCL_WITHIN(1, 100)),
    SCL_WORD(agop, map, "fourier|landmarks", "fourier",
             "features of the fits: random Fourier features, or kernel values at T of the rows"),
    SCL_WORD(agop, kernel, "gaussian|laplacian", "gaussian", "kernel of the fits"),
    SCL_INTEGER(agop, T, "300",
                "parameters, or landmarks, of a fit; at most as many features as rows",
                SCL_WITHIN(1, 10000)),
    SCL_INTEGER(agop, rows, "4000", "distinct rows that are learnt from, at most",
                SCL_WITHIN(10, 1000000)),
    SOLVER_SEED(agop, "seed for the parameters")};

enum { MOST_COLUMNS = 1000 };
/* A metric is taken if its error is below that of equal scales by so many standard errors. */
static const double CLEARLY = 1;
/* A round whose error is not below so much of the one before is the last. */
static const double GAIN = 0.995;

/* A = M^1/2 of the current round and of the best one; work (2 d x d). */
typedef struct metric {
  const agop *self;
  const scl_host *host;
  agop_sample sample;
  size_t d;
  double *a, *found, *work, *values, *vectors;
  double least;         /* the error of `found` */
  double *equal, *kept; /* losses of the rows that judge: of M_0, and of `found` */
} metric;

/* a = I: no metric. */
static void set_identity(double *a, size_t d) {
  memset(a, 0, d * d * sizeof *a);
  for (size_t j = 0; j < d; j++)
    a[j * d + j] = 1;
}

/* a = M^1/2 for M = a G a, its largest eigenvalue made 1; 0 where the function is constant. */
static scl_status next_metric(metric *m, double *gradients, scl_error *error) {
  const scl_host *host = m->host;
  const size_t d = m->d;
  const ptrdiff_t stride = (ptrdiff_t)d;
  double largest = 0;
  host->dense->gemm(0, 0, d, d, d, 1, m->a, stride, gradients, stride, 0, m->work, stride);
  host->dense->gemm(0, 0, d, d, d, 1, m->work, stride, m->a, stride, 0, gradients, stride);
  if (m->self->form == AGOP_DIAGONAL) {
    for (size_t j = 0; j < d; j++)
      largest = fmax(largest, gradients[j * d + j]);
    memset(m->a, 0, d * d * sizeof *m->a);
    for (size_t j = 0; largest > 0 && j < d; j++)
      m->a[j * d + j] = sqrt(fmax(gradients[j * d + j], 0) / largest);
    return SCL_STATUS_OK;
  }
  scl_symmetric *product = NULL;
  scl_status status = host->symmetric->create(d, &product, error);
  if (status == SCL_STATUS_OK) {
    host->symmetric->set(product, 0, d, 0, d, gradients, stride);
    status = host->symmetric->eigen(product, d, m->values, m->vectors, error);
  }
  host->symmetric->destroy(product);
  if (status != SCL_STATUS_OK) return status;
  for (size_t k = 0; k < d; k++) {
    const double root = m->values[0] > 0 ? sqrt(fmax(m->values[k], 0) / m->values[0]) : 0;
    for (size_t j = 0; j < d; j++)
      m->work[k * d + j] = root * m->vectors[k * d + j];
  }
  host->dense->gemm(1, 0, d, d, d, 1, m->vectors, stride, m->work, stride, 0, m->a, stride);
  return SCL_STATUS_OK;
}

/* a = the metric of the next round, by the gradients of the last fit. */
static scl_status differentiate(metric *m, agop_fit *f, scl_error *error) {
  double *gradients = m->work + m->d * m->d;
  const scl_status status = agop_gradients(f, gradients, error);
  return status == SCL_STATUS_OK ? next_metric(m, gradients, error) : status;
}

/* Rounds from M_0 = I, or from the metric of an additive model: found = A of the round with the
 * least error. Only an additive model sees a column whose effect is symmetric about its mean, among
 * many columns: fits in all of them are nearly linear. */
static scl_status run_rounds(metric *m, const scl_fitting *fitting, int additive,
                             scl_error *error) {
  const size_t d = m->d, judges = m->sample.n - m->sample.train;
  agop_fit f = {.self = m->self,
                .host = m->host,
                .sample = &m->sample,
                .landmarks = m->self->map == AGOP_LANDMARKS};
  double mine = 0, before = INFINITY;
  scl_status status = SCL_STATUS_OK;
  set_identity(m->a, d);
  if (additive) {
    agop_fit first = {.self = m->self, .host = m->host, .sample = &m->sample, .additive = 1};
    status = agop_open_fit(&first, error);
    if (status == SCL_STATUS_OK) status = agop_run_fit(&first, m->a, 0, &mine, error);
    if (status == SCL_STATUS_OK && isfinite(mine)) status = differentiate(m, &first, error);
    agop_close_fit(&first);
  }
  if (status == SCL_STATUS_OK) status = agop_open_fit(&f, error);
  for (size_t round = additive ? 1 : 0; status == SCL_STATUS_OK && round <= m->self->rounds;
       round++) {
    const double done = (double)round / (double)(m->self->rounds + 1);
    status = fitting->rows->progress(fitting->rows, "metric", (done + additive) / 2, error);
    if (status == SCL_STATUS_OK) status = agop_run_fit(&f, m->a, round, &mine, error);
    if (status != SCL_STATUS_OK || !isfinite(mine)) break;
    if (round == 0) memcpy(m->equal, f.loss, judges * sizeof *m->equal);
    if (mine < m->least) {
      m->least = mine;
      memcpy(m->kept, f.loss, judges * sizeof *m->kept);
      memcpy(m->found, m->a, d * d * sizeof *m->found);
    }
    if (round > 1 && !(mine < GAIN * before)) break;
    before = mine;
    if (round < m->self->rounds) status = differentiate(m, &f, error);
  }
  agop_close_fit(&f);
  return status;
}

/* Whether the best metric is clearly better than M_0, by the rows that judge. */
static int clearly_better(const metric *m) {
  const size_t count = m->sample.n - m->sample.train;
  double mean = 0, square = 0;
  for (size_t i = 0; i < count; i++)
    mean += (m->equal[i] - m->kept[i]) / (double)count;
  for (size_t i = 0; i < count; i++)
    square += pow(m->equal[i] - m->kept[i] - mean, 2);
  return mean > CLEARLY * sqrt(square) / (double)count;
}

/* Put means and A over the deviations; report the relevance of columns, the roots of M_jj. A
 * constant column becomes 0. */
static scl_status put_metric(metric *m, const scl_fitting *fitting, const scl_stage_column *moments,
                             scl_error *error) {
  const size_t d = m->d;
  const int diagonal = m->self->form == AGOP_DIAGONAL;
  double *mean = m->work, *relevance = m->work + d, largest = 0;
  for (size_t j = 0; j < d; j++) {
    const scl_stage_column *c = moments + j;
    const double deviation = sqrt(c->square / c->weight);
    const int varies = c->high > c->low && deviation > 0;
    mean[j] = varies ? c->mean + c->rest : c->low;
    relevance[j] = 0;
    for (size_t i = 0; i < d; i++) {
      if (!varies) m->found[i * d + j] = 0;
      relevance[j] += m->found[i * d + j] * m->found[i * d + j];
      m->found[i * d + j] /= varies ? deviation : 1;
    }
    relevance[j] = sqrt(relevance[j]);
    largest = fmax(largest, relevance[j]);
  }
  for (size_t j = 0; j < d; j++) {
    relevance[j] = largest > 0 ? relevance[j] / largest : 0;
    if (diagonal) m->found[j] = m->found[j * d + j];
  }
  const scl_array means = scl_matrix_array(mean, 1, d), report = scl_matrix_array(relevance, 1, d),
                  matrix = scl_matrix_array(m->found, diagonal ? 1 : d, d);
  scl_status status = fitting->put(fitting, "mean", &means, error);
  if (status == SCL_STATUS_OK) status = fitting->put(fitting, "matrix", &matrix, error);
  return status == SCL_STATUS_OK ? fitting->report(fitting, "relevance", &report, error) : status;
}

/* Scratch memory of the call; both metrics begin as I, with losses of 0. */
static scl_status open_metric(metric *m, scl_error *error) {
  const size_t d = m->d, judges = m->sample.n - m->sample.train;
  m->a = m->host->scratch((5 * d * d + d + 2 * judges) * sizeof *m->a);
  if (m->a == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for a metric of %zu columns", d);
  m->found = m->a + d * d;
  m->work = m->found + d * d;
  m->vectors = m->work + 2 * d * d;
  m->values = m->vectors + d * d;
  m->equal = m->values + d;
  m->kept = m->equal + judges;
  memset(m->equal, 0, 2 * judges * sizeof *m->equal);
  set_identity(m->a, d);
  set_identity(m->found, d);
  return SCL_STATUS_OK;
}

/* Learns A from a sample, in rounds from M_0 = I and in rounds from an additive model. */
static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const agop *self = instance;
  const scl_host *host = fitting->host;
  const size_t d = fitting->rows->dim;
  if (fitting->rows->targets == 0)
    return host->fail(error, SCL_STATUS_BAD_DATA, "learns from targets, and these rows have none");
  if (d > MOST_COLUMNS)
    return host->fail(error, SCL_STATUS_BAD_DATA,
                      "learns a metric of up to %d columns, and got %zu; put sc.pca{ k = } before "
                      "it",
                      (int)MOST_COLUMNS, d);
  scl_stage_column *moments = host->scratch(d * sizeof *moments);
  if (moments == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", d);
  metric m = {.self = self, .host = host, .d = d, .least = INFINITY};
  scl_status status = fitting->moments(fitting, moments, error);
  if (status == SCL_STATUS_OK) status = agop_take_sample(self, fitting, moments, &m.sample, error);
  if (status == SCL_STATUS_OK) status = open_metric(&m, error);
  if (status == SCL_STATUS_OK) status = run_rounds(&m, fitting, 0, error);
  if (status == SCL_STATUS_OK) status = run_rounds(&m, fitting, 1, error);
  if (status != SCL_STATUS_OK) return status;
  if (!clearly_better(&m)) set_identity(m.found, d);
  return put_metric(&m, fitting, moments, error);
}

/* ------------ applying */

/* matrix is d x d, or 1 x d in the diagonal form; as many columns leave as arrive. */
static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  const scl_status status = projection_shape(instance, fitted, error);
  const scl_host *host = ((const scl_base *)instance)->host;
  if (status != SCL_STATUS_OK) return status;
  if (fitted->width != 1 && fitted->width != fitted->cols)
    return host->fail(error, SCL_STATUS_BAD_DATA, "its matrix is not a metric of %zu columns",
                      fitted->cols);
  fitted->width = fitted->cols;
  return SCL_STATUS_OK;
}

/* A (x - mean), by one product of matrices, or column by column. */
static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const double *mean = scl_stage_numbers(fitted, 0), *a = scl_stage_numbers(fitted, 1);
  if (fitted->arrays[1].sizes[0] == fitted->cols)
    return projection_apply(((const scl_base *)instance)->host, mean, a, fitted, in, out, error);
  for (size_t i = 0; i < in->rows; i++)
    for (size_t j = 0; j < fitted->cols; j++)
      scl_stage_out(out, i)[j] = a[j] * (scl_stage_row(in, i)[j] - mean[j]);
  return SCL_STATUS_OK;
}

/* The same as C. */
static int formula(const void *instance, char *text, size_t size) {
  return scl_write_text(
      ((const agop *)instance)->form == AGOP_DIAGONAL
          ? "int j;\nfor (j = 0; j < cols; j++)\n  out[j] = matrix[j] * (x[j] - mean[j]);"
          : PROJECTION_FORMULA("matrix", "(x[j] - mean[j])"),
      text, size);
}

static int operators(const void *instance, char *text, size_t size) {
  return scl_write_text(((const agop *)instance)->form == AGOP_DIAGONAL
                            ? "out = matrix * (x - mean);"
                            : "out = product(x - mean, matrix);",
                        text, size);
}

const scl_plugin scullery_plugin = {
    .name = "agop",
    .summary = "a metric learnt from the targets by average gradient outer products",
    .doc =
        "A row x becomes A (x - mean)/(standard deviation), where A A' is the mean of\n"
        "grad f grad f' over the rows, its largest eigenvalue made 1, of a function f that was\n"
        "fitted to the rows in the metric of the round before (recursive feature machines:\n"
        "Radhakrishnan, Beaglehole, Pandit and Belkin 2024). Directions along which the targets\n"
        "change stay long, others become short. Use it in place of standardize, before features\n"
        "with one width for all columns.\n"
        "It learns from at most `rows` distinct rows: ridge regressions on Fourier features or\n"
        "landmarks, whose width and regularisation a fifth of these rows chooses. The round with\n"
        "the least error there is taken, and if that is not clearly less than without a metric,\n"
        "columns are only standardised. At most 1000 columns. Weights of rows and of classes\n"
        "count as in the solver. p:cv and p:search fit it without each fold.\n"
        "p:info().relevance has the length of each column in the metric, the largest being 1.",
    SCL_STAGE(.flags = SCL_STAGE_TARGETS, .arrays = "mean|matrix", .fit = fit, .shape = shape,
              .apply = apply, .formula = formula, .operators = operators),
    SCL_INSTANCE(agop, options)};
