--- The table of a search: one row for each cell; printing, saving, and options at an end of their
--- range.
local component = require "scullery.compose.component"
local csv_text = require "scullery.base.csv_text"
local instantiation = require "scullery.compose.instantiation"
local judging = require "scullery.model.judging"
local keys = require "scullery.base.keys"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local stages = require "scullery.compose.stages"
local text_table = require "scullery.base.text_table"
local recipe = require "scullery.model.recipe"

local search_table = {}

local Table = objects.class("search table", { example = "table", list = true,
  fields = "names score larger place rule outer edge seed how rows",
  computed = { best = function(self) return self[self.place] end } })
search_table.class = Table

-- ------------ labels of choices

-- Texts for a stage, the shortest first: its name, with the given options, in full.
local shortenings = {
  function(stage) return stage:label() end,
  function(stage) return stage:label(true) end,
  tostring,
}

-- Whether text(value) is a different text for each of the values.
local function all_differ(values, text)
  local seen = {}
  for _, value in ipairs(values) do
    local one = text(value)
    if seen[one] then return false end
    seen[one] = true
  end
  return true
end

--- search_table.key_of(value): a key by which values of a column are equal; in a loaded table each
--- row has its own object for the same stage.
function search_table.key_of(value)
  return type(value) == "table" and tostring(value) or value
end

