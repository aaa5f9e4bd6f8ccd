--- Adds the method report to pipelines and experiments.
local objects = require "scullery.base.objects"
local recipe = require "scullery.model.recipe"
local results = require "scullery.experiment.results"

local Experiment, Pipeline = results.class, recipe.class

--- p:report("m.html"[, { data =, title =, columns = 4 }]): writes a report of the fitted pipeline
--- as an HTML page, complete or not at all: stages with all options; accuracy with its error and
--- pictures, on `data` and on the training rows if they are in memory (for a classification also
--- AUC, average precision, F1, balanced accuracy, Brier score and the searched metric, with
--- intervals by the jackknife); importance of the columns, and dependence on the `columns` most
--- important ones (0: neither); the search; the kernel that the features estimate; coefficients;
--- columns; and a script that fits the model again.
function Pipeline:report(path, given)
  recipe.fitted(self, "pipeline:report", true)
  objects.call("pipeline:report", require("scullery.report.model").save, self, path, given)
end

--- exp:report("e.html"): writes one HTML page, complete or not at all, that opens in any browser
--- without network: means and standard errors over the cells that differ only in their seed (an
--- option named seed or ..._seed), with the best of each data set (an option named data, dataset,
--- data_set or set) marked, and the differences from it over the same seeds; pictures of the
--- results and the time against each option that is a number, a panel for each data set; cells that
--- failed with their messages, time and memory; the commands that reproduce it; and every cell.
function Experiment:report(path) require("scullery.report.experiment").save(self, path) end
