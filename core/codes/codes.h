/* Packed q-ary codes, and near neighbours by Hamming distance.
 *
 * A code is a row of T whole numbers 0 .. levels-1. Maxout's: C_t(x) = the place of the largest of
 * <w_t1, x>, .., <w_tq, x> (MAXOUT, remark 1). The mean Hamming distance of two codes estimates 1 -
 * kappa_q, kappa_q the probability that the two places agree (q = 2: 1 - angle/pi).
 *
 * Each number is written in ceil(log2 levels) bits, each bit in a plane of its own, so that
 *   distance(a, b) = popcount( OR over planes of (a XOR b) ).
 * Eight rows stand side by side, word by word, so that one vector instruction counts a word of
 * eight rows. */
#ifndef SCULLERY_CODES_H
#define SCULLERY_CODES_H

#include "algebra/matrix.h"

typedef struct scl_codes scl_codes;

enum { SCL_CODES_LEVELS = 1 << 16 }; /* the most levels */

/* Numbers of an n x T matrix. levels 0: the largest number and one, at least 2. SCL_STATUS_BAD_DATA
 * naming row and column (from 1) for what is no whole number or lies outside 0 .. levels-1;
 * SCL_STATUS_BAD_SHAPE where T is 0. */
scl_status scl_codes_pack(const scl_matrix *numbers, size_t levels, scl_codes **out,
                          scl_error *error);
/* The same rows again: out is n x T, either dtype. */
void scl_codes_unpack(const scl_codes *codes, scl_matrix *out);
/* count of the rows, which[i] < rows, in that order. */
scl_status scl_codes_select(const scl_codes *codes, const size_t *which, size_t count,
                            scl_codes **out, scl_error *error);
void scl_codes_destroy(scl_codes *codes);

size_t scl_codes_rows(const scl_codes *codes);
size_t scl_codes_cols(const scl_codes *codes);
size_t scl_codes_levels(const scl_codes *codes);
size_t scl_codes_planes(const scl_codes *codes); /* bits of one number */
size_t scl_codes_bytes(const scl_codes *codes);

/* out_ij, rows of a x rows of b, float64: the share of the T numbers that differ, or that agree. a
 * and b have the same T and levels. */
scl_status scl_codes_compare(const scl_codes *a, const scl_codes *b, bool agree, scl_matrix *out,
                             scl_error *error);
/* For each row of queries the k nearest rows of codes, nearest first, of equal ones the earlier
 * first: index (from 1) and mean distance, queries x k, float64. An exact scan; 1 <= k <= rows. */
scl_status scl_codes_nearest(const scl_codes *codes, const scl_codes *queries, size_t k,
                             scl_matrix *index, scl_matrix *distance, scl_error *error);

/* The ways of counting that this machine has, plain first; the last is the one in use. For tests:
 * use another (the results are the same). */
size_t scl_codes_ways(void);
const char *scl_codes_way_name(size_t way);
void scl_codes_use_way(size_t way);

#endif
