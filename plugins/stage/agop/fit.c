/* Ridge regression on features of z = A x, and the gradients of its function. */
#include "agop.h"

/* Lengths of the kernel, as factors of the root of the mean of |z|^2, from which the rate is the
 * inverse, and values of the regularisation. */
static const double factors[] = {0.35, 0.7, 1.4};
static const double lambdas[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
enum {
  FACTORS = sizeof factors / sizeof *factors,
  LAMBDAS = sizeof lambdas / sizeof *lambdas,
  ROWS = 128, /* of a task */
  STREAM = 0  /* of random numbers, from that of the stage on */
};

/* Scratch memory of the call for all arrays, and both matrices of order D. A fit never has more
 * parameters than a quarter of its rows (landmarks: than rows), so that few rows cost little. */
scl_status agop_open_fit(agop_fit *f, scl_error *error) {
  const agop_sample *s = f->sample;
  const scl_host *host = f->host;
  const size_t most = f->landmarks ? s->train : s->train / 4; /* half as many features than rows */
  f->T = f->self->T > most ? most : f->self->T;
  if (f->additive && f->T < s->d) f->T = s->d;
  f->D = f->landmarks ? f->T : 2 * f->T + 1;
  const size_t wide = f->D > s->d ? f->D : s->d, judges = s->n - s->train;
  struct {
    double **place;
    size_t count;
  } wanted[] = {{&f->z, s->n * s->d},
                {&f->parameters, f->T * s->d},
                {&f->scaled, f->T * s->d},
                {&f->phi, s->n * f->D},
                {&f->weighted, s->n * wide},
                {&f->gradient, s->train * s->d},
                {&f->right, f->D * s->targets},
                {&f->a, f->D * s->targets},
                {&f->best, f->D * s->targets},
                {&f->scores, judges * s->targets},
                {&f->loss, judges}};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
    *wanted[k].place = host->scratch(wanted[k].count * sizeof(double));
    if (*wanted[k].place == NULL)
      return host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for %zu features of %zu rows", f->D, s->n);
  }
  f->gram = f->factor = NULL;
  const scl_status status = host->symmetric->create(f->D, &f->gram, error);
  return status == SCL_STATUS_OK ? host->symmetric->create(f->D, &f->factor, error) : status;
}

void agop_close_fit(agop_fit *f) {
  f->host->symmetric->destroy(f->gram);
  f->host->symmetric->destroy(f->factor);
}

/* ------------ features */

/* Fourier: w_t ~ N(0, I), over |N(0, 1)| for the Laplacian kernel (the Cauchy law in R^d).
 * Landmarks: rows of z; rows have no order but that of their hashes, so the first ones are as good
 * as any, and a round takes others than the one before. */
static void draw_parameters(agop_fit *f, size_t round) {
  const agop_sample *s = f->sample;
  const scl_random *random = f->host->random;
  for (size_t t = 0; t < f->T; t++) {
    double *w = f->parameters + t * s->d, length;
    if (f->landmarks) {
      memcpy(w, f->z + (round * f->T + t) % s->train * s->d, s->d * sizeof *w);
      continue;
    }
    const uint64_t index = round * f->T + t;
    random->normal((uint64_t)f->self->seed, STREAM, index, 0, s->d, w);
    for (size_t j = 0; f->additive && j < s->d; j++)
      if (j != t % s->d) w[j] = 0;
    if (f->self->kernel == AGOP_GAUSSIAN) continue;
    random->normal((uint64_t)f->self->seed, STREAM, index, s->d, 1, &length);
    for (size_t j = 0; j < s->d; j++)
      w[j] /= fabs(length);
  }
}

/* (cos <v_t, z>, sin <v_t, z>)/sqrt(T), and 1, from the products in the first T numbers. */
static void fourier_row(const agop_fit *f, double *row) {
  const double common = sqrt(1 / (double)f->T);
  f->host->math->sin(f->T, row, row + f->T);
  f->host->math->cos(f->T, row, row);
  for (size_t t = 0; t < 2 * f->T; t++)
    row[t] *= common;
  row[2 * f->T] = 1;
}

