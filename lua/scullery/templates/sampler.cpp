/* Rows of products of two normal numbers:
 *
 *   w_j = s e_j,   e_j = n_1 n_2,   n_1 and n_2 independent N(0, 1)
 *
 * e has the density K_0(|e|)/pi, variance 1 and fourth moment 9 (Craig 1936, On the frequency
 * function of xy). Given n_2 it is normal, so that
 *
 *   E cos(z e) = E exp(-z^2 n_2^2/2) = 1/sqrt(1 + z^2)
 *
 * and Fourier features estimate the kernel, with delta = x - y,
 *
 *   k(x, y) = prod_j 1/sqrt(1 + s^2 delta_j^2) */
#include <scullery/plugin.hpp>

namespace {

struct product {
  scl_base base; // what the host offers, and the options as they came
  double sigma;  // s; the host writes it before anything is called
};

// sigma is a width: "scale" and "median" are taken from the rows of data. SCL_OPTION_BIAS: the host
// draws b of z = <w, x> + b.
const scl_option options[] = {SCL_NUMBER(product, sigma, "1",
                                         "s, the standard deviation of each weight", SCL_POSITIVE,
                                         .width = SCL_WIDTH_FREQUENCY),
                              SCL_OPTION_BIAS};

// e[j] from two normal numbers each, which the host draws by their place: the same parameters in
// any batch and on any number of threads. Products alone: the same bits on every machine. Called by
// many threads at once, as all that follows. No exception may leave a slot.
void make(const void *, size_t count, const double *normal, double *e) {
  for (size_t j = 0; j < count; j++)
    e[j] = normal[2 * j] * normal[2 * j + 1];
}

// w_j = mean + scale e_j; they come as 0 and 1.
void moments(const void *instance, double *, double *scale) {
  *scale = scullery::of<product>(instance).sigma;
}

// E cos(z e): the host makes the kernel of Fourier features of it.
double factor(const void *, double z) { return 1 / std::sqrt(1 + z * z); }

} // namespace

const scl_plugin scullery_plugin = scullery::plugin(
    SCL_KIND_SAMPLER,
    scl_sampler{.space = SCL_SPACE_DENSE,
                .make = make,
                .moments = moments,
                .factor = factor,
                .normals = 2,
                .family = SCL_FAMILY_OTHER},
    {.name = "my_plugin",
     .summary = "Rows of products of two normal numbers, of standard deviation sigma",
     .doc = "Draws w_t with independent w_j = sigma n_1 n_2, n_1 and n_2 from N(0, 1);\n"
            "z = <w, x> + b. The density is K_0(|w|/sigma)/(pi sigma) (Craig 1936).\n"
            "With nonlinearity.fourier the features estimate\n"
            "prod_j 1/sqrt(1 + sigma^2 d_j^2), d = x - y.",
     SCL_INSTANCE(product, options),
     .version = "0.1",
     // What `scullery plugin check` compares with: r.normal(0, t, k) is normal[k] of row t.
     .definition =
         "draw(t, r) = map(range(r.dim), function(j)\n"
         "  return sigma*r.normal(0, t, 2*j - 2)*r.normal(0, t, 2*j - 1) end)\n"
         "characteristic(x) = product(x, function(z) return 1/sqrt(1 + (sigma*z)^2) end)"});
