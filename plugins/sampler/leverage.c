/* Gaussian rows w for Fourier features, weighted by their leverage (Avron, Kapralov, Musco, Musco,
 * Velingker and Zandieh 2017, Random Fourier features for kernel ridge regression; Li, Ton, Oglic
 * and Sejdinovic 2019, Towards a unified analysis of random Fourier features). Of M candidates w_m ~
 * N(0, sigma^2 I), with phi_m the 2 columns cos <w_m, x_i>, sin <w_m, x_i> over s rows, and K the
 * mean of phi_m phi_m' over m:
 *
 *   q_m = trace(phi_m' (K + s lambda I)^-1 phi_m),   p_m = q_m / sum q
 *
 * T of them are drawn by p (systematic resampling), and a feature has the factor 1/sqrt(T M p_m):
 * the estimate of the Gaussian kernel is unbiased, and accurate where the rows are. */
#include "shared/gaussian_rows.h"

enum { STREAM_ROWS = 4, STREAM_RESAMPLE = 5, LEAST_CANDIDATES = 100, CHUNK = 1024 };

typedef struct leverage {
  gaussian_rows rows;
  size_t candidates, sample;
  double lambda;
} leverage;

static const scl_option options[] = {
    GAUSSIAN_ROWS_OPTIONS,
    SCL_INTEGER(leverage, candidates, NULL, "M, from which T are drawn (default 4 T)",
                SCL_WITHIN(1, 1e6)),
    SCL_INTEGER(leverage, sample, "500", "s rows, by which leverages are computed, at most",
                SCL_WITHIN(1, 20000)),
    SCL_NUMBER(leverage, lambda, "1e-3", "regularisation in the leverages, as that of the solver",
               SCL_POSITIVE)};

/* What is computed of the candidates, in one block of memory. They are drawn by their numbers,
 * CHUNK at a time, so that memory does not grow with M times rows or columns. */
typedef struct weighing {
  const leverage *self;
  const scl_learning *learning;
  size_t count, rows; /* M, s */
  double *w;          /* CHUNK x d */
  double *x;          /* s x d */
  double *phi;        /* s x 2 CHUNK: cosines, sines */
  double *gram;       /* s x s */
  double *q;          /* M */
} weighing;

/* Parameters are learnt together: one replaced would change the shares of all others. */
static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  (void)instance, (void)dim, (void)error;
  out->flags |= SCL_LAYOUT_DEPENDENT;
  return SCL_STATUS_OK;
}

