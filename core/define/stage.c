/* Row stages of a script's functions (sc.stage.define): column (shift and factor from the moments of
 * a column) or eval (of each number). */
#include "define/define.h"

/* shift, factor = column(mean, deviation, low, high, options). */
static void stage_column(const void *self, const scl_stage_column *column, double *shift,
                         double *factor) {
  double out[2] = {0, 1};
  const double deviation = column->weight > 0 ? sqrt(column->square / column->weight) : 0;
  scl_defined_fill(self, "column", 2, out, "=nnnno", column->mean + column->rest, deviation,
                   column->low, column->high);
  *shift = out[0];
  *factor = out[1];
}

/* out = eval(number, options) for each number of the rows. */
static scl_status stage_apply(const void *self, const scl_stage_state *state,
                              const scl_const_block *in, const scl_block *out, scl_error *error) {
  for (size_t i = 0; i < in->rows; i++)
    SCL_TRY(scl_defined_each(self, "eval", error, state->cols, scl_stage_out(out, i), "vo",
                             scl_stage_row(in, i)));
  return SCL_STATUS_OK;
}

static void describe_stage(lua_State *L, int fields, scl_definition *d) {
  scl_stage *table = &d->table.stage;
  *table = (scl_stage){SCL_TABLE(scl_stage, SCL_KIND_STAGE), .flags = SCL_STAGE_BY_COLUMN};
  if (scl_lua_field_flag(L, fields, "scale_free")) table->flags |= SCL_STAGE_SCALE_FREE;
  if (scl_define_has(L, fields, "column"))
    table->column = stage_column;
  else
    table->apply = stage_apply;
}

const scl_define_kind scl_define_stage = {sizeof(scl_defined), describe_stage, NULL, NULL};
