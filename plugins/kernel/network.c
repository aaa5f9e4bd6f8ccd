/* Kernels of infinitely wide networks of rectifiers with L hidden layers, independent weights of
 * variance w over the width and biases of variance b. With S_0 = <x, y> and, for l = 1 .. L,
 * theta the angle between x and y under S_(l-1):
 *
 *   S_l = (w/2) sqrt(S_(l-1)(x, x) S_(l-1)(y, y)) (sin theta + (pi - theta) cos theta)/pi + b
 *   N_0 = S_0,   N_l = S_l + N_(l-1) (w/2) (pi - theta)/pi
 *
 * S_L is the covariance of the network's outputs at its beginning (nngp: Cho and Saul 2009, Kernel
 * methods for deep learning; Lee et al. 2018, Deep neural networks as Gaussian processes), N_L the
 * kernel that training all layers by gradient descent amounts to (ntk: Jacot, Gabriel and Hongler
 * 2018, Neural tangent kernel). w = 2, b = 0 and L = 1: nngp is the arc-cosine kernel of order 1. */
#include "shared/arccos.h"
#include "shared/scaled_kernel.h"

enum { FORM_NNGP, FORM_NTK };

typedef struct network {
  scl_base base;
  int32_t form;
  size_t depth;
  double weight, bias;
} network;

static const scl_option options[] = {
    SCL_WORD(network, form, "nngp|ntk", "nngp",
             "nngp: outputs of random networks; ntk: networks trained by gradient descent"),
    SCL_INTEGER(network, depth, "2", "hidden layers L", SCL_WITHIN(1, 100)),
    SCL_NUMBER(network, weight, "2", "w, the variance of the weights times the width",
               SCL_POSITIVE),
    SCL_NUMBER(network, bias, "0", "b, the variance of the biases", SCL_NOT_NEGATIVE)};

/* Rows are taken as they are: w scales them from the first layer on. */
static double scale(const void *self) {
  (void)self;
  return 1;
}

/* The root of S(x, x) after a layer, from that before: squares of lengths may overflow. */
static double longer(const network *self, double length) {
  return hypot(sqrt(self->weight / 2) * length, sqrt(self->bias));
}

/* K of two rows from the cosine of their angle and their lengths. */
static double network_value(const network *self, double cosine, double u, double v) {
  const double half = self->weight / 2;
  double r = cosine, uv = cosine * u * v, tangent = uv;
  for (size_t layer = 0; layer < self->depth; layer++) {
    const double size = u * v, step = size > 0 ? half * arccos_kernel(0, r) : 0,
                 share = size > 0 ? half * arccos_kernel(1, r) : 0;
    uv = size * share + self->bias;
    tangent = uv + tangent * step;
    u = longer(self, u);
    v = longer(self, v);
    r = self->bias == 0 ? share / half : u > 0 && v > 0 ? uv / u / v : 0;
  }
  return self->form == FORM_NTK ? tangent : uv;
}

/* Cosines become values of K. */
static void finish(const void *self, const scl_pair_row *row, double *cosines) {
  for (size_t j = 0; j < row->count; j++)
    cosines[j] = network_value(self, cosines[j], row->length_u, row->lengths_v[j]);
}

const scl_plugin scullery_plugin = {
    .name = "network",
    .summary = "kernels of infinitely wide networks of rectifiers: NNGP and NTK, deep arc-cosine",
    .definition = "t(s, p, q) = acos(max(-1, min(1, s/sqrt(p*q))))\n"
                  "S(p, q, t) = weight/2*sqrt(p*q)*(sin(t) + (pi - t)*cos(t))/pi + bias\n"
                  "layers(s, n, p, q, l) = l == 0 and (form == \"ntk\" and n or s) or after(n, p, "
                  "q, l, t(s, p, q))\n"
                  "after(n, p, q, l, t) = layers(S(p, q, t), S(p, q, t) + n*weight/2*(1 - t/pi),\n"
                  "  weight/2*p + bias, weight/2*q + bias, l - 1)\n"
                  "K(u, v) = layers(dot(u, v), dot(u, v), dot(u, u), dot(v, v), depth)",
    .doc =
        "With S_0 = <x, y> and theta the angle under the layer before, a layer makes\n"
        "  S = (w/2) ||x|| ||y|| (sin theta + (pi - theta) cos theta)/pi + b,\n"
        "w = weight, b = bias. form \"nngp\": S after `depth` layers, the covariance of outputs "
        "of\n"
        "random networks, which features of features estimate: sc.nonlinearity.arccos(), or relu,\n"
        "of several sc.features{} in a row (Cho and Saul 2009; Lee et al. 2018). \"ntk\": the\n"
        "neural tangent kernel (Jacot, Gabriel and Hongler 2018). As phi of sc.features{}, with\n"
        "sampler.landmarks, it gives features of either. On dense rows, positive semidefinite.",
    SCALED_KERNEL(SCL_BIT(SCL_SPACE_DENSE), SCL_PAIR_COSINE),
    SCL_INSTANCE(network, options)};
