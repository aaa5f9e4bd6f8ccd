--- Methods for saving, added to the classes of lower rooms.
local dataset = require "scullery.data.dataset"
local instantiation = require "scullery.compose.instantiation"
local options = require "scullery.base.options"
require "scullery.model.conformal" -- methods of the class
require "scullery.model.export" -- a method of the class
require "scullery.model.pipeline_explaining" -- methods of the class
require "scullery.model.pipeline_sums"
require "scullery.model.scales" -- a method of the class

local Dataset, Features = dataset.class, instantiation.features_class

--- ds:save_schema(path): writes the schema of the data to a file that sc.load reads: names, kinds
--- and categories of the columns, and the values for missing entries. Raises an error if the data
--- set has no schema. A fitted pipeline stores and saves the schema too.
function Dataset:save_schema(path)
  return options.guard("dataset:save_schema", 1, require("scullery.model.saving").save, self, path)
end

--- feats:save(path[, { parameters = true }]): writes the features, fitted or not, to a file that
--- sc.load reads; see p:save.
function Features:save(path, given)
  return options.guard("features:save", 1, require("scullery.model.saving").save, self, path, given)
end
