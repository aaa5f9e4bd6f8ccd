/* Direction numbers of Sobol sequences. */
#ifndef SCULLERY_SAMPLER_QMC_H
#define SCULLERY_SAMPLER_QMC_H

enum { SOBOL_DIMENSIONS = 1111, SOBOL_MOST_DEGREE = 13, SOBOL_ROW = 96 };

/* The polynomial of each dimension has its coefficients as bits, the highest and the lowest (both 1)
 * included. That of the first dimension is 1, and each next one is larger by twice the number that
 * its character here comes after '1'. */
extern const char sobol_steps[];

/* m_1, m_2, ... of each dimension from the second on, as many as its polynomial has degrees. m_k is
 * odd and less than 2^k: the k-1 bits between its first and last, the lowest first, six bits a
 * letter of RFC 4648's base 64, again the lowest first, SOBOL_ROW letters a text. */
extern const char sobol_numbers[][SOBOL_ROW + 1];

#endif
