/* The stump kernel without the clipping:
 *
 *   K(x, y) = 1 - ||x - y||_1 / l
 *
 * Where it is positive semidefinite: -||x - y||_1 is so on coefficients that sum to 0
 * (conditionally), and on a box of sides b_1 .. b_d, B = sum_j b_j,
 *
 *   1 - ||x - y||_1/l = (1 - B/(2 l)) + sum_j (b_j/(2 l) - |x_j - y_j|/l)
 *
 * Each term of the sum is (b_j/(2 l)) E sign(x_j - t) sign(y_j - t), t uniform on side j, and so
 * positive semidefinite: B <= 2 l is enough. Where B > 2 l, two opposite corners have
 * K = 1 - B/l < -1, and it is not. */
#include <scullery/plugin.h>

typedef struct hat {
  scl_base base;
  double length;
} hat;

static const scl_option options[] = {SCL_NUMBER(
    hat, length, "1", "l in 1 - ||x-y||_1/l; at least half of the sum of the columns' ranges",
    SCL_POSITIVE)};

static void hat_finish(const void *instance, const scl_pair_row *row, double *numbers) {
  const hat *self = instance;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = 1 - numbers[j] / self->length;
}

const scl_plugin scullery_plugin = {
    .name = "hat",
    .summary = "1 - ||x-y||_1/length: the stump kernel without the clipping",
    .definition = "K(u, v) = 1 - distance(u, v)/length",
    .doc =
        "K(x, y) = 1 - ||x - y||_1 / length, dense rows only; nothing is cut off at 0.\n"
        "Conditionally positive definite: for coefficients that sum to 0. Positive semidefinite\n"
        "on every box whose sides sum to at most 2 length, and on no larger one: opposite corners\n"
        "of a box whose sides sum to B have K = 1 - B/length, below -1 from there on.\n"
        "With length = a d it is sc.kernel.stump{ a = a } on [-a, a]^d.",
    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .finish = hat_finish,
               .pair = SCL_PAIR_ABSOLUTE_DISTANCE),
    SCL_INSTANCE(hat, options)};
