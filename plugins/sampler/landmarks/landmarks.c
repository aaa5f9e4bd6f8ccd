/* Landmarks: parameters w_1 .. w_T that are rows of the data. With a kernel as phi the features are
 * kernel sections k(w_t, x), and a linear model of them is the Nystrom method (Williams and Seeger
 * 2001, Using the Nystrom method to speed up kernel machines): k is seen through
 *
 *   k(x, W) k(W, W)^-1 k(W, y)
 *
 * which is exact where x or y is a landmark. Which rows are taken does not change the form, so that
 * no method weights its landmarks. All methods draw without replacement; the rows are those that
 * reach the map, and each counts once.
 *
 *   uniform    all rows alike
 *   kmeans     the seeding of k-means++, no step of Lloyd after it: landmarks are rows
 *   leverage   by approximate ridge leverage scores (leverage.c)
 *   pivoted    the pivots of randomly pivoted Cholesky (adaptive.c)
 *
 * Memory beyond T x d numbers, with s = `sample`: uniform nothing; kmeans s (d + 64);
 * leverage s (s + d + 512); pivoted s (d + T). */
#include "landmarks.h"

enum { METHOD_UNIFORM = 0, METHOD_KMEANS, METHOD_LEVERAGE, METHOD_PIVOTED };

static const char *const METHOD_NAMES[] = {"uniform", "kmeans", "leverage", "pivoted"};

/* The default of `sample`. */
enum { CANDIDATES_EACH = 10, MOST_CANDIDATES = 20000, LEAST_PILOT = 200, MOST_PILOT = 2000 };

typedef struct landmarks {
  scl_base base;
  int32_t method;
  size_t sample;
  double lambda;
} landmarks;

static const scl_option options[] = {
    SCL_WORD(landmarks, method, "uniform|kmeans|leverage|pivoted", "uniform",
             "uniform rows; k-means++ seeding; by ridge leverage scores; pivots of Cholesky"),
    SCL_INTEGER(landmarks, sample, NULL,
                "s uniform rows: candidates of kmeans and pivoted (default 10 T, at most 20000 or "
                "2 T); what leverage scores are computed with (default T, 200 to 2000)",
                SCL_WITHIN(1, 1e9)),
    SCL_NUMBER(
        landmarks, lambda, NULL,
        "of leverage scores (K (K + n lambda I)^-1)_ii; default: they add up to a quarter of "
        "the smaller of T and s",
        SCL_POSITIVE)};

static scl_status landmarks_layout(const void *self, size_t dim, scl_layout *out,
                                   scl_error *error) {
  (void)self, (void)dim, (void)error;
  out->tag = "landmarks";
  out->flags |= SCL_LAYOUT_DEPENDENT;
  return SCL_STATUS_OK;
}

/* value, limited to least .. most. */
static size_t between(size_t least, size_t value, size_t most) {
  return value < least ? least : value > most ? most : value;
}

/* s, at most n. */
static size_t sample_of(const landmarks *self, size_t count, size_t rows) {
  size_t sample = self->sample;
  if (sample == 0 && self->method == METHOD_LEVERAGE)
    sample = between(LEAST_PILOT, count, MOST_PILOT);
  else if (sample == 0)
    sample = between(2 * count, MOST_CANDIDATES, CANDIDATES_EACH * count);
  return sample < rows ? sample : rows;
}

static scl_status choose(const landmarks *self, const scl_learning *rows, double *out,
                         scl_error *error) {
  const size_t count = rows->draw->total, sample = sample_of(self, count, rows->rows);
  switch (self->method) {
  case METHOD_KMEANS:
    return landmarks_adaptive(rows, &adaptive_seeding, sample, count, out, error);
  case METHOD_LEVERAGE:
    return landmarks_leverage(rows, sample, self->lambda, count, out, error);
  case METHOD_PIVOTED:
    return landmarks_adaptive(rows, &adaptive_pivoting, sample, count, out, error);
  default:
    return landmarks_sample(rows, count, out, error);
  }
}

