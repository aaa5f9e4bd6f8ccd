--- Methods that pictures add to the classes of the rooms below: plot.
local kernel_error = require "scullery.compose.kernel_error"
local objects = require "scullery.base.objects"
local recipe = require "scullery.model.recipe"
local search_table = require "scullery.model.search_table"

local KernelError, Pipeline, Table = kernel_error.class, recipe.class, search_table.class

--- p:plot([what][, data][, { title =, width =, height = }]): a figure of the fitted pipeline on a
--- data set, or on the rows that it learnt from where they are kept; it says on which.
--- what: "residuals" (of a regression: against the predictions, and observed against predicted
--- values), "confusion" (of a classification: the share of each true class that was given each
--- class), "calibration" (how often the probabilities come true, with Wilson's 95 % intervals, and
--- which were said; calls p:calibrate{} where there are none), "coefficients" (the largest, and
--- their decay; where each feature looks at one column the weights of the columns), "roc", "pr" and
--- "lift" (of a classification: how well the scores rank the rows, with the area under the curve).
--- Without it: all that apply as the model is, except the last three.
function Pipeline:plot(what, data, given)
  recipe.fitted(self, "pipeline:plot", true)
  local plot = require("scullery.pictures.model").plot
  return objects.call("pipeline:plot", plot, self, what, data, given)
end

--- table:plot{ options =, title =, width =, height = }: a figure of the score against the options
--- that were searched, with 1 standard error over the folds, the best cell marked. One option of
--- numbers: a line. Words or stages: bars. Two options of numbers: a heatmap. Of more options, it
--- shows the two on which the score depends most, with the others at their best; options = a name
--- or a list of two names chooses them.
function Table:plot(given) return require("scullery.pictures.search").plot(self, given) end

--- result:plot{ with =, labels =, title =, width =, height = }: a figure of the rms error against
--- T, a curve for each sampler, on log axes with bands of 1 standard error over the seeds, and a
--- line of slope -1/2. with: a list of other results that are drawn in the same picture. labels:
--- the curves' names, in their order.
function KernelError:plot(given)
  return require("scullery.pictures.kernel_error").plot(self, given)
end
