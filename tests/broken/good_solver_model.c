/* Ridge regression as a model, from a walk over the rows: right. */
#include "solver_model.h"

MODEL_SOLVER(model_fit, model_decide, model_save, model_load, model_destroy);
