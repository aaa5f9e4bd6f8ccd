/* Random features as a row stage: a row x becomes phi(W x + b)/sqrt(T), so that the features that
 * follow are features of features. The kernel of the result is that of the following features, at
 * points whose inner products are about the kernel of this stage: layers of a random network, whose
 * kernels compose (Cho and Saul 2009, Kernel methods for deep learning). */
#include "shared/projection.h"
#include "shared/solver_options.h"

typedef struct random_features {
  scl_base base;
  scl_part p, phi;
  size_t T;
  int64_t seed;
} random_features;

static const scl_option options[] = {
    {.name = "p",
     .help = "the sampler: one of dense parameters that does not learn",
     .words = "sampler",
     .fallback = "gaussian",
     .forms = SCL_FORM_PARTS,
     SCL_AT(random_features, p)},
    {.name = "phi",
     .help = "the nonlinearity: one number of a parameter in, one or several features out",
     .words = "nonlinearity",
     .fallback = "relu",
     .forms = SCL_FORM_PARTS,
     SCL_AT(random_features, phi)},
    SCL_INTEGER(random_features, T, "1000", "parameters", SCL_WITHIN(1, 1000000)),
    SOLVER_SEED(random_features, "seed for the parameters")};

enum { STREAM_PHASE = 1 };

/* Whether a nonlinearity takes parameters without a tag. */
static bool takes_plain(const scl_shape *shape) {
  return shape->tags == NULL || strncmp(shape->tags, "none", 4) == 0;
}

/* *layout and *shape of the parts; refuses those that are not of this stage. */
static scl_status ask_parts(const random_features *self, size_t dim, scl_layout *layout,
                            scl_shape *shape, scl_error *error) {
  const scl_host *host = self->base.host;
  scl_status status = host->parts->layout(&self->p, dim, layout, error);
  if (status == SCL_STATUS_OK) status = host->parts->shape(&self->phi, shape, error);
  if (status != SCL_STATUS_OK) return status;
  if (layout->space != SCL_SPACE_DENSE || layout->tag != NULL ||
      host->parts->ability(&self->p, SCL_ABILITY_LEARN) != NULL ||
      host->parts->ability(&self->p, SCL_ABILITY_SCALES) != NULL ||
      host->parts->ability(&self->p, SCL_ABILITY_POOL) != NULL)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "option 'p': sampler.%s does not draw plain dense parameters, as "
                      "sampler.gaussian does",
                      self->p.plugin->name);
  if (shape->fan_in != 1 || (shape->flags & SCL_SHAPE_ONE_HOT) != 0 || !takes_plain(shape))
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "option 'phi': nonlinearity.%s does not take one number of each parameter, "
                      "as nonlinearity.relu does",
                      self->phi.plugin->name);
  return SCL_STATUS_OK;
}

/* Puts weights (T x d) and biases (T x 1; 0 where there are none). */
static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const random_features *self = instance;
  const scl_host *host = fitting->host;
  const size_t d = fitting->rows->dim, T = self->T;
  scl_layout layout = {SCL_HEAD(scl_layout), .count = T};
  scl_shape shape = {SCL_HEAD(scl_shape), .fan_in = 1};
  scl_status status = ask_parts(self, d, &layout, &shape, error);
  if (status != SCL_STATUS_OK) return status;
  double *weights = host->scratch((T * d + T) * sizeof *weights), *bias = weights + T * d;
  if (weights == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu parameters of %zu", T,
                      d);
  const uint64_t seed = (uint64_t)self->seed;
  const scl_draw draw = {SCL_HEAD(scl_draw), .address = {seed, fitting->stream}, .dim = d,
                         .total = T, .planes = 1};
  const scl_parameters out = {SCL_HEAD(scl_parameters),
                              .space = SCL_SPACE_DENSE,
                              .count = T,
                              .dim = d,
                              .reals = d,
                              .weights = weights,
                              .stride = (ptrdiff_t)d,
                              .bias = layout.has_bias ? bias : NULL};
  memset(bias, 0, T * sizeof *bias);
  status = host->parts->draw(&self->p, &draw, &out, error);
  if (!layout.has_bias && (shape.flags & SCL_SHAPE_PHASE) != 0) {
    host->random->uniform(seed, fitting->stream + STREAM_PHASE, 0, 0, T, bias);
    for (size_t t = 0; t < T; t++)
      bias[t] = SCL_PI * (2 * bias[t] - 1);
  }
  const scl_array w = scl_matrix_array(weights, T, d), b = scl_matrix_array(bias, T, 1);
  if (status == SCL_STATUS_OK) status = fitting->put(fitting, "weights", &w, error);
  return status == SCL_STATUS_OK ? fitting->put(fitting, "bias", &b, error) : status;
}

