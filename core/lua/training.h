/* Trainings and fits as Lua values. */
#ifndef SCULLERY_LUA_TRAINING_H
#define SCULLERY_LUA_TRAINING_H

#include "learn/model.h"
#include "lua/handle.h"

/* A training with the arrays that its flow points to. */
typedef struct scl_lua_training {
  scl_training *engine;
  scl_flow flow;             /* the rows, their stages and the map; it points to the arrays below */
  scl_fitted_stage **stages; /* flow.n_stages of them; the handle keeps the stages */
  int32_t *group;            /* fold of each row, from 0; NULL without folds */
  double *weights;           /* weight of each row; NULL: all 1 */
  scl_fingerprints prints;   /* of the rows, where they were asked for */
} scl_lua_training;

/* One call at a time: a training keeps what its walks find. */
scl_lua_training *scl_lua_take_training(lua_State *L, int place);

/* Fits that are not Lua's yet. A userdata owns them, so that a Lua error releases them. */
typedef struct scl_lua_fits {
  size_t count; /* of fits that are to be released */
  scl_fit *list;
  scl_model **models; /* one for each fit; NULL for a linear model */
} scl_lua_fits;

/* Room for groups x each fits, in a userdata on the stack. */
scl_lua_fits *scl_lua_new_fits(lua_State *L, size_t groups, size_t each);
/* A table of the numbers and matrices of a fit; the matrices become Lua's. */
void scl_lua_push_fit(lua_State *L, scl_fit *fit);
/* The model that the engine made, of so many bytes, becomes the field `model` of the table on top,
 * owned by a userdata. */
void scl_lua_push_fit_model(lua_State *L, scl_model **model, size_t bytes);

#endif
