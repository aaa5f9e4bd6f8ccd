--- Candidates judged on the same folds or the same repetitions: a table of their means and of the
--- paired differences to one of them.
local csv_text = require "scullery.base.csv_text"
local objects = require "scullery.base.objects"
local text_table = require "scullery.base.text_table"

local Paired = objects.class("paired comparison", { example = "comparison",
  fields = "score larger to title subject ratio notes" })

local paired = { class = Paired }

-- ------------ statistics

--- paired.two_sided(t, v): the probability that |T| >= |t| for Student's t with v degrees of
--- freedom, a whole number: 1 - A(t|v) of Abramowitz and Stegun (1964), 26.7.3 and 26.7.4.
function paired.two_sided(t, v)
  if v < 1 or t ~= t then return nil end
  local theta = math.atan(math.abs(t) / math.sqrt(v))
  local cosine, sine = math.cos(theta), math.sin(theta)
  local odd = v % 2 == 1
  local term = odd and cosine or 1.0
  local sum = v > 1 and term or 0.0
  for j = odd and 3 or 2, v - 2, 2 do
    term = term * cosine * cosine * (j - 1) / j
    sum = sum + term
  end
  local inside = odd and 2 / math.pi * (theta + sine * sum) or sine * sum
  return math.min(math.max(1 - inside, 0.0), 1.0)
end

--- paired.corrected(ratio): a function of a list of J numbers, one for each fold, that returns
--- their mean, its standard error and the degrees of freedom J - 1. The variance of the mean is
---   s^2 (1/J + ratio),   ratio = n_test / n_train,
--- because training parts share rows (Nadeau and Bengio 2003, equation 12); ratio 0: independent
--- numbers. The error is nil for one number.
function paired.corrected(ratio)
  return function(numbers)
    local J, sum, square = #numbers, 0, 0
    for _, number in ipairs(numbers) do sum = sum + number end
    local mean = sum / J
    if J == 1 then return mean, nil, 0 end
    for _, number in ipairs(numbers) do square = square + (number - mean) ^ 2 end
    return mean, math.sqrt(square / (J - 1) * (1 / J + ratio)), J - 1
  end
end

-- t of a difference and its two-sided p; nil where the standard error is not known, or both are 0.
local function test(mean, stderr, freedom)
  if not stderr or stderr == 0 and mean == 0 then return nil end
  local t = mean / stderr
  return t, paired.two_sided(t, freedom)
end

-- ------------ the table

-- The place of the candidate that the others are compared with.
local function reference_of(list, larger, to)
  local best = 1
  for i, one in ipairs(list) do
    local better = one.mean > list[best].mean
    if not larger then better = one.mean < list[best].mean end
    if better then best = i end
  end
  return to == "first" and 1 or best
end

local ROUNDING = 1e-14 -- of the scores: smaller differences are rounding errors

--- paired.new{ names =, values =, score =, larger =, to =, mean =, ratio =, title =, subject =,
--- notes = }: the comparison. names: of the candidates; values[i][j]: the score of candidate i in
--- fold or repetition j, the same j for all. larger: true if larger is better. to: "best" or
--- "first", the candidate that the others are compared with; with "best" they are sorted. mean: a
--- function as paired.corrected gives it. subject: the heading of the names.
function paired.new(given)
  local self, mean = {}, given.mean
  for i, name in ipairs(given.names) do
    local average, stderr = mean(given.values[i])
    self[i] = { name = name, mean = average, stderr = stderr, values = given.values[i], place = i }
  end
  local reference = self[reference_of(self, given.larger, given.to)]
  for _, one in ipairs(self) do
    if one ~= reference then
      local differences, rounding = {}, 0
      for j, value in ipairs(one.values) do
        differences[j] = value - reference.values[j]
        rounding = math.max(rounding, ROUNDING * math.abs(value))
      end
      local freedom
      one.difference, one.error, freedom = mean(differences)
      if math.abs(one.difference) < rounding then one.difference = 0 end
      if one.error and one.error < rounding then one.error = 0 end
      one.t, one.p = test(one.difference, one.error, freedom)
    end
  end
  if given.to ~= "first" then
    table.sort(self, function(a, b)
      if a.mean == b.mean then return a.place < b.place end
      return (a.mean > b.mean) == given.larger
    end)
  end
  for _, one in ipairs(self) do one.place = nil end
  self.score, self.larger, self.to, self.title = given.score, given.larger, given.to, given.title
  self.subject, self.ratio, self.notes = given.subject, given.ratio, given.notes
  return setmetatable(self, Paired)
end

local function number(form, value) return value and form:format(value) or "-" end

--- paired.cells(self): its column headings, its rows as texts, and its notes.
function paired.cells(self)
  local rows = {}
  for i, one in ipairs(self) do
    rows[i] = { one.name, ("%.5g"):format(one.mean), number("%.2g", one.stderr),
      number("%+.3g", one.difference), number("%.2g", one.error), number("%.2f", one.t),
      number("%.2g", one.p) }
  end
  return { self.subject, self.score, "std. error", "difference", "std. error", "t", "p" }, rows,
    self.notes
end

function Paired:__tostring()
  local heads, rows, notes = paired.cells(self)
  local lines = { heads, table.unpack(rows) }
  local text = text_table.lines(lines, { sides = { "left", "right", "right", "right", "right",
    "right", "right" } })
  if self.title then table.insert(text, 1, self.title) end
  table.move(notes, 1, #notes, #text + 1, text)
  return table.concat(text, "\n")
end

local function field(value) return value and ("%.17g"):format(value) or "" end

--- comparison:save("c.csv"): one line for each candidate: name, mean, stderr, difference, error
--- (the standard error of the difference), t and p. The file appears complete or not at all.
function Paired:save(path)
  csv_text.check_path(path)
  local fields = { "mean", "stderr", "difference", "error", "t", "p" }
  local lines = { { "name", table.unpack(fields) } }
  for _, one in ipairs(self) do
    local line = { one.name }
    for _, name in ipairs(fields) do line[#line + 1] = field(one[name]) end
    lines[#lines + 1] = line
  end
  csv_text.write(path, lines)
end

return paired
