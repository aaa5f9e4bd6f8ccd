#include "learn/conformal.h"

#include "base/pool.h"
#include <math.h>

/* Put the number of that rank, from 0, of `count` numbers in its place, and return it: smaller ones
 * come before it (Hoare 1961, algorithm 65). */
static double select_number(double *numbers, size_t count, size_t rank) {
  size_t low = 0, high = count - 1;
  while (low < high) {
    const double pivot = numbers[rank];
    size_t i = low, j = high;
    while (i <= j) {
      while (numbers[i] < pivot)
        i++;
      while (pivot < numbers[j])
        j--;
      if (i > j) break;
      const double swapped = numbers[i];
      numbers[i++] = numbers[j];
      numbers[j] = swapped;
      if (j == 0) break;
      j--;
    }
    if (j < rank) low = i;
    if (rank < i) high = j;
  }
  return numbers[rank];
}

typedef struct bounding {
  const scl_matrix *centres;
  const double *sizes;
  size_t low_rank, high_rank;
  double *low, *high;
} bounding;

/* A task of the pool: a row. */
static scl_status bound_row(void *context, size_t i, scl_error *error) {
  const bounding *b = context;
  const size_t n = b->centres->cols;
  const double *centre = scl_matrix_row(b->centres, i);
  double *room = scl_allocate_array(n + 1, sizeof *room);
  if (room == NULL) return scl_fail_memory(error, n * sizeof *room, "bounds of an interval");
  for (size_t j = 0; j < n; j++)
    room[j] = centre[j] - b->sizes[j];
  b->low[i] = b->low_rank == 0 ? -INFINITY : select_number(room, n, b->low_rank - 1);
  for (size_t j = 0; j < n; j++)
    room[j] = centre[j] + b->sizes[j];
  b->high[i] = select_number(room, n, b->high_rank - 1);
  scl_release(room);
  return SCL_STATUS_OK;
}

scl_status scl_conformal_bounds(const scl_matrix *centres, const double *sizes, size_t low_rank,
                                size_t high_rank, double *low, double *high, scl_error *error) {
  bounding b = {centres, sizes, low_rank, high_rank, low, high};
  return scl_pool_try(centres->rows, bound_row, &b, error);
}
