--- Which terms of a text a model that is linear in its terms decides by.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local text_table = require "scullery.base.text_table"

local explaining_texts = {}

local Explanation = objects.class("explanation", { example = "e", list = true,
  fields = "class score constant shown" })

function Explanation:__tostring()
  local rows = { { "term", "count", "value", "weight", "contribution" } }
  for i = 1, math.min(#self, self.shown) do
    local one = self[i]
    rows[i + 1] = { one.term, one.count, ("%.3g"):format(one.value), ("%.3g"):format(one.weight),
      ("%.3g"):format(one.contribution) }
  end
  local lines = { ("%sscore %.4g = %.4g of %d terms + constant %.4g"):format(
    self.class ~= nil and ("%s: "):format(options.show(self.class)) or "", self.score,
    self.score - self.constant, #self, self.constant) }
  if #self > 0 then
    local sides = { "left", "right", "right", "right", "right" }
    table.move(text_table.lines(rows, { sides = sides, width = 80 }), 1, #rows, 2, lines)
  end
  if #self > self.shown then lines[#lines + 1] = ("... %d more"):format(#self - self.shown) end
  return table.concat(lines, "\n")
end

local rules = options.declare("pipeline:explain", { class = { type = "any" },
  count = { type = "integer", low = 1, default = 20 } })

-- The column of the weights and their sign for a class, by default the predicted one: two classes
-- have one column, for the second. Second result: the class; nil for a regression.
local function column_of(f, wanted, scores)
  if f.task ~= "classification" then
    if wanted ~= nil then
      fail("option 'class' is for a classification, and this is a regression")
    end
    if f.targets > 1 then fail("this regression has %d targets; it takes one", f.targets) end
    return 1, 1, nil
  end
  local place = f.targets == 1 and (scores:get(1, 1) > 0 and 2 or 1)
    or scores:argmax(2):get(1, 1)
  if wanted ~= nil then
    place = nil
    for k, class in ipairs(f.classes) do if class == wanted then place = k end end
    if not place then
      fail("option 'class' got %s; the classes are %s", options.show(wanted),
        options.show(f.classes))
    end
  end
  if f.targets == 1 then return 1, place == 2 and 1 or -1, f.classes[place] end
  return math.tointeger(place), 1, f.classes[math.tointeger(place)]
end

-- The terms of a text that have a column, each once: a list of { term, column, count }; and column
-- -> the sum of the counts of its terms.
local function terms_of(f, text)
  local list, known, sums = {}, {}, {}
  local terms, columns = core.text_terms(f.encoder, text)
  for i, term in ipairs(terms) do
    local column = columns[i]
    if column > 0 then
      sums[column] = (sums[column] or 0) + 1
      if not known[term] then
        known[term] = { term = term, column = column, count = 0 }
        list[#list + 1] = known[term]
      end
      known[term].count = known[term].count + 1
    end
  end
  return list, sums
end

-- Raises an error unless each number of the row is in the column of a term.
local function check_columns(row, sums, stages)
  for j = 1, row:cols() do
    if row:get(1, j) ~= 0 and not sums[j] then
      fail("the stages after sc.text (%s) mix the columns of terms, which then have no weights of \z
        their own", table.concat(stages, ", "))
    end
  end
end

-- Raises an error for a model without weights of terms.
local function check(p, f, text)
  if not f.encoder then fail("is for a pipeline that begins with sc.text{}") end
  if f.map then fail("the features of this pipeline mix the terms: it has no weights of terms") end
  if f.learnt then
    fail("solver.%s is not linear in the terms: it has no weights", p.solver.name)
  end
  if type(text) ~= "string" then fail("takes a text, and got %s", options.show(text)) end
end

--- explaining_texts.run(p, text, given): see Pipeline:explain.
function explaining_texts.run(p, text, given)
  local o, f = options.check("pipeline:explain", given, rules, 0), p.fitted
  check(p, f, text)
  local source = matching.source({ text }, f)
  local row, scores = core.transform(source, f.stages), f:scores(source)
  local list, sums = terms_of(f, text)
  local names = {}
  for i, stage in ipairs(p.rows) do names[i] = stage.kind end
  if row:cols() ~= f.dim then fail("the stages after sc.text change the columns of terms") end
  check_columns(row, sums, names)
  local column, sign, class = column_of(f, o.class, scores)
  local factor = f:exported_factor() * sign
  for _, one in ipairs(list) do
    one.weight = f.weights:get(one.column, column) * factor + 0.0 -- 0 for -0
    one.value = row:get(1, one.column) * one.count / sums[one.column]
    one.contribution = one.weight * one.value
  end
  table.sort(list, function(a, b)
    if a.contribution ~= b.contribution then return a.contribution > b.contribution end
    return a.term < b.term
  end)
  list.class, list.shown = class, o.count
  list.score = sign * scores:get(1, column)
  list.constant = sign * f:constant():get(1, column)
  return setmetatable(list, Explanation)
end

return explaining_texts
