/* The Laplacian kernel; on sparse rows and thresholds times 1[same support], the distance taken
 * over the support:
 *
 *   K(x, y) = exp(-gamma ||x - y||_1)
 *
 * It is the kernel of random bins with pitches Gamma(2, gamma), and of Fourier features with Cauchy
 * weights of scale gamma (Rahimi and Recht 2007, Random features for large-scale kernel
 * machines). */
#include <scullery/plugin.h>

typedef struct laplacian {
  scl_base base;
  double gamma;
} laplacian;

static const scl_option options[] = {SCL_NUMBER(laplacian, gamma, "1",
                                                "the rate in exp(-gamma ||x-y||_1)", SCL_POSITIVE,
                                                .width = SCL_WIDTH_RATE)};

static void laplacian_finish(const void *instance, const scl_pair_row *row, double *numbers) {
  const laplacian *self = instance;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] *= -self->gamma;
  self->base.host->math->exp(row->count, numbers, numbers);
}

const scl_plugin scullery_plugin = {
    .name = "laplacian",
    .summary = "exp(-gamma ||x-y||_1); on sparse rows and thresholds times 1[same support]",
    .definition = "K(u, v) = exp(-gamma*distance(u, v))",
    .doc = "K(x, y) = exp(-gamma ||x - y||_1), positive definite. On sparse rows and thresholds\n"
           "times 1[same support], the distance taken over the support.\n"
           "It is the kernel of sc.nonlinearity.bins on sc.sampler.grid{ gamma = } and of Fourier\n"
           "features on sc.sampler.cauchy{ gamma = } (Rahimi and Recht 2007, Random features for\n"
           "large-scale kernel machines).",
    SCL_KERNEL(.spaces = SCL_SPACES_KERNEL, .finish = laplacian_finish,
               .pair = SCL_PAIR_ABSOLUTE_DISTANCE),
    SCL_INSTANCE(laplacian, options)};
