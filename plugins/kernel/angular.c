/* The kernel of sign(<w, x>), w ~ N(0, I) (Goemans and Williamson 1995; Charikar 2002), theta the
 * angle between x and y:
 *
 *   K(x, y) = 1 - 2 theta/pi */
#include <scullery/plugin.h>

static void angular_finish(const void *self, const scl_pair_row *row, double *angles) {
  (void)self;
  for (size_t j = 0; j < row->count; j++)
    angles[j] = 1 - 2 * angles[j] / SCL_PI;
}

const scl_plugin scullery_plugin = {
    .name = "angular",
    .summary = "1 - 2 theta/pi, theta the angle between the rows: the kernel of sign features",
    .definition = "zeros(u, v) = (length(u) == 0 and 1 or 0) + (length(v) == 0 and 1 or 0)\n"
                  "K(u, v) = ({ [0] = 1 - 2/pi*angle(u, v), 0 })[zeros(u, v)]",
    .doc =
        "K(x, y) = 1 - (2/pi) arccos(<x, y> / (||x|| ||y||)) on dense rows, positive\n"
        "semidefinite: the kernel of sign(<w, x>) with w ~ N(0, I) (Goemans and Williamson 1995;\n"
        "Charikar 2002). A row of zeros has K = 0 with all others and 1 with itself, as its\n"
        "features sign(0) = 1 have.\n"
        "The arc-cosine kernel of order 0 is (1 + K)/2, but for rows of zeros.",
    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .finish = angular_finish,
               .pair = SCL_PAIR_ANGLE),
};
