/* Packed q-ary codes, and nearest neighbours by Hamming distance.
 *
 * A code is a row of T whole numbers 0 .. levels-1, as of maxout: C_t(x) = the index of the largest
 * of <w_t1, x>, .., <w_tq, x> (MAXOUT, remark 1). The mean Hamming distance of two codes estimates
 * 1 - kappa_q, where kappa_q is the probability that the two indices agree (q = 2: 1 - angle/pi).
 *
 * Each number has ceil(log2 levels) bits, each stored in a separate plane, so that
 *   distance(a, b) = popcount( OR over planes of (a XOR b) ).
 * The words of eight rows are interleaved, so that one vector instruction counts a word of each. */
#ifndef SCULLERY_CODES_H
#define SCULLERY_CODES_H

#include "algebra/matrix.h"

typedef struct scl_codes scl_codes;

enum { SCL_CODES_LEVELS = 1 << 16 }; /* the largest number of levels */

/* Pack the numbers of an n x T matrix. levels 0: the largest number + 1, at least 2.
 * SCL_STATUS_BAD_DATA, with row and column (from 1), for a number that is not a whole number in 0
 * .. levels-1; SCL_STATUS_BAD_SHAPE where T is 0. */
scl_status scl_codes_pack(const scl_matrix *numbers, size_t levels, scl_codes **out,
                          scl_error *error);
/* Write the numbers to out (n x T, either dtype). */
void scl_codes_unpack(const scl_codes *codes, scl_matrix *out);
/* A copy of the rows which[0] .. which[count-1], each < rows. */
scl_status scl_codes_select(const scl_codes *codes, const size_t *which, size_t count,
                            scl_codes **out, scl_error *error);
void scl_codes_destroy(scl_codes *codes);

size_t scl_codes_rows(const scl_codes *codes);
size_t scl_codes_cols(const scl_codes *codes);
size_t scl_codes_levels(const scl_codes *codes);
size_t scl_codes_planes(const scl_codes *codes); /* bits of one number */
size_t scl_codes_bytes(const scl_codes *codes);

/* out_ij (rows of a x rows of b, float64) = the share of the T numbers that differ, or (agree =
 * true) that agree. SCL_STATUS_BAD_SHAPE unless a and b have the same T and levels. */
scl_status scl_codes_compare(const scl_codes *a, const scl_codes *b, bool agree, scl_matrix *out,
                             scl_error *error);
/* For each row of queries, the k nearest rows of codes by an exact scan, 1 <= k <= rows: index
 * (from 1) and mean distance, queries x k, float64, in ascending order of distance and then of
 * index. */
scl_status scl_codes_nearest(const scl_codes *codes, const scl_codes *queries, size_t k,
                             scl_matrix *index, scl_matrix *distance, scl_error *error);

/* The number of ways of counting that this machine has, plain first, and their names. The last one
 * is used, unless a test selects another; the results are the same. */
size_t scl_codes_ways(void);
const char *scl_codes_way_name(size_t way);
void scl_codes_use_way(size_t way);

#endif
