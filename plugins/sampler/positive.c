/* Positive random features (Choromanski et al. 2021, Rethinking attention with Performers): with
 * w ~ N(0, I) and x' = x/g,
 *
 *   gaussian   z = <w, x'> - |x'|^2      E exp(z(x)) exp(z(y)) = exp(-|x - y|^2 / (2 g^2))
 *   softmax    z = <w, x'> - |x'|^2/2    E exp(z(x)) exp(z(y)) = exp(<x, y> / g^2)
 *
 * because E exp(<w, a>) = exp(|a|^2/2). Each feature is above 0, and the error of the estimate falls
 * with the kernel: relative to it, it stays where the error of cosines is that of 1. Rows w come
 * from another sampler; orthogonal ones have the smaller variance. */
#include <scullery/plugin.h>
#include <stdio.h>

enum { KERNEL_GAUSSIAN, KERNEL_SOFTMAX };

typedef struct positive {
  scl_base base;
  scl_part rows; /* the sampler of w */
  int32_t kernel;
  double width;
} positive;

static const scl_option options[] = {
    SCL_WORD(positive, kernel, "gaussian|softmax", "gaussian",
             "gaussian: exp(-||x-y||^2/(2 g^2)); softmax: exp(<x,y>/g^2)"),
    SCL_NUMBER(positive, width, "1", "the length g", SCL_POSITIVE, .width = SCL_WIDTH_LENGTH),
    {.name = "base",
     .help = "the sampler of the rows w, which are N(0, I), as sc.sampler.gaussian{}",
     .words = "sampler",
     .fallback = "orthogonal",
     .forms = SCL_FORM_PARTS,
     SCL_AT(positive, rows)}};

/* Refuses rows that are not N(0, I) each. */
static scl_status check_rows(const positive *self, size_t dim, scl_error *error) {
  const scl_host *host = self->base.host;
  double *numbers = host->scratch(4 * (dim + 1) * sizeof *numbers);
  if (numbers == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", dim);
  memset(numbers, 0, 4 * (dim + 1) * sizeof *numbers);
  const scl_draw one = {SCL_HEAD(scl_draw), .dim = dim, .total = 1, .planes = 1};
  scl_law law = {SCL_HEAD(scl_law),
                 .dim = dim,
                 .mean = numbers,
                 .scale = numbers + dim + 1,
                 .degree = numbers + 2 * (dim + 1),
                 .degree_scale = numbers + 3 * (dim + 1)};
  const scl_status status = host->parts->law(&self->rows, &one, &law, error);
  bool normal = status == SCL_STATUS_OK && law.family == SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; normal && j < dim; j++)
    normal = numbers[j] == 0 && numbers[dim + 1 + j] == 1;
  if (normal) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_UNSUPPORTED,
                    "option 'base': it takes rows of N(0, I), as sampler.gaussian{} without sigma "
                    "draws them; the option 'width' is the width of the kernel");
}

/* The rows w are stored as the base draws them, in its blocks. Parameters of other forms, and rows
 * that carry weights, would not give the kernel. */
static scl_status positive_layout(const void *instance, size_t dim, scl_layout *out,
                                  scl_error *error) {
  const positive *self = instance;
  const scl_host *host = self->base.host;
  scl_layout base = {SCL_HEAD(scl_layout), .count = out->count};
  scl_status status = host->parts->layout(&self->rows, dim, &base, error);
  if (status != SCL_STATUS_OK) return status;
  if (base.space != SCL_SPACE_DENSE || base.has_bias || base.tag != NULL ||
      host->parts->ability(&self->rows, SCL_ABILITY_LEARN) != NULL ||
      host->parts->ability(&self->rows, SCL_ABILITY_SCALES) != NULL)
    return host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "option 'base': sampler.%s with these options does not draw plain dense rows; "
        "sampler.gaussian{} does",
        self->rows.plugin->name);
  status = check_rows(self, dim, error);
  out->reals = dim;
  out->block = base.block;
  out->flags = base.flags;
  out->tag = "positive";
  return status;
}

/* w by the base, whose own space is dense. */
static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  const positive *self = instance;
  scl_parameters rows = *out;
  rows.space = SCL_SPACE_DENSE;
  return self->base.host->parts->draw(&self->rows, draw, &rows, error);
}

/* z of a block of rows: one product of matrices, and the squared length of each row. */
static scl_status positive_apply(const void *instance, const scl_draw *draw,
                                 const scl_const_parameters *parameters, const scl_const_block *x,
                                 const scl_block *z, scl_error *error) {
  const positive *self = instance;
  const double scale = 1 / self->width,
               share = (self->kernel == KERNEL_GAUSSIAN ? 1 : 0.5) * scale * scale;
  (void)draw, (void)error;
  self->base.host->dense->gemm(0, 1, x->rows, parameters->count, x->cols, scale, x->data,
                               x->row_stride, parameters->weights, parameters->stride, 0, z->data,
                               z->row_stride);
  for (size_t i = 0; i < x->rows; i++) {
    const double *row = (const double *)x->data + (ptrdiff_t)i * x->row_stride;
    double *to = (double *)z->data + (ptrdiff_t)i * z->row_stride, square = 0;
    for (size_t j = 0; j < x->cols; j++)
      square += row[j] * row[j];
    for (size_t t = 0; t < parameters->count; t++)
      to[t] -= share * square;
  }
  return SCL_STATUS_OK;
}

/* The kernel that has a name, with the exponential. */
static scl_status positive_pair_kernel(const void *instance, const scl_part *partner, char *text,
                                       size_t size, scl_error *error) {
  const positive *self = instance;
  (void)error;
  if (strcmp(partner->plugin->name, "exp") == 0)
    (void)snprintf(text, size, "%s{width = %.17g}",
                   self->kernel == KERNEL_GAUSSIAN ? "gaussian" : "exponential", self->width);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "positive",
    .summary = "positive features of the Gaussian and the softmax kernel",
    .definition =
        "draw(t, r) = base.draw and base.draw(t, r)\n"
        /* The share of the squared length. */
        "half() = when(kernel == \"gaussian\", 1, 1/2)\n"
        "z(x, W) = map(W, function(w) return dot(w, x)/width - half()*dot(x, x)/width^2 end)",
    .doc =
        "z = <w, x/g> - |x/g|^2 (kernel \"gaussian\"), or - |x/g|^2/2 (\"softmax\"), w ~ N(0, I) "
        "by\n"
        "the option base. With nonlinearity.exp the features are above 0 and estimate, without\n"
        "bias, exp(-||x-y||^2/(2 g^2)), or exp(<x,y>/g^2) (Choromanski et al. 2021, Rethinking\n"
        "attention with Performers). Where the kernel is small, so is their error; where rows are\n"
        "near each other, cosines (nonlinearity.fourier) have the smaller one. Standardise or\n"
        "normalise the rows: the error grows with exp(|x/g|^2).",
    SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = draw_rows, .layout = positive_layout),
    SCL_INSTANCE(positive, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = positive_apply),
        SCL_OFFER(SCL_ABILITY_PAIR_KERNEL, scl_ability_pair_kernel,
                  .kernel = positive_pair_kernel))};
