/* Row stages of a script's functions (sc.stage.define): column (shift and factor from the moments
 * of a column) or eval (of each number). */
#include "define/define.h"

typedef struct column_call {
  const scl_stage_column *column;
  double *shift, *factor;
} column_call;

/* shift, factor = column(mean, deviation, low, high, options). */
static int run_column(lua_State *L) {
  const column_call *call = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const scl_stage_column *c = call->column;
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  lua_pushnumber(L, c->mean + c->rest);
  lua_pushnumber(L, c->weight > 0 ? sqrt(c->square / c->weight) : 0);
  lua_pushnumber(L, c->low);
  lua_pushnumber(L, c->high);
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  scl_defined_invoke(L, 5, 2);
  *call->shift = scl_defined_result(L, SCL_DEFINED_TOP + 1, "a number as its first result");
  *call->factor = scl_defined_result(L, SCL_DEFINED_TOP + 2, "a number as its second result");
  return 0;
}

static void stage_column(const void *self, const scl_stage_column *column, double *shift,
                         double *factor) {
  column_call call = {column, shift, factor};
  scl_error error = {0};
  *shift = 0;
  *factor = 1;
  const scl_status status = scl_defined_call(self, "column", run_column, &call, &error);
  if (status != SCL_STATUS_OK)
    ((const scl_base *)self)->host->fail_call(status, "%s", error.message);
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