/* T rows of weights for the columns that arrive, T biases; T times the outputs of phi leave. */
static scl_status shape_of(const void *instance, scl_stage_state *fitted, scl_error *error) {
  const random_features *self = instance;
  const scl_array *w = &fitted->arrays[0], *b = &fitted->arrays[1];
  scl_shape shape = {SCL_HEAD(scl_shape), .fan_in = 1};
  const scl_status status = self->base.host->parts->shape(&self->phi, &shape, error);
  if (status != SCL_STATUS_OK) return status;
  if (w->dtype != SCL_DTYPE_FLOAT64 || b->dtype != SCL_DTYPE_FLOAT64 || w->rank != 2 ||
      b->rank != 2 || w->sizes[1] != fitted->cols || b->sizes[0] != w->sizes[0] ||
      b->sizes[1] != 1 || w->sizes[0] == 0)
    return self->base.host->fail(error, SCL_STATUS_BAD_DATA,
                                 "its arrays are not parameters for %zu columns", fitted->cols);
  fitted->width = w->sizes[0] * shape.fan_out;
  return SCL_STATUS_OK;
}

/* One product of matrices, phi on all of it, and the factor 1/sqrt(T). Outputs of phi beyond the
 * first follow the first T columns, as they do in sc.features{}. */
static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const random_features *self = instance;
  const scl_host *host = self->base.host;
  const size_t T = fitted->arrays[0].sizes[0];
  const double *bias = scl_stage_numbers(fitted, 1), common = 1 / sqrt((double)T);
  double *z = host->scratch(in->rows * T * sizeof *z);
  if (z == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", in->rows);
  for (size_t i = 0; i < in->rows; i++)
    memcpy(z + i * T, bias, T * sizeof *z);
  host->dense->gemm(0, 1, in->rows, T, fitted->cols, 1, in->data, in->row_stride,
                    scl_stage_numbers(fitted, 0), (ptrdiff_t)fitted->cols, 1, z, (ptrdiff_t)T);
  scl_const_block from = *in;
  scl_block to = *out;
  from.data = z;
  from.cols = to.cols = T;
  from.row_stride = (ptrdiff_t)T;
  from.plane_stride = to.plane_stride = (ptrdiff_t)T;
  to.planes = fitted->width / T;
  const scl_status status = host->parts->apply(&self->phi, &from, &to, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < in->rows; i++)
    for (size_t k = 0; k < fitted->width; k++)
      scl_stage_out(out, i)[k] *= common;
  return status;
}

const scl_plugin scullery_plugin = {
    .name = "random_features",
    .summary = "random features of the rows, before the features: features of features",
    .definition =
        /* A phase where phi wants one, and outputs of phi: those beyond the first follow all first ones. */
    "bias(t, r) = phi.phase and phi.phase() and pi*(2*r.uniform(1, 0, t) - 1) or 0\n"
    "outputs(t, x, r) = phi.phi(dot(p.draw(t, r), x) + bias(t, r))\n"
    "listed(made) = type(made) == \"table\" and made or { made }\n"
    "features(list) = map(range(#list[1]), function(k)\n"
    "  return map(list, function(f) return f[k]/sqrt(T) end) end)\n"
    "row(X, Y, r) = p.draw and phi.phi and T < 1200 and function(x)\n"
    "  return join(unpack(features(map(range(T), function(t)\n"
    "    return listed(outputs(t - 1, x, r)) end)))) end",
    .doc =
        "x becomes phi(W x + b)/sqrt(T). p is any sampler of dense parameters that does not\n"
        "learn, phi any nonlinearity of one number. sc.pipeline{ sc.features{...},\n"
        "sc.features{...}, solver } makes this stage of all features but the last. With\n"
        "nonlinearity.arccos() in each layer the kernel is about kernel.network{ depth = layers }\n"
        "(Cho and Saul 2009, Kernel methods for deep learning). Widths are numbers here: after\n"
        "the first layer of cosines, squared distances of rows are at most 4. Two such stages of\n"
        "one seed have the same weights: give each its own (sc.pipeline does, without seeds).",
    SCL_STAGE(.arrays = "weights|bias", .fit = fit, .shape = shape_of, .apply = apply),
    SCL_INSTANCE(random_features, options)};
