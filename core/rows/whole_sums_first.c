/* Exact sums of the features of the first parameters of a map, out of those of all. */
#include "rows/block_sums.h"

/* to = the numbers of the features of the first parameters, out of `columns` rows of `from`. */
static scl_status copy_first(scl_exact *from, size_t columns, size_t many, size_t few,
                             size_t outputs, scl_exact *to, scl_error *error) {
  const size_t wide = many * outputs, narrow = few * outputs;
  int first;
  size_t places;
  int64_t *all, *some;
  SCL_TRY(scl_exact_export(from, &first, &places, &all, error));
  some = scl_allocate_array(places * columns * narrow + 1, sizeof *some);
  for (size_t p = 0; some != NULL && p < places * columns; p++)
    for (size_t j = 0; j < narrow; j++)
      some[p * narrow + j] = all[p * wide + j / few * many + j % few];
  const scl_status status =
      some == NULL ? scl_fail_memory(error, places * columns * narrow * sizeof *some, "sums")
                   : scl_exact_import(to, first, places, some, error);
  SCL_RELEASE(all, some);
  return status;
}

scl_status scl_whole_sums_of_first(scl_whole_sums *sums, size_t many, size_t few, size_t outputs,
                                   double ratio, scl_whole_sums **out, scl_error *error) {
  scl_whole_sums *made;
  const size_t c = sums->targets;
  SCL_TRY(scl_whole_sums_create(few * outputs, c, sums->groups, SCL_MOMENTS_OWN, &made, error));
  scl_status status = scl_block_sums_first_units(sums, many, few, ratio, made, error);
  for (size_t g = 0; status == SCL_STATUS_OK && g < sums->groups; g++) {
    if (sums->moment[g].high != NULL) status = scl_whole_totals_widen(&made->moment[g], 0, error);
    if (status == SCL_STATUS_OK)
      status = copy_first(sums->right[g], c + 1, many, few, outputs, made->right[g], error);
    if (status == SCL_STATUS_OK) status = scl_exact_merge(made->own[g], sums->own[g], false, error);
    made->weight[g] = sums->weight[g];
    if (status == SCL_STATUS_OK)
      scl_whole_totals_first(&sums->moment[g], many, few, &made->moment[g]);
  }
  made->shift = sums->shift;
  if (status == SCL_STATUS_OK)
    *out = made;
  else
    scl_whole_sums_destroy(made);
  return status;
}

scl_status scl_whole_sums_lead(scl_whole_sums *sums, scl_whole_sums *few, scl_error *error) {
  SCL_TRY(scl_whole_sums_widen(sums, few->shift, error));
  SCL_TRY(scl_whole_sums_widen(few, sums->shift, error));
  for (size_t g = 0; g < sums->groups; g++) {
    sums->moment[g].known = 0;
    scl_whole_totals_lead(&few->moment[g], &sums->moment[g]);
  }
  return SCL_STATUS_OK;
}