static scl_status weighing_open(weighing *v, scl_error *error) {
  const scl_host *host = v->learning->host;
  const size_t d = v->learning->dim, s = v->rows, most = v->count < CHUNK ? v->count : CHUNK;
  v->w = host->scratch((most * d + s * d + 2 * s * most + s * s + v->count + 1) * sizeof *v->w);
  if (v->w == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for leverages at %zu rows of %zu columns", s, d);
  v->x = v->w + most * d;
  v->phi = v->x + s * d;
  v->gram = v->phi + 2 * s * most;
  v->q = v->gram + s * s;
  return SCL_STATUS_OK;
}

/* x = s rows, one of each of s equal parts of the data. */
static scl_status take_rows(const weighing *v, scl_error *error) {
  const scl_learning *l = v->learning;
  size_t *places = l->host->scratch(v->rows * sizeof *places);
  if (places == NULL)
    return l->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", v->rows);
  for (size_t i = 0; i < v->rows; i++) {
    const size_t first = i * l->rows / v->rows, end = (i + 1) * l->rows / v->rows;
    double u;
    l->host->random->uniform(l->draw->address.seed, l->draw->address.stream + STREAM_ROWS, i, 0, 1,
                             &u);
    places[i] = first + (size_t)(u * (double)(end - first));
  }
  return l->select(l, places, v->rows, v->x, error);
}

/* Candidate m. */
static void draw_candidate(const weighing *v, size_t m, double *w) {
  const scl_learning *l = v->learning;
  l->host->random->normal(l->draw->address.seed, l->draw->address.stream + GAUSSIAN_ROWS_WEIGHTS, m,
                          0, l->dim, w);
  for (size_t j = 0; j < l->dim; j++)
    w[j] *= v->self->rows.sigma;
}

/* phi of candidates first, first + 1, ... at the rows, s x 2 count; returns their count. */
static size_t make_features(const weighing *v, size_t first) {
  const scl_learning *l = v->learning;
  const size_t d = l->dim, count = v->count - first < CHUNK ? v->count - first : CHUNK;
  for (size_t m = 0; m < count; m++)
    draw_candidate(v, first + m, v->w + m * d);
  l->host->dense->gemm(0, 1, v->rows, count, d, 1, v->x, (ptrdiff_t)d, v->w, (ptrdiff_t)d, 0,
                       v->phi, (ptrdiff_t)(2 * count));
  for (size_t i = 0; i < v->rows; i++) {
    double *row = v->phi + 2 * i * count;
    l->host->math->sin(count, row, row + count);
    l->host->math->cos(count, row, row);
  }
  return count;
}

/* gram = K, the mean of phi_m phi_m' over all candidates. */
static void add_up(const weighing *v) {
  const size_t s = v->rows;
  for (size_t first = 0, count; first < v->count; first += count) {
    count = make_features(v, first);
    v->learning->host->dense->gemm(0, 1, s, s, 2 * count, 1 / (double)v->count, v->phi,
                                   (ptrdiff_t)(2 * count), v->phi, (ptrdiff_t)(2 * count),
                                   first > 0, v->gram, (ptrdiff_t)s);
  }
}

/* q by the Cholesky factor of K + s lambda I = L L': the squares of L^-1 phi. */
static scl_status weigh(const weighing *v, scl_error *error) {
  const scl_host *host = v->learning->host;
  const size_t M = v->count, s = v->rows;
  scl_symmetric *k = NULL;
  size_t pivot, count = 0;
  add_up(v);
  scl_status status = host->symmetric->create(s, &k, error);
  if (status == SCL_STATUS_OK) {
    host->symmetric->set(k, 0, s, 0, s, v->gram, (ptrdiff_t)s);
    host->symmetric->shift((double)s * v->self->lambda + 1e-12, k);
    status = host->symmetric->factor(k, &pivot, error);
  }
  memset(v->q, 0, M * sizeof *v->q);
  for (size_t first = 0; status == SCL_STATUS_OK && first < M; first += count) {
    count = make_features(v, first);
    status = host->symmetric->triangular(k, 0, v->phi, 2 * count, error);
    for (size_t i = 0; i < s; i++)
      for (size_t m = 0; m < 2 * count; m++)
        v->q[first + m % count] += v->phi[2 * i * count + m] * v->phi[2 * i * count + m];
  }
  host->symmetric->destroy(k);
  return status;
}

/* numbers (T x (d + 1)): w and the factor of each feature, by points (t + u)/T of the distribution
 * function of p. */
static void resample(const weighing *v, size_t T, double *numbers) {
  const scl_learning *l = v->learning;
  const size_t d = l->dim, M = v->count;
  double total = 0, below = 0, u;
  for (size_t m = 0; m < M; m++)
    total += v->q[m];
  l->host->random->uniform(l->draw->address.seed, l->draw->address.stream + STREAM_RESAMPLE, 0, 0,
                           1, &u);
  for (size_t t = 0, m = 0; t < T; t++) {
    const double point = ((double)t + u) / (double)T * total;
    while (m + 1 < M && below + v->q[m] <= point)
      below += v->q[m++];
    draw_candidate(v, m, numbers + t * (d + 1));
    numbers[t * (d + 1) + d] = sqrt(total / ((double)T * (double)M * v->q[m]));
  }
}

/* The state: T rows of w and the factor of its features. */
static scl_status learn(const void *instance, const scl_learning *rows, scl_state *out,
                        scl_error *error) {
  const leverage *self = instance;
  const scl_host *host = rows->host;
  const size_t T = rows->draw->total;
  if (T == 0) return SCL_STATUS_OK; /* the host asks for T */
  if (rows->rows == 0)
    return host->fail(error, SCL_STATUS_BAD_DATA, "learns from rows, and there are none");
  weighing v = {.self = self,
                .learning = rows,
                .count = self->candidates > 0       ? self->candidates
                         : 4 * T > LEAST_CANDIDATES ? 4 * T
                                                    : LEAST_CANDIDATES,
                .rows = self->sample < rows->rows ? self->sample : rows->rows};
  if (v.count < T)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "'candidates' = %zu are fewer than T = %zu parameters", v.count, T);
  out->numbers = host->allocate(T * (rows->dim + 1) * sizeof *out->numbers);
  out->rows = T;
  out->cols = rows->dim + 1;
  if (out->numbers == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu parameters", T);
  scl_status status = weighing_open(&v, error);
  if (status == SCL_STATUS_OK) status = take_rows(&v, error);
  if (status == SCL_STATUS_OK) status = weigh(&v, error);
  if (status == SCL_STATUS_OK) resample(&v, T, out->numbers);
  return status;
}

/* Row t of the state; NULL where it has none. */
static const double *state_row(const scl_draw *draw, size_t dim, size_t t) {
  const scl_state *state = draw->state;
  if (state == NULL || state->cols != dim + 1 || t >= state->rows) return NULL;
  return state->numbers + t * state->cols;
}

/* A state that is missing, or of other columns or fewer parameters, as from a damaged file. */
static scl_status bad_state(const void *instance, scl_error *error) {
  return ((const scl_base *)instance)
      ->host->fail(error, SCL_STATUS_BAD_SHAPE, "the parameters learnt do not have this shape");
}

/* The weights are those that were learnt; only the bias is still drawn, by the host. */
static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  for (size_t t = 0; t < out->count; t++) {
    const double *row = state_row(draw, out->dim, out->first + t);
    if (row == NULL) return bad_state(instance, error);
    memcpy(out->weights + (ptrdiff_t)t * out->stride, row, out->dim * sizeof *row);
  }
  return SCL_STATUS_OK;
}

