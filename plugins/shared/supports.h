/* Drawing supports: s of d columns without replacement, ascending. */
#ifndef SCULLERY_SHARED_SUPPORTS_H
#define SCULLERY_SHARED_SUPPORTS_H

#include <scullery/plugin.h>

/* Sorts ascending, in place. */
void support_sort(int32_t *columns, size_t count);

/* out (`degree` numbers) = distinct columns below dim, ascending, all sets equally likely; drawn by
 * (address, index) alone. */
void support_draw(const scl_random *random, scl_address address, uint64_t index, size_t dim,
                  size_t degree, int32_t *out);

#endif
