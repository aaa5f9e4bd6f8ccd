/* Cholesky factors in float32 (SCL_SERVICE_SYMMETRIC_FLOAT32 in scullery/plugin/algebra.h):
 * preconditioners with half the memory of float64. */
#ifndef SCULLERY_SYMMETRIC_FLOAT32_H
#define SCULLERY_SYMMETRIC_FLOAT32_H

#include "base/memory.h"

extern const scl_symmetric_float32_algebra scl_service_symmetric_float32;

#endif
