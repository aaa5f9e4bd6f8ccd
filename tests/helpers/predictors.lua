-- Saved models as other programs load them: the functions of predictor.c.
local core = require "scullery.core"

core.share_functions() -- scullery.predictor calls them
return require "scullery.predictor"