/* Refuses options that do not fit the method, the kernel or the number of rows. */
static scl_status landmarks_check(const landmarks *self, const scl_learning *rows,
                                  scl_error *error) {
  const scl_host *host = self->base.host;
  const size_t count = rows->draw->total;
  const bool needs_kernel = self->method == METHOD_LEVERAGE || self->method == METHOD_PIVOTED;
  const bool chooses = self->method == METHOD_KMEANS || self->method == METHOD_PIVOTED;
  const char *method = METHOD_NAMES[self->method];
  if (rows->rows == 0)
    return host->fail(error, SCL_STATUS_BAD_DATA, "takes landmarks from rows, and there are none");
  if (count > rows->rows)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "T = %zu landmarks are more than the %zu rows: give T up to %zu", count,
                      rows->rows, rows->rows);
  if (needs_kernel && rows->kernel == NULL)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "method = \"%s\" needs a kernel: phi = sc.kernel.NAME{}", method);
  if (self->sample > 0 && self->method == METHOD_UNIFORM)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'sample' is not used by method = \"uniform\": leave it out");
  if (!isnan(self->lambda) && self->method != METHOD_LEVERAGE)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'lambda' belongs to method = \"leverage\", and method is \"%s\": "
                      "leave it out",
                      method);
  if (chooses && self->sample > 0 && self->sample < count)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "'sample' = %zu rows are fewer than T = %zu landmarks", self->sample, count);
  return SCL_STATUS_OK;
}

/* Chooses the landmarks in passes over the rows; the state is a T x d matrix that the host owns and
 * saves. */
static scl_status landmarks_learn(const void *instance, const scl_learning *rows, scl_state *out,
                                  scl_error *error) {
  const landmarks *self = instance;
  const size_t count = rows->draw->total;
  if (count == 0) return SCL_STATUS_OK; /* the host asks for T */
  const scl_status status = landmarks_check(self, rows, error);
  if (status != SCL_STATUS_OK) return status;
  out->numbers = self->base.host->allocate((count * rows->dim + 1) * sizeof *out->numbers);
  if (out->numbers == NULL) return landmarks_no_memory(self->base.host, count * rows->dim, error);
  out->rows = count;
  out->cols = rows->dim;
  return choose(self, rows, out->numbers, error);
}

