/* Names of the loops of one instruction set. */
#ifndef SCULLERY_ISA_NAMES_H
#define SCULLERY_ISA_NAMES_H

#define ISA_JOIN_(a, b) a##b
#define ISA_JOIN(a, b) ISA_JOIN_(a, b)
/* name_avx2 and the like */
#define ISA_NAME(name) ISA_JOIN(name##_, SCL_ISA)

#endif
