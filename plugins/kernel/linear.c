/* The linear kernel; on sparse rows and thresholds times 1[same support]:
 *
 *   K(x, y) = <x, y> + c */
#include <scullery/plugin.h>

typedef struct linear {
  scl_base base;
  double offset;
} linear;

static const scl_option options[] = {
    SCL_NUMBER(linear, offset, "0", "c in <x,y> + c, 0 or more", SCL_NOT_NEGATIVE)};

static void linear_finish(const void *instance, const scl_pair_row *row, double *numbers) {
  const linear *self = instance;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] += self->offset;
}

/* A shift of the rows changes K by functions of one row only: it keeps the centred kernel. */
static scl_shift linear_shift(const void *self) {
  (void)self;
  return SCL_SHIFT_CENTRES;
}

const scl_plugin scullery_plugin = {
    .name = "linear",
    .summary = "<x,y> + offset; on sparse rows and thresholds times 1[same support]",
    .definition = "K(u, v) = dot(u, v) + offset",
    .doc =
        "K(x, y) = <x, y> + offset, positive semidefinite of rank at most d + 1; on sparse rows\n"
        "and thresholds times 1[same support].\n"
        "With offset = 0 it is the kernel of the identity on Gaussian rows of unit variance.",
    SCL_KERNEL(.spaces = SCL_SPACES_KERNEL, .finish = linear_finish, .pair = SCL_PAIR_DOT),
    SCL_INSTANCE(linear, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SHIFT, scl_ability_shift, .shift = linear_shift))};
