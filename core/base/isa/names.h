/* Names of the loops of one instruction set, and its vectors. */
#ifndef SCULLERY_ISA_NAMES_H
#define SCULLERY_ISA_NAMES_H

#define ISA_JOIN_(a, b) a##b
#define ISA_JOIN(a, b) ISA_JOIN_(a, b)
/* name_avx2 and the like */
#define ISA_NAME(name) ISA_JOIN(name##_, SCL_ISA)

#if defined(SCL_ISA_avx512)
#include <immintrin.h>
enum { VECTOR_BYTES = 64 };
#elif defined(SCL_ISA_avx2)
#include <immintrin.h>
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif

#endif
