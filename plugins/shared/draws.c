/* Chi distributed lengths and shuffles, for the samplers of Gaussian, orthogonal, sparse and
 * patched rows. */
#include "shared/draws.h"

double draw_chi(const scl_random *random, scl_address address, uint64_t index, size_t freedom) {
  double x, u;
  if (freedom == 1) {
    random->normal(address.seed, address.stream, index, 0, 1, &x);
    return fabs(x);
  }
  const double d = (double)freedom / 2 - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (uint64_t offset = 0;; offset += 2) {
    random->normal(address.seed, address.stream, index, offset, 1, &x);
    random->uniform(address.seed, address.stream, index, offset + 1, 1, &u);
    const double root = 1 + c * x, v = root * root * root;
    if (v <= 0) continue;
    if (u < 1 - 0.0331 * (x * x) * (x * x) || log(u) < x * x / 2 + d * (1 - v + log(v)))
      return sqrt(2 * d * v);
  }
}

void draw_shuffle(const scl_random *random, scl_address address, uint64_t index, uint64_t offset,
                  size_t few, size_t limit, size_t count, uint32_t *entries) {
  uint64_t bits[64];
  for (size_t i = 0; i + 1 < count; i++) {
    if (i % 64 == 0)
      random->bits(address.seed, address.stream, index, offset + i, count - i < 64 ? count - i : 64,
                   bits);
    const size_t other =
        i + (size_t)draw_below(bits[i % 64], (uint32_t)((i < few ? limit : count) - i));
    const uint32_t kept = entries[i];
    entries[i] = entries[other];
    entries[other] = kept;
  }
}
