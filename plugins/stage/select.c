/* Some of the columns, in a given order: x becomes (x_i1, ..., x_ik). */
#include <scullery/plugin.h>

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

static scl_status create(void *instance, scl_error *error) {
  const select_columns *self = instance;
  const scl_value *c = self->columns;
  if (c->form != 0 && c->length == 0) return refuse(self, error);
  for (size_t i = 0; i < c->length; i++) {
    if (c->list[i] != floor(c->list[i])) return refuse(self, error);
    for (size_t j = 0; j < i; j++)
      if (c->list[i] == c->list[j]) return refuse(self, error);
  }
  return SCL_STATUS_OK;
}

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

static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  const scl_array *array = &fitted->arrays[0];
  const double *columns = array->data;
  if (array->dtype != SCL_DTYPE_FLOAT64 || array->rank != 2 || array->sizes[0] != 1)
    return host->fail(error, SCL_STATUS_BAD_DATA, "the array 'columns' is no row of numbers");
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

const scl_plugin scullery_plugin = {
    .name = "select",
    .summary = "some of the columns, in a given order",
    .doc =
        "Keeps the columns with the given numbers, from 1, in this order; after features, these\n"
        "features.",
    .create = create,
    SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS, .arrays = "columns", .fit = fit, .shape = shape,
              .apply = take),
    SCL_INSTANCE(select_columns, options)};
