--- Methods of pipelines for sums over rows: parts of the data, rows that come later, rows that go.
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local recipe = require "scullery.model.recipe"

local Pipeline, guarded = recipe.class, objects.call

--- p:sums(ds[, { part = { i, n } | rows = { a, b }, folds =, seed = 0, save = path, fingerprints =
--- true }]): the sums over the rows of a data set, or over part i of n or rows a to b of it, from
--- which solvers that need nothing else (ridge, lasso, box) find their solution. Row stages, widths
--- and the ranges of features are learnt from all rows of ds. sc.merge joins such sums; s:solve()
--- gives a fitted pipeline; save also writes them to a file. folds: the rows of that many folds
--- (ds:fold_ids{ k = folds, seed = seed }) are summed separately, for s:search.
function Pipeline:sums(data, given)
  local ds = guarded("pipeline:sums", dataset.coerce, data)
  return guarded("pipeline:sums", require("scullery.model.sums").of, self, ds, given)
end

--- p:update(ds[, { every =, window =, again = false }]): adds the rows of a data set to a model
--- that keeps its sums (p:fit(ds, { sums = true })), and solves again. Row stages, widths and
--- ranges of features do not change. Returns the pipeline. If all rows are in the model already,
--- that is an error, unless again = true. After an error the model is as before.
---
--- every: learns the rows, also those of a stream, in parts of so many rows, and solves after each.
--- p.drift becomes a list with the error on each part before it was learnt, from the model of all
--- earlier rows: { rows, last (the number of its last row), error, stderr, time (of its last row,
--- if rows have times) }. error: the mean squared error of a regression, the share of wrong labels
--- of a classification, as p:error(part); stderr: its standard error. The list prints as a table,
--- and p.drift:plot{} draws it. After an error the parts before it are learnt.
---
--- window: after each part the oldest rows are forgotten, and the model is that of one fit to the
--- rows that are left. window = rows keeps the last `rows` rows; window = "7d" (of s, min, h, d, w)
--- those that are at most so much older than the latest, by a time column of dates; window = { time
--- = span } the same in the unit of the time column. Features must be whole numbers or have two
--- values. The rows of the window stay in memory, and are not saved. Rows of the model that are
--- not in memory, as after sc.load, are taken out together, once the window is full of new rows.
function Pipeline:update(data, given)
  local ds = guarded("pipeline:update", dataset.coerce, data)
  if self.fitted then ds = guarded("pipeline:update", matching.encoded, ds, self.fitted) end
  return guarded("pipeline:update", require("scullery.model.update").run, self, ds, given)
end

--- p:forget(ds): takes the rows of a data set out of a model that keeps its sums, and solves again:
--- the model is as if these rows had never been there. If the model has several equal rows, each
--- given row removes one of them. Rows that are not in the model are an error, and the model is as
--- before. Returns the pipeline.
function Pipeline:forget(data)
  local ds = guarded("pipeline:forget", dataset.coerce, data)
  if self.fitted then ds = guarded("pipeline:forget", matching.encoded, ds, self.fitted) end
  return guarded("pipeline:forget", require("scullery.model.changing").forget, self, ds)
end