/* <a, b> */
static double dot(const double *a, const double *b, size_t count) {
  double sum = 0;
  for (size_t j = 0; j < count; j++)
    sum += a[j] * b[j];
  return sum;
}

/* k(z, z_m) = exp(-(rate r)^2/2) or exp(-rate r), r the distance, from products <rate^2 z, z_m>. */
static void landmark_row(const agop_fit *f, const double *z, double *row) {
  const size_t d = f->sample->d;
  const double own = f->rate * f->rate * dot(z, z, d);
  for (size_t m = 0; m < f->T; m++) {
    const double *v = f->scaled + m * d; /* rate times the landmark */
    const double square = fmax(own + dot(v, v, d) - 2 * row[m], 0);
    row[m] = f->self->kernel == AGOP_GAUSSIAN ? -square / 2 : -sqrt(square);
  }
  f->host->math->exp(f->T, row, row);
}

/* A task: the features of ROWS rows, by one product of matrices; those of fitted rows also times
 * the root of their weight, for the Gram matrix. */
static scl_status features_task(void *context, size_t index, scl_error *error) {
  const agop_fit *f = context;
  const agop_sample *s = f->sample;
  const size_t first = index * ROWS, end = first + ROWS < s->n ? first + ROWS : s->n;
  (void)error;
  f->host->dense->gemm(0, 1, end - first, f->T, s->d, f->landmarks ? f->rate : 1,
                       f->z + first * s->d, (ptrdiff_t)s->d, f->scaled, (ptrdiff_t)s->d, 0,
                       f->phi + first * f->D, (ptrdiff_t)f->D);
  for (size_t i = first; i < end; i++) {
    double *row = f->phi + i * f->D;
    if (f->landmarks)
      landmark_row(f, f->z + i * s->d, row);
    else
      fourier_row(f, row);
    const double root = sqrt(s->weight[i]);
    for (size_t k = 0; i < s->train && k < f->D; k++)
      f->weighted[i * f->D + k] = root * row[k];
  }
  return SCL_STATUS_OK;
}

/* The features of all rows for a rate, which also scales the parameters: their scaled copies are
 * what products and gradients need. */
static scl_status make_features(agop_fit *f, double rate, scl_error *error) {
  f->rate = rate;
  for (size_t k = 0; k < f->T * f->sample->d; k++)
    f->scaled[k] = rate * f->parameters[k];
  return f->host->parallel((f->sample->n + ROWS - 1) / ROWS, features_task, f, error);
}

/* ------------ regression */

/* factor = lambda times the penalty: I, or for landmarks their kernel matrix, which is the squared
 * norm of the function. A little of I keeps it definite. */
static scl_status add_penalty(agop_fit *f, double lambda, scl_error *error) {
  const scl_symmetric_algebra *algebra = f->host->symmetric;
  const size_t d = f->sample->d;
  if (!f->landmarks) {
    algebra->shift(lambda, f->factor);
    return SCL_STATUS_OK;
  }
  double *kernel = f->host->allocate(f->T * f->T * sizeof *kernel);
  if (kernel == NULL)
    return f->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu landmarks", f->T);
  f->host->dense->gemm(0, 1, f->T, f->T, d, f->rate, f->parameters, (ptrdiff_t)d, f->scaled,
                       (ptrdiff_t)d, 0, kernel, (ptrdiff_t)f->T);
  for (size_t m = 0; m < f->T; m++)
    landmark_row(f, f->parameters + m * d, kernel + m * f->T);
  for (size_t k = 0; k < f->T * f->T; k++)
    kernel[k] *= lambda;
  scl_symmetric *penalty = NULL;
  const scl_status status = algebra->create(f->T, &penalty, error);
  if (status == SCL_STATUS_OK) {
    algebra->set(penalty, 0, f->T, 0, f->T, kernel, (ptrdiff_t)f->T);
    algebra->add(1, penalty, f->factor);
    algebra->shift(1e-10, f->factor);
  }
  algebra->destroy(penalty);
  f->host->release(kernel);
  return status;
}

