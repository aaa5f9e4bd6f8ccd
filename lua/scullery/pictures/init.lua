--- Adds the method plot to pipelines, search tables and other results.
local drift = require "scullery.model.drift"
local dependence = require "scullery.model.dependence"
local importance = require "scullery.model.importance"
local kernel_error = require "scullery.compose.kernel_error"
local objects = require "scullery.base.objects"
local recipe = require "scullery.model.recipe"
local search_table = require "scullery.model.search_table"

local KernelError, Pipeline, Table = kernel_error.class, recipe.class, search_table.class
local Importance, Dependence = importance.class, dependence.class
local Drift = drift.class

--- p:plot([what][, data][, { title =, width =, height =, ... }]): a figure of the fitted pipeline
--- on a data set, or on its training rows if they are in memory; the title says on which.
--- what: "residuals" (for a regression: against the predictions, and observed against predicted
--- values), "confusion" (for a classification: the share of each true class that is predicted as
--- each class), "calibration" (the share of correct predictions against their probability, with
--- Wilson's 95 % intervals, and a histogram of the probabilities; calls p:calibrate{} if there are
--- none), "coefficients" (the largest, and all by rank; the weights of the columns if each feature
--- depends on one column), "roc", "pr" and "lift" (for a classification: how well the scores rank
--- the rows, with the area under the curve), "importance" and "dependence" (of the predictions on
--- the columns), "bands" (of a regression: the prediction along a column, with two standard
--- deviations where the solver is ridge, and the interval of new rows, if p:fit kept what it
--- needs). Without it: all that apply to the model without further computation, except the
--- last six.
---
--- "importance" takes repeats, metric and seed (see p:importance). "dependence" takes column (a
--- name, or a list of up to 9; by default the four of largest importance), points, rows, class,
--- seed (see p:dependence) and curves (25): that many single rows are drawn beside the mean.
--- "bands" takes column (a name, or up to 4) and level (0.9).
function Pipeline:plot(what, data, given)
  recipe.fitted(self, "pipeline:plot", true)
  local plot = require("scullery.pictures.model").plot
  return objects.call("pipeline:plot", plot, self, what, data, given)
end

--- table:plot{ options =, title =, width =, height = }: a figure of the score against the options
--- that were searched, with 1 standard error over the folds, the best cell marked. One option of
--- numbers: a line. Words or stages: bars. Two options of numbers: a heatmap. If there are more
--- options, it shows the two on which the score depends most, with the best values of the others;
--- options = a name or a list of two names chooses them.
function Table:plot(given) return require("scullery.pictures.search").plot(self, given) end

--- result:plot{ with =, labels =, title =, width =, height = }: a figure of the rms error against
--- T on log axes: one curve for each sampler, with bands of 1 standard error over the seeds, and a
--- line of slope -1/2. with: a list of other results to draw in the same picture. labels: the names
--- of the curves, in their order.
function KernelError:plot(given)
  return require("scullery.pictures.kernel_error").plot(self, given)
end

--- importance:plot{ title =, width =, height = }: a figure of the result of p:importance: a bar for
--- each of the 15 most important columns, with 1 standard error over the repeats.
function Importance:plot(given)
  return require("scullery.pictures.explaining").importance(self, given)
end

--- dependence:plot{ title =, width =, height = }: a figure of the result of p:dependence: the mean
--- against the column, with 1 standard error over the rows, and thin lines of the single rows in
--- .curves; bars for a column of text.
function Dependence:plot(given)
  return require("scullery.pictures.explaining").dependence(self, given)
end

--- p.drift:plot{ with =, labels =, title =, width =, height = }: a figure of the error on each part
--- of p:update(ds, { every = rows }) against the rows that came, with 1 standard error. with: a
--- list of the .drift of other updates, to draw in the same picture. labels: the names of the
--- lines, in their order; by default the windows.
function Drift:plot(given) return require("scullery.pictures.drift").plot(self, given) end