--- search_table.labels_of(cells, name): key -> text for the values of a column: the shortest texts
--- that are distinct.
function search_table.labels_of(cells, name)
  local values, seen, label = {}, {}, {}
  for _, cell in ipairs(cells) do
    local value = cell.choice[name]
    local key = search_table.key_of(value)
    if value ~= nil and not seen[key] then
      seen[key] = true
      values[#values + 1] = value
    end
  end
  local of_stages = #values > 0
  for _, value in ipairs(values) do
    of_stages = of_stages and (component.is(value) or stages.is(value)
      or instantiation.is_features(value))
  end
  local text = function(value)
    local object = type(value) == "table" and getmetatable(value)
    return object and tostring(value) or options.show(value)
  end
  for _, shorter in ipairs(of_stages and shortenings or {}) do
    text = shorter
    if all_differ(values, text) then break end
  end
  for _, value in ipairs(values) do label[search_table.key_of(value)] = text(value) end
  return label
end

-- texts[i][j]: column j of row i, "-" if the row has no such option.
local function texts_of(self)
  local texts = {}
  for i in ipairs(self) do texts[i] = {} end
  for j, name in ipairs(self.names) do
    local label = search_table.labels_of(self, name)
    for i, row in ipairs(self) do
      local value = row.choice[name]
      texts[i][j] = value == nil and "-" or label[search_table.key_of(value)]
    end
  end
  return texts
end

-- ------------ printing

-- The remark behind the row of a cell.
local function mark_of(self, row)
  local marks = {}
  if row == self.best then
    marks[1] = self.rule == "one_se" and "<- simplest near the best" or "<- best"
  end
  if row.unconverged > 0 then
    marks[#marks + 1] = ("(%d fit%s did not converge)"):format(row.unconverged,
      row.unconverged == 1 and "" or "s")
  end
  return table.concat(marks, "  ")
end

-- Prints one line for each cell, with the best one marked.
function Table:__tostring()
  local rows, sides, n = { table.move(self.names, 1, #self.names, 1, {}) }, {}, #self.names
  for j = 1, n do sides[j] = "left" end
  table.move({ "right", "right", "left" }, 1, 3, n + 1, sides)
  table.move({ self.score, "std. error" }, 1, 2, n + 1, rows[1])
  for i, cells in ipairs(texts_of(self)) do
    local row = self[i]
    table.move({ ("%.6g"):format(row.mean), row.stderr and ("%.2g"):format(row.stderr) or "-",
      mark_of(self, row) }, 1, 3, n + 1, cells)
    rows[i + 1] = cells
  end
  local lines = text_table.lines(rows, { sides = sides, least = { [n + 1] = 12, [n + 2] = 11 } })
  lines[#lines + 1] = self.how
  for _, note in ipairs(self:notes()) do lines[#lines + 1] = note end
  if self.outer then
    lines[#lines + 1] = ("nested: %.6g, std. error %.2g"):format(self.outer.mean, self.outer.stderr)
  end
  return table.concat(lines, "\n")
end

--- table:better(a, b): true if the score a is better than b.
function Table:better(a, b)
  if self.larger then return a > b end
  return a < b
end

-- Whether `loose`, which has fits that did not converge, is better than `sure` by more than noise:
-- the standard error of their differences between folds; of one score, the standard error of the
-- mean of so many squares of normal numbers. Of scores that are at most 1 what they lack counts.
local function stands_out(self, loose, sure)
  local size, gaps = math.abs(sure.mean), {}
  if self.larger then size = math.min(size, math.abs(1 - sure.mean)) end
  local noise = math.sqrt(2 / (self.rows or 1)) * size
  for f, value in ipairs(loose.folds or {}) do gaps[f] = value - sure.folds[f] end
  if #gaps > 1 then noise = select(2, judging.mean(gaps)) end
  local gap = math.abs(loose.mean - sure.mean)
  return gap ~= gap or noise ~= noise or gap > noise
end

--- search_table.best_of(cells, rows): the best of some rows of a table. A row with fits that did
--- not converge has to be better than the best row without any by more than noise; second: such a
--- row if it was passed over.
function search_table.best_of(self, rows)
  local best, sure
  for _, row in ipairs(rows) do
    if not best or self:better(row.mean, best.mean) then best = row end
    local first = not sure or sure.mean ~= sure.mean
    if row.unconverged == 0 and (first or self:better(row.mean, sure.mean)) then sure = row end
  end
  if not sure or sure == best or stands_out(self, best, sure) then return best end
  return sure, self:better(best.mean, sure.mean) and best or nil
end

--- table:texts(): the options of each row as texts, in the order of table.names; "-" if a row has
--- no such option.
function Table:texts() return texts_of(self) end

--- table:notes(): a sentence for each option whose best value is the smallest or the largest that
--- was tried, and one for a row that was passed over because its fits did not converge.
function Table:notes()
  local list = {}
  local _, passed = search_table.best_of(self, self)
  if passed then
    list[1] = ("%s %.6g was not chosen: %d of its fits did not converge, and it is not better by \z
      more than noise"):format(self.score, passed.mean, passed.unconverged)
  end
  for _, one in ipairs(self.edge or {}) do
    list[#list + 1] = ("the best %s, %s, is the %s tried: a %s one may be better"):format(
      one.option, options.show(one.value), one.side,
      one.side == "smallest" and "smaller" or "larger")
  end
  return list
end

-- ------------ saving

--- table:save("t.csv"): saves the table as CSV, complete or not at all. Columns: the options, mean
--- and standard error of the score, the score of each fold, the number of fits that did not
--- converge, and 1 in the row of the best cell.
function Table:save(path)
  csv_text.check_path(path)
  local heads, texts, folds = table.move(self.names, 1, #self.names, 1, {}), texts_of(self), 0
  for _, row in ipairs(self) do folds = math.max(folds, row.folds and #row.folds or 0) end
  table.move({ self.score, "stderr" }, 1, 2, #heads + 1, heads)
  for f = 1, folds do heads[#heads + 1] = "fold " .. f end
  table.move({ "unconverged", "best" }, 1, 2, #heads + 1, heads)
  local lines = { heads }
  for i, row in ipairs(self) do
    local line = texts[i]
    for j, text in ipairs(line) do
      line[j] = row.choice[self.names[j]] == nil and "" or text:match('^"(.*)"$') or text
    end
    line[#line + 1] = ("%.17g"):format(row.mean)
    line[#line + 1] = row.stderr and ("%.17g"):format(row.stderr) or ""
    for f = 1, folds do line[#line + 1] = row.folds and ("%.17g"):format(row.folds[f]) or "" end
    line[#line + 1] = row.unconverged
    line[#line + 1] = row == self.best and 1 or 0
    lines[#lines + 1] = line
  end
  csv_text.write(path, lines)
end

-- ------------ the edge of the grid

-- The numbers that were tried for the option `name`, ascending, and a table from each to its best
-- mean. Only rows count that have the same stages and texts as the best row.
local function tried(self, best, name)
  local mean, values = {}, {}
  for _, row in ipairs(self) do
    local value, same = row.choice[name], true
    for _, other in ipairs(self.names) do
      local a, b = row.choice[other], best.choice[other]
      if type(a) ~= "number" or type(b) ~= "number" then same = same and a == b end
    end
    if same and type(value) == "number" then
      if mean[value] == nil then values[#values + 1] = value end
      if mean[value] == nil or self:better(row.mean, mean[value]) then
        mean[value] = row.mean
      end
    end
  end
  table.sort(values)
  return values, mean
end

--- search_table.find_edge(cells, best): sets cells.edge, a list of { option, value, side =
--- "smallest" | "largest" }: options with three values or more whose best value is at an end of
--- their range and is strictly better than all others.
function search_table.find_edge(cells, best)
  cells.edge = {}
  for _, name in ipairs(cells.names) do
    local value = best.choice[name]
    local values, mean = tried(cells, best, name)
    local side = #values >= 3 and (value == values[1] and "smallest" or value == values[#values]
      and "largest")
    for _, other in ipairs(side and values or {}) do
      if other ~= value and mean[other] == mean[value] then side = nil end
    end
    if side then cells.edge[#cells.edge + 1] = { option = name, value = value, side = side } end
  end
end

--- search_table.new(runs, criterion): an empty table with the columns of these runs.
function search_table.new(runs, criterion)
  local cells, seen = setmetatable({ names = {}, score = criterion.name,
    larger = criterion.larger or false }, Table), {}
  local function add(name)
    if not seen[name] then cells.names[#cells.names + 1] = name end
    seen[name] = true
  end
  for _, run in ipairs(runs) do
    local chosen = keys.sorted(run.stages, function(a, b)
      return tonumber(a:match("%d+")) < tonumber(b:match("%d+"))
    end)
    for _, name in ipairs(chosen) do add(name) end
    for _, one in ipairs(recipe.searched(run.pipeline)) do add(one.path) end
  end
  return cells
end

local Choice = { __name = "choice", __tostring = function(self)
  local parts = {}
  for name, value in pairs(self) do parts[#parts + 1] = name .. " = " .. options.show(value) end
  table.sort(parts)
  return table.concat(parts, ", ")
end }

--- search_table.choice(choice): a copy of the chosen options, by name, that prints as they do.
function search_table.choice(choice)
  local copy = {}
  for name, value in pairs(choice) do copy[name] = value end
  return setmetatable(copy, Choice)
end

return search_table