/* Copies the landmarks first .. from the state. */
static scl_status draw_landmarks(const void *instance, const scl_draw *draw,
                                 const scl_parameters *out, scl_error *error) {
  const scl_state *state = draw->state;
  if (state == NULL || state->cols != out->dim || out->first + out->count > state->rows)
    return ((const scl_base *)instance)
        ->host->fail(error, SCL_STATUS_BAD_SHAPE, "the landmarks learnt do not have this shape");
  for (size_t t = 0; t < out->count; t++)
    memcpy(out->weights + (ptrdiff_t)t * out->stride, state->numbers + (out->first + t) * out->dim,
           out->dim * sizeof *out->weights);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "landmarks",
    .summary = "rows of the data, for kernels as phi: the Nystrom method",
    .definition =
        /* The rows with the least keys, for weights (1 where there are none). */
    "least_keys(X, n, s, r, weights) = (function(keys, places)\n"
    "  for i = 1, #X do\n"
    "    places[i], keys[i] = i, -log(r.uniform(s, i - 1, 0))/(weights and weights[i] or 1)\n"
    "  end\n"
    "  return map(range(n), function(k)\n"
    "    for i = k + 1, #X do\n"
    "      if keys[places[i]] < keys[places[k]] then places[i], places[k] = places[k], places[i] "
    "end\n"
    "    end\n"
    "    return X[places[k]] end) end)({}, {})\n"
    /* Leverage scores of all rows by those of a pilot sample. */
    "pilot(n, r) = min(n, sample or max(200, min(r.total, 2000)))\n"
    "scores(X, S, r) = (function(A)\n"
    "  return map(X, function(x)\n"
    "    local k = map(S, function(v) return r.K(x, v) end)\n"
    "    return min(1, (r.K(x, x) - dot(k, solve(A, k)))/(lambda*#X)) end)\n"
    "end)(map(S, function(u, i) return map(S, function(v, j)\n"
    "  return r.K(u, v) + (i == j and #S*lambda or 0) end) end))\n"
    /* The score of a candidate, given those chosen. */
    "apart(x, C, r) = method == \"kmeans\" and least(C, function(c) return squared_distance(x, c) "
    "end) or\n"
    "  #C == 0 and r.K(x, x) or (function(k) return r.K(x, x) - dot(k, solve(map(C, function(c)\n"
    "  return map(C, function(d) return r.K(c, d) end) end), k)) end)(map(C, function(c)\n"
    "  return r.K(x, c) end))\n"
    "score(x, C, r) = (function(y) return y > 1e-11 and y or 0 end)(apart(x, C, r))\n"
    /* The candidate at a point of the sums. */
    "proposed(scores, target, i) = (target < scores[i] or i == #scores) and i or\n"
    "  proposed(scores, target - scores[i], i + 1)\n"
    /* Rounds of proposals by the scores at their beginning. */
    "adaptive(X, r) = (function(C, taken, round)\n"
    "  while #C < r.total do\n"
    "    local even = method == \"kmeans\" and round == 0\n"
    "    local then_ = map(X, function(x) return even and 1 or score(x, C, r) end)\n"
    "    if sum(then_) == 0 then\n"
    "      even, then_ = true, map(X, function(_, i) return taken[i] and 0 or 1 end)\n"
    "    end\n"
    "    local picks = map(range(even and round == 0 and 1 or 64), function(i)\n"
    "      return proposed(then_, r.uniform(3, round, 2*i - 2)*sum(then_), 1) end)\n"
    "    for i = 1, #picks do\n"
    "      local p, u = picks[i], r.uniform(3, round, 2*i - 1)\n"
    "      if #C < r.total and not taken[p] and (even or u*then_[p] < score(X[p], C, r)) then\n"
    "        C[#C + 1], taken[p] = X[p], true\n"
    "      end\n"
    "    end\n"
    "    round = round + 1\n"
    "  end\n"
    "  return C end)({}, {}, 0)\n"
    "state(X, r) = method == \"uniform\" and least_keys(X, r.total, 0, r) or method == "
    "\"leverage\" and\n"
    "  (lambda and #X < 25 and least_keys(X, r.total, 2, r,\n"
    "  scores(X, least_keys(X, pilot(#X, r), 0, r), r))) or method ~= \"leverage\" and r.total < "
    "12 and\n"
    "  adaptive(least_keys(X, min(#X, sample or min(20000, 10*r.total)), 0, r), r)",
    .doc =
        "w_1 .. w_T are rows that reach the map, chosen anew in each fold and saved with the\n"
        "model; T is at most their number. Features are k(w_t, x): with phi = sc.kernel.NAME{}\n"
        "and penalty = \"rkhs\" that is Nystrom (Williams and Seeger 2001).\n"
        "  uniform   without replacement; T = n takes every row once\n"
        "  kmeans    k-means++ seeding (Arthur and Vassilvitskii 2007), no Lloyd steps\n"
        "  leverage  without replacement, by ridge leverage scores as s uniform rows S see them\n"
        "            (k_ii - k_iS (K_SS + s lambda I)^-1 k_Si)/(lambda n)\n"
        "            (Rudi, Calandriello, Carratino and Rosasco 2018); a second pass over the "
        "rows\n"
        "  pivoted   randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023)\n"
        "Rows are streamed. Memory: T x d numbers and, with s = `sample`, s (d + 64)\n"
        "for kmeans, s (d + s + 512) for leverage and s (d + T) for pivoted.",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_landmarks, .layout = landmarks_layout),
    SCL_INSTANCE(landmarks, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LEARN, scl_ability_learn, .learn = landmarks_learn))};
