/* Projections of sparse rows (projection_csr.c), for projection.c. */
#ifndef SCULLERY_PROJECTION_CSR_H
#define SCULLERY_PROJECTION_CSR_H

#include "map/projection.h"

/* z of tile->csr but for the bias. The projection takes sparse rows and was opened for them. */
scl_status scl_projection_apply_csr(const scl_projection *projection, const scl_tile *tile,
                                    scl_error *error);
/* The same of the nonzeros of dense rows. */
scl_status scl_projection_apply_thinned(const scl_projection *projection, const scl_tile *tile,
                                        scl_error *error);
void scl_projection_close(scl_projection *projection);

#endif
