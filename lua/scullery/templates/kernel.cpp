/* The rational quadratic kernel of width g and shape alpha; on sparse rows and thresholds times
 * 1[same support], the distance taken over the support:
 *
 *   K(x, y) = (1 + ||x - y||^2/(2 alpha g^2))^(-alpha)
 *
 * It is a mixture of Gaussian kernels exp(-||x - y||^2 t/(2 g^2)) over t from a Gamma law of mean 1
 * and shape alpha, therefore positive definite, and tends to that of width g as alpha grows
 * (Rasmussen and Williams 2006, Gaussian processes for machine learning, equation 4.19). */
#include <scullery/plugin.hpp>

namespace {

struct quadratic {
  scl_base base;       // what the host offers, and the options as they came
  double alpha, width; // the host writes them before anything is called
};

// width is a length: "scale" and "median" are taken from the rows of data.
const scl_option options[] = {
    SCL_NUMBER(quadratic, alpha, "1", "the shape; infinity would be the Gaussian kernel",
               SCL_POSITIVE),
    SCL_NUMBER(quadratic, width, "1", "the length g by which distances are divided", SCL_POSITIVE,
               .width = SCL_WIDTH_LENGTH)};

// What an option's range cannot say is refused here, with a sentence. No exception may leave a
// slot.
scl_status create(void *instance, scl_error *error) {
  const quadratic &self = scullery::of<quadratic>(instance);
  if (std::isfinite(1 / self.width)) return SCL_STATUS_OK;
  return self.base.host->fail(error, SCL_STATUS_BAD_OPTION, "'width' = %g is too small",
                              self.width);
}

// Coordinates are multiplied by it before they meet.
double scale(const void *instance) { return 1 / scullery::of<quadratic>(instance).width; }

// From the squared distances of u_i and `count` of the v_j to K, in place. log1p: 1 + r/(2 alpha)
// would lose r where alpha is large.
void finish(const void *instance, const scl_pair_row *row, double *numbers) {
  const double alpha = scullery::of<quadratic>(instance).alpha;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = std::exp(-alpha * std::log1p(numbers[j] / (2 * alpha)));
}

} // namespace

const scl_plugin scullery_plugin = scullery::plugin(
    SCL_KIND_KERNEL,
    scl_kernel{.spaces = SCL_SPACES_KERNEL,
               .finish = finish,
               .scale = scale,
               .pair = SCL_PAIR_SQUARED_DISTANCE},
    {.name = "my_plugin",
     .summary = "the rational quadratic kernel of width g and shape alpha",
     .doc = "K(x, y) = (1 + ||x - y||^2/(2 alpha width^2))^(-alpha), positive definite; on sparse\n"
            "rows and thresholds times 1[same support], the distance taken over the support.\n"
            "A mixture of Gaussian kernels of many widths. As alpha grows it tends to\n"
            "exp(-||x - y||^2/(2 width^2)) (Rasmussen and Williams 2006, equation 4.19).",
     SCL_INSTANCE(quadratic, options),
     .create = create,
     .version = "0.1",
     .definition = "K(u, v) = (1 + squared_distance(u, v)/(2*alpha*width^2))^-alpha"});