/* Solve for one lambda and judge: a, and its weighted mean squared error. */
static scl_status solve(agop_fit *f, double lambda, double *out, scl_error *error) {
  const agop_sample *s = f->sample;
  const scl_host *host = f->host;
  size_t pivot;
  *out = INFINITY;
  host->symmetric->copy(f->gram, f->factor);
  scl_status status = add_penalty(f, lambda, error);
  if (status == SCL_STATUS_OK) status = host->symmetric->factor(f->factor, &pivot, error);
  if (status == SCL_STATUS_NUMERIC) return SCL_STATUS_OK; /* too little regularisation */
  if (status != SCL_STATUS_OK) return status;
  memcpy(f->a, f->right, f->D * s->targets * sizeof *f->a);
  status = host->symmetric->solve(f->factor, f->a, s->targets, error);
  if (status != SCL_STATUS_OK) return status;
  const size_t judges = s->n - s->train;
  host->dense->gemm(0, 0, judges, s->targets, f->D, 1, f->phi + s->train * f->D, (ptrdiff_t)f->D,
                    f->a, (ptrdiff_t)s->targets, 0, f->scores, (ptrdiff_t)s->targets);
  double sum = 0, weight = 0;
  for (size_t i = 0; i < judges; i++) {
    for (size_t c = 0; c < s->targets; c++)
      sum += s->weight[s->train + i] *
             pow(f->scores[i * s->targets + c] - s->y[(s->train + i) * s->targets + c], 2);
    weight += s->weight[s->train + i];
  }
  *out = sum / weight;
  return SCL_STATUS_OK;
}

/* Keeps the coefficients and the rate of the last solution, and the loss of each row that judges:
 * with them rounds are compared row by row. */
static void store_best(agop_fit *f) {
  const agop_sample *s = f->sample;
  f->best_rate = f->rate;
  memcpy(f->best, f->a, f->D * s->targets * sizeof *f->a);
  for (size_t i = 0; i < s->n - s->train; i++) {
    f->loss[i] = 0;
    for (size_t c = 0; c < s->targets; c++)
      f->loss[i] += s->weight[s->train + i] *
                    pow(f->scores[i * s->targets + c] - s->y[(s->train + i) * s->targets + c], 2);
  }
}

/* One width, with smaller and smaller lambdas until the error grows by a tenth. */
static scl_status regress(agop_fit *f, double rate, double *least, scl_error *error) {
  const agop_sample *s = f->sample;
  const scl_host *host = f->host;
  scl_status status = make_features(f, rate, error);
  if (status == SCL_STATUS_OK) {
    host->symmetric->scale(0, f->gram);
    status = host->symmetric->rank(f->gram, 1, f->weighted, s->train, (ptrdiff_t)f->D, error);
  }
  memset(f->right, 0, f->D * s->targets * sizeof *f->right);
  for (size_t i = 0; i < s->train; i++)
    for (size_t k = 0; k < f->D; k++)
      for (size_t c = 0; c < s->targets; c++)
        f->right[k * s->targets + c] +=
            s->weight[i] * f->phi[i * f->D + k] * s->y[i * s->targets + c];
  double lowest = INFINITY, mine = 0;
  for (size_t l = 0; status == SCL_STATUS_OK && mine < 1.1 * lowest && l < LAMBDAS; l++) {
    status = solve(f, lambdas[l], &mine, error);
    lowest = fmin(lowest, mine);
    if (status != SCL_STATUS_OK || !(mine < *least)) continue;
    *least = mine;
    store_best(f);
  }
  return status;
}

/* The rate is relative to the spread of the rows in this metric: a metric that shrinks all rows
 * changes nothing. Of an additive model it is that of one standardised column. */
