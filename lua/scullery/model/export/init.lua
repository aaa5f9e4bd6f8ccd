--- p:export: fitted pipelines as files that predict without this library, by the name's ending.
local core = require "scullery.core"
local c_header = require "scullery.model.export.c_header"
local fail = require "scullery.base.fail"
local objects = require "scullery.base.objects"
local onnx = require "scullery.model.export.onnx"
local options = require "scullery.base.options"
local parts = require "scullery.model.export.parts"
local recipe = require "scullery.model.recipe"

local Pipeline = recipe.class
local writers = { h = c_header.text, onnx = onnx.text }

local function run(self, path)
  if type(path) ~= "string" or path == "" then
    fail("takes the path of a file, and got %s", options.show(path))
  end
  local name = path:match "([^/]*)$"
  local stem, ending = name:match "^(.+)%.(%w+)$"
  if not writers[ending] then
    fail("writes a file of C, model.h, or of ONNX, model.onnx, and got %s; p:save writes models \z
      to load again", options.show(path))
  end
  parts.check(self.fitted)
  core.write_text(path, writers[ending](self.fitted, stem, name))
end

--- p:export("model.h") or p:export("model.onnx"): writes the fitted pipeline as a file that
--- predicts without this library, complete or not at all.
---
--- model.h is one file of C with static inline functions named by the file:
---
---   model_decide(x, scores)      the MODEL_SCORES scores of MODEL_COLUMNS doubles, as p:decision
---   model_predict(x)             the class, from 0 to MODEL_CLASSES - 1; model_class(k): its label
---   model_predict(x, values)     of a regression: the values, as p:predict
---   model_predict(x, labels)     of multi-label targets: 1 for those that the row has, else 0
---   model_probabilities(x, p)    after p:calibrate{}
---   model_column(j)              the name of a column, where columns have names
---
--- The file is C11 and C++, and needs <math.h>; a row's numbers after each stage are on the stack,
--- 8 bytes each.
---
--- model.onnx is a graph of ONNX, opset 17, for runtimes such as onnxruntime. Its input is "x"
--- (rows x columns, float64); its outputs are
---
---   "scores"                     as p:decision
---   "label"                      of a classification: int64 if all labels are whole numbers, else
---                                texts
---   "probabilities"              after p:calibrate{}
---   "values"                     of a regression, as p:predict ("scores" too where they differ)
---   "labels"                     of multi-label targets: int64, 1 for those that the row has
---
--- Operators are of float64; erf, acos, asin and atan, which runtimes have for float32 alone, are
--- of that. Names of columns and classes are in the file's metadata.
---
--- Stages, nonlinearities and losses need a formula (the slots `formula` and `operators` of their
--- plugins). Others are refused by name: kernels, solvers that keep a model of their own, texts.
--- Scores agree with p:decision within rounding, where no feature jumps within rounding of a row;
--- features of whole numbers ("int8", "int16") jump halfway between two, and are computed from
--- float32: a row within 1e-6 of such a place may get the neighbour.
function Pipeline:export(path)
  recipe.fitted(self, "pipeline:export", true)
  return objects.call("pipeline:export", run, self, path)
end
