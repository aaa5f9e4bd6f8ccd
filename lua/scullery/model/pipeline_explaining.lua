--- Methods of pipelines that explain a model: what each column, or each term of a text, is worth.
local dataset = require "scullery.data.dataset"
local objects = require "scullery.base.objects"
local recipe = require "scullery.model.recipe"

local Pipeline, guarded, need = recipe.class, objects.call, recipe.fitted

--- p:importance([ds][, { repeats = 5, seed = 0, metric =, progress = }]): permutation importance
--- (Breiman 2001): what the metric loses on a data set (by default the training rows) when the
--- values of a column are shuffled among the rows. A list of { name, mean, stderr }, the largest
--- first, that prints as a table. stderr is that of the mean over the repeats. The 0/1 columns of
--- one column of text are shuffled together. metric: as score in p:search; by default accuracy or
--- R2. If columns depend on each other, each of them may seem to matter little. :plot() draws it,
--- and :plot():data("i.csv") saves the numbers.
function Pipeline:importance(data, given)
  need(self, "pipeline:importance", true)
  if given == nil and type(data) == "table" and not dataset.is(data) then
    data, given = nil, data
  end
  return guarded("pipeline:importance", require("scullery.model.importance").of, self, data,
    given)
end

--- p:dependence(ds, column[, { points = 20, rows = 500, curves = 0, class =, seed = 0 }]): partial
--- dependence (Friedman 2001): the mean prediction over rows when a column is set to each of its
--- values: .values (quantiles, or the categories of a column of text), .mean and .stderr (over the
--- rows). In a classification it is the probability of the second class, or of `class`; the score
--- where the model has no probabilities; of several predicted values the first. rows: that many are
--- drawn. curves: the number of rows, evenly spaced among them, whose own curves (individual
--- conditional expectations) are in .curves.
--- It prints as a table; :plot() draws it, and :plot():data("d.csv") saves the numbers.
function Pipeline:dependence(data, column, given)
  need(self, "pipeline:dependence", true)
  return guarded("pipeline:dependence", require("scullery.model.dependence").of, self, data,
    column, given)
end

--- p:explain(text[, { class =, count = 20 }]): the terms of a text by what each adds to the score
--- of a class (by default the predicted one; the value of a regression), for a pipeline of sc.text,
--- stages that keep the columns, and a solver with weights. A list of { term, count, value, weight,
--- contribution }, what speaks most for the class first, that prints as a table of `count` terms;
--- .score is the sum of the contributions and of .constant. value: the number of the term in its
--- row; terms that share a hashed column share its number by their counts. Hashed terms have names
--- because they are those of the text.
function Pipeline:explain(text, given)
  need(self, "pipeline:explain", true)
  return guarded("pipeline:explain", require("scullery.model.explaining_texts").run, self, text,
    given)
end
