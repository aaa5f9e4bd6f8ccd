/* Some of the columns, in a given order: x becomes (x_i1, ..., x_ik). */
#include <scullery/plugin.h>
#include <stdlib.h>

typedef struct select_columns {
  scl_base base;
  const scl_value *columns;
} select_columns;

static const scl_option options[] = {
    {.name = "columns",
     .help = "numbers of the columns, from 1, in the wanted order; by default all",
     .forms = SCL_FORM_LIST,
     SCL_AT(select_columns, columns),
     SCL_WITHIN(1, INT32_MAX)}};

static scl_status refuse(const select_columns *self, scl_error *error) {
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                               "option 'columns' takes a list of different whole numbers from 1");
}

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static scl_status create(void *instance, scl_error *error) {
  const select_columns *self = instance;
  const scl_host *host = self->base.host;
  const scl_value *c = self->columns;
  if (c->form == 0) return SCL_STATUS_OK;
  if (c->length == 0) return refuse(self, error);
  double *sorted = host->scratch((c->length + 1) * sizeof *sorted);
  if (sorted == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", c->length);
  memcpy(sorted, c->list, c->length * sizeof *sorted);
  qsort(sorted, c->length, sizeof *sorted, compare);
  int fine = 1;
  for (size_t i = 0; i < c->length; i++)
    fine &= sorted[i] == floor(sorted[i]) && (i == 0 || sorted[i] != sorted[i - 1]);
  return fine ? SCL_STATUS_OK : refuse(self, error);
}

/* What a fit keeps: the numbers of the columns, all of them where none is given. */
static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const select_columns *self = instance;
  const size_t dim = fitting->rows->dim,
               count = self->columns->form == 0 ? dim : self->columns->length;
  double *columns = fitting->host->scratch(count * sizeof *columns);
  if (columns == NULL)
    return fitting->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns",
                               count);
  for (size_t i = 0; i < count; i++)
    columns[i] = self->columns->form == 0 ? (double)(i + 1) : self->columns->list[i];
  const scl_array array = scl_matrix_array(columns, 1, count);
  return fitting->put(fitting, "columns", &array, error);
}

/* Columns of a saved model are checked against the rows that arrive. */
static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  const scl_array *array = &fitted->arrays[0];
  const double *columns = array->data;
  if (array->dtype != SCL_DTYPE_FLOAT64 || array->rank != 2 || array->sizes[0] != 1)
    return host->fail(error, SCL_STATUS_BAD_DATA, "the array 'columns' is not a row of numbers");
  for (size_t i = 0; i < array->sizes[1]; i++)
    if (!(columns[i] >= 1 && columns[i] <= (double)fitted->cols) || columns[i] != floor(columns[i]))
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "column %.15g is selected, and columns 1 to %zu arrive", columns[i],
                        fitted->cols);
  fitted->width = array->sizes[1];
  return SCL_STATUS_OK;
}

static scl_status take(const void *self, const scl_stage_state *fitted, const scl_const_block *in,
                       const scl_block *out, scl_error *error) {
  const double *columns = scl_stage_numbers(fitted, 0);
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++)
    for (size_t k = 0; k < fitted->width; k++)
      scl_stage_out(out, i)[k] = scl_stage_row(in, i)[(size_t)columns[k] - 1];
  return SCL_STATUS_OK;
}

/* Selected columns that ascend: each number of a row is looked up among them. Writes from *at
 * on. */
static void take_ascending(const double *columns, size_t width, const scl_const_csr *in, size_t i,
                           const scl_csr_block *out, int64_t *at) {
  for (int64_t k = in->starts[i]; k < in->starts[i + 1]; k++) {
    const double column = in->columns[k] + 1.0;
    size_t low = 0, high = width;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (columns[middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == width || columns[low] != column) continue;
    out->columns[*at] = (int32_t)low;
    out->values[(*at)++] = scl_csr_number(in, k);
  }
}

/* Others: each selected column is looked up in the row. */
static void take_each(const double *columns, size_t width, const scl_const_csr *in, size_t i,
                      const scl_csr_block *out, int64_t *at) {
  for (size_t k = 0; k < width; k++) {
    int64_t low = in->starts[i], high = in->starts[i + 1];
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (in->columns[middle] + 1.0 < columns[k])
        low = middle + 1;
      else
        high = middle;
    }
    if (low == in->starts[i + 1] || in->columns[low] + 1.0 != columns[k]) continue;
    out->columns[*at] = (int32_t)k;
    out->values[(*at)++] = scl_csr_number(in, low);
  }
}

static scl_status take_csr(const void *self, const scl_stage_state *fitted, const scl_const_csr *in,
                           const scl_csr_block *out, scl_error *error) {
  const double *columns = scl_stage_numbers(fitted, 0);
  bool ascend = true;
  int64_t at = 0;
  (void)self, (void)error;
  for (size_t k = 1; k < fitted->width && ascend; k++)
    ascend = columns[k] > columns[k - 1];
  out->starts[0] = 0;
  for (size_t i = 0; i < in->rows; i++) {
    (ascend ? take_ascending : take_each)(columns, fitted->width, in, i, out, &at);
    out->starts[i + 1] = at;
  }
  return SCL_STATUS_OK;
}

SCL_FORMULA(formula, "int j;\n"
                     "for (j = 0; j < width; j++)\n"
                     "  out[j] = x[(int)columns[j] - 1];")
SCL_FORMULA(operators, "out = take(x, columns);")

const scl_plugin scullery_plugin = {
    .name = "select",
    .summary = "some of the columns, in a given order",
    .definition = "row(X) = function(x)\n"
                  "  return columns and map(columns, function(j) return x[j] end) or x\n"
                  "end",
    .doc =
        "Keeps the columns with the given numbers, from 1, in this order; after features, these\n"
        "features. Sparse rows stay sparse.",
    .create = create,
    SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS, .arrays = "columns", .fit = fit, .shape = shape,
              .apply = take, .formula = formula, .operators = operators, .apply_csr = take_csr),
    SCL_INSTANCE(select_columns, options)};
