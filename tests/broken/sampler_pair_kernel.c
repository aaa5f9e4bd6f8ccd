/* Names the kernel exp(-||x - y||_1) for Fourier features, whose rows are Gaussian. */
// caught by: kernel fail
// says: fourier
#include "sampler.h"

static scl_status kernel(const void *self, const scl_part *partner, char *text, size_t size,
                         scl_error *error) {
  (void)self, (void)error;
  if (strcmp(partner->plugin->name, "fourier") == 0 && size > 9) memcpy(text, "laplacian", 10);
  return SCL_STATUS_OK;
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_PAIR_KERNEL, scl_ability_pair_kernel, .kernel = kernel), {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_right);