scl_status agop_run_fit(agop_fit *f, const double *metric, size_t round, double *least,
                        scl_error *error) {
  const agop_sample *s = f->sample;
  const ptrdiff_t d = (ptrdiff_t)s->d;
  f->host->dense->gemm(0, 0, s->n, s->d, s->d, 1, s->x, d, metric, d, 0, f->z, d);
  draw_parameters(f, round);
  double spread = 0;
  for (size_t i = 0; !f->additive && i < s->train; i++)
    spread += s->weight[i] * dot(f->z + i * s->d, f->z + i * s->d, s->d);
  if (f->additive) spread = 0.25; /* a column, in which the function may be rough */
  *least = INFINITY;
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; spread > 0 && status == SCL_STATUS_OK && k < FACTORS; k++)
    status = regress(f, factors[k] / sqrt(spread), least, error);
  if (status != SCL_STATUS_OK || !isfinite(*least)) return status;
  return make_features(f, f->best_rate, error);
}

/* ------------ gradients */

/* With coefficients a_t and b_t of cosine and sine:
 *   df/dz = sum_t (b_t cos <v_t, z> - a_t sin <v_t, z>) v_t / sqrt(T)
 * and for kernels of r = |z - z_m|, of which k' is the derivative:
 *   df/dz = sum_m a_m k'(r)/r (z - z_m),   k'(r)/r = -rate^2 k or -rate k/r */
static void gradient_row(const agop_fit *f, size_t i, size_t target, double *slope) {
  const size_t targets = f->sample->targets, T = f->T;
  const double *phi = f->phi + i * f->D;
  for (size_t t = 0; t < T; t++) {
    const double a = f->best[t * targets + target];
    if (!f->landmarks)
      slope[t] = phi[t] * f->best[(T + t) * targets + target] - phi[T + t] * a;
    else if (f->self->kernel == AGOP_GAUSSIAN)
      slope[t] = a * phi[t] * f->rate;
    else
      slope[t] = phi[t] < 1 ? a * phi[t] * f->rate / -log(phi[t]) : 0;
  }
}

/* The gradients of one target. */
typedef struct gradients {
  agop_fit *fit;
  size_t target;
} gradients;

/* A task: the gradients of ROWS fitted rows, each times the root of its weight. For landmarks the
 * rows z themselves enter, by the sum of their slopes. */
static scl_status gradient_task(void *context, size_t index, scl_error *error) {
  const gradients *g = context;
  const agop_fit *f = g->fit;
  const agop_sample *s = f->sample;
  const size_t first = index * ROWS, end = first + ROWS < s->train ? first + ROWS : s->train;
  (void)error;
  for (size_t i = first; i < end; i++)
    gradient_row(f, i, g->target, f->weighted + i * f->T);
  f->host->dense->gemm(0, 0, end - first, s->d, f->T, 1, f->weighted + first * f->T,
                       (ptrdiff_t)f->T, f->scaled, (ptrdiff_t)s->d, 0, f->gradient + first * s->d,
                       (ptrdiff_t)s->d);
  for (size_t i = first; i < end; i++) {
    double *gradient = f->gradient + i * s->d, sum = 0;
    for (size_t t = 0; f->landmarks && t < f->T; t++)
      sum += f->weighted[i * f->T + t];
    for (size_t j = 0; j < s->d; j++)
      gradient[j] = sqrt(s->weight[i]) * (gradient[j] - sum * f->rate * f->z[i * s->d + j]);
  }
  return SCL_STATUS_OK;
}

scl_status agop_gradients(agop_fit *f, double *out, scl_error *error) {
  const agop_sample *s = f->sample;
  const scl_symmetric_algebra *algebra = f->host->symmetric;
  scl_symmetric *sum = NULL;
  scl_status status = algebra->create(s->d, &sum, error);
  for (size_t c = 0; status == SCL_STATUS_OK && c < s->targets; c++) {
    gradients g = {f, c};
    status = f->host->parallel((s->train + ROWS - 1) / ROWS, gradient_task, &g, error);
    if (status == SCL_STATUS_OK)
      status = algebra->rank(sum, 1, f->gradient, s->train, (ptrdiff_t)s->d, error);
  }
  if (status == SCL_STATUS_OK) algebra->dense(sum, out, (ptrdiff_t)s->d);
  algebra->destroy(sum);
  return status;
}
