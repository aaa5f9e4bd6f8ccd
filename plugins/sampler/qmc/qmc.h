/* Direction numbers of Sobol sequences. */
#ifndef SCULLERY_SAMPLER_QMC_H
#define SCULLERY_SAMPLER_QMC_H

#include <stdint.h>

enum { SOBOL_DIMENSIONS = 1111 };

/* Coefficients of the polynomial of each dimension, the highest and the lowest (both 1) included;
 * the first dimension has none. */
extern const uint16_t sobol_polynomials[SOBOL_DIMENSIONS];

/* m_1, m_2, ... of each dimension from the second on, as many as its polynomial has degrees. */
extern const uint16_t sobol_numbers[];

#endif