/* The factors stand for 1/sqrt(T): equal leverages give just that. */
static scl_status scales(const void *instance, const scl_draw *draw,
                         const scl_const_parameters *parameters, double *out, scl_error *error) {
  for (size_t t = 0; t < parameters->count; t++) {
    const double *row = state_row(draw, parameters->dim, parameters->first + t);
    if (row == NULL) return bad_state(instance, error);
    out[t] = row[parameters->dim];
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "leverage",
    .summary = "Gaussian rows chosen by their ridge leverage: Fourier features for these rows",
    .definition =
        "s() = gamma and sqrt(2*gamma) or sigma or 1\n"
        /* Candidate m. */
        "w(m, r) = map(range(r.dim), function(j) return s()*r.normal(0, m, j - 1) end)\n"
        "M(r) = candidates or max(4*r.total, 100)\n"
        /* One row of each of n equal parts, and the waves of a candidate at them. */
        "at(X, i, n, r) = (function(first, last)\n"
        "  return X[first + floor(r.uniform(4, i, 0)*(last - first)) + 1] end)(i*#X//n, (i + "
        "1)*#X//n)\n"
        "waves(X, w) = { map(X, function(x) return cos(dot(x, w)) end),\n"
        "  map(X, function(x) return sin(dot(x, w)) end) }\n"
        /* K + n lambda I, and the leverages q. */
        "gram(all, n) = map(range(n), function(i) return map(range(n), function(j)\n"
        "  return mean(all, function(f) return f[1][i]*f[1][j] + f[2][i]*f[2][j] end) +\n"
        "    (i == j and n*lambda + 1e-12 or 0) end) end)\n"
        "q(all, A) = map(all, function(f) return dot(f[1], solve(A, f[1])) + dot(f[2], solve(A, "
        "f[2])) end)\n"
        /* The candidate at a point of the sums of q, and its row. */
        "pick(q, point, m) = (point < q[m] or m == #q) and m or pick(q, point - q[m], m + 1)\n"
        "taken(q, t, r) = (function(m)\n"
        "  return join(w(m - 1, r), { sqrt(sum(q)/(r.total*#q*q[m])) })\n"
        "end)(pick(q, (t - 1 + r.uniform(5, 0, 0))/r.total*sum(q), 1))\n"
        "chosen(all, n, r) = (function(q)\n"
        "  return map(range(r.total), function(t) return taken(q, t, r) end) end)(q(all, gram(all, "
        "n)))\n"
        "state(X, r) = #X < 16 and M(r) <= 100 and (function(some)\n"
        "  return chosen(map(range(M(r)), function(m) return waves(some, w(m - 1, r)) end), #some, "
        "r)\n"
        "end)(map(range(min(sample, #X)), function(i) return at(X, i - 1, min(sample, #X), r) "
        "end))",
    .doc =
        "Of M candidates N(0, sigma^2 I), T are drawn in proportion to the ridge leverage of "
        "their\n"
        "Fourier features at s rows of the data, and weighted so that the estimate of the "
        "Gaussian\n"
        "kernel has no bias (Avron et al. 2017; Li, Ton, Oglic and Sejdinovic 2019). With\n"
        "nonlinearity.fourier. It learns from rows: anew in each fold, and saved with the model.\n"
        "It costs s^2 (s + M) operations, and memory for s rows of 2048 features; it pays where T "
        "is small.",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_rows, .layout = layout),
    SCL_INSTANCE(leverage, options),
    .create = gaussian_rows_create,
    SCL_ABILITIES(GAUSSIAN_ROWS_CHARACTERISTIC,
                  SCL_OFFER(SCL_ABILITY_LEARN, scl_ability_learn, .learn = learn),
                  SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = scales))};
