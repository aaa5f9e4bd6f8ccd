--- p:update(ds, { every =, window = }): a model that learns rows in parts as they come, with the
--- error on each part before it is learnt (drift.lua), and a window of the last rows (window.lua).
--- Each part costs its features, the sums over its rows and over those that leave the window, and
--- one solution (D^3 / 3 operations by ridge).
local changing = require "scullery.model.changing"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local drift = require "scullery.model.drift"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"
local parts = require "scullery.model.sums_parts"
local progress = require "scullery.base.progress"
local sums = require "scullery.model.sums"
local warn = require "scullery.base.warn"
local window = require "scullery.model.window"

local update = {}

local TITLE = "pipeline:update"

local rules = options.declare(TITLE, { again = { type = "boolean", default = false },
  every = { type = "integer", low = 1 }, window = window.rule })

-- ------------ a learner

local Learner = {}
Learner.__index = Learner

-- Raises an error if the model cannot have a window.
local function check_window(p, self, o)
  if type(o.window) == "number" and o.window < o.every then
    error(("%s: option 'window' is %d rows and 'every' %d: a window holds one part or more"):format(
      TITLE, o.window, o.every), 0)
  end
  if sums.exact(p) ~= "rows" then
    error(TITLE .. ": option 'window' takes single rows out, which is exact for whole-number \z
      features only (dtype = \"int16\" or \"int8\") and for those of two values", 0)
  end
  if not core.sums_info(self.handle).printed then
    error(TITLE .. ": option 'window' needs the fingerprints of the rows, which show that what is \z
      taken out is there: fit without fingerprints = false", 0)
  end
end

--- update.open(p, o): a learner for the fitted pipeline p, which keeps its sums. o: every, window,
--- again (see Pipeline:update).
function update.open(p, o)
  local self = changing.kept(p, TITLE)
  local kept, absent = nil, 0
  if o.window then
    check_window(p, self, o)
    kept, absent = window.open(p, self, o.window)
  end
  return setmetatable({ p = p, window = kept, absent = absent, again = o.again, rows = 0 }, Learner)
end

-- The sums { handle, rows } over what leaves the window when the rows ds come; nil for nothing.
-- Also: how many rows of the window, and whether the rows that are not in memory.
local function leaving(self, ds)
  if not self.window then return nil end
  local p, list, old = self.p, self.window:leaving(ds)
  local handle, rows = nil, 0
  if old then handle, rows = core.sums_copy(old.handle), old.rows end
  for _, some in ipairs(list) do
    local one = changing.sums_of(p, p.sums_kept, some, TITLE)
    rows = rows + #some
    if handle then
      local _ <close> = one -- its memory is that of a D x D matrix
      core.sums_join(handle, one, false)
    else
      handle = one
    end
  end
  return handle and { handle = handle, rows = rows }, rows - (old and old.rows or 0), old ~= nil
end

-- Tells once that rows of the model are not in memory.
local function tell_absent(self)
  if self.absent == 0 then return end
  warn(("%d rows of the model are not in memory: they stay until the window is full of new rows, \z
    and are taken out together then"):format(self.absent))
  self.absent = 0
end

-- See Learner:learn.
local function learn(self, ds, part)
  local p, s = self.p, self.p.sums_kept
  local handle <close>, open = changing.sums_after(p, s, ds, TITLE)
  if not self.again then
    changing.check_new(s, handle, part, TITLE)
    self.again = true -- rows that were learnt once may come again in later parts
  end
  if self.window then self.window:check(ds) end
  tell_absent(self)
  local value, stderr = drift.measured(p.fitted, matching.known(ds, p.fitted))
  local taken, left, forgot_old = leaving(self, ds)
  local _ <close> = taken and taken.handle
  changing.change(p, s, { handle = handle, rows = #ds, part = part, open = open }, taken)
  if self.window then
    self.window:push(ds, left, forgot_old)
    self.window:stamp(p)
  end
  self.rows = self.rows + #ds
  return { rows = #ds, last = self.rows, error = value, stderr = stderr,
    time = ds.time and ds.time:get(#ds, 1) or nil }
end

--- learner:learn(ds, part): measures the error on the rows of a data set in memory, then learns
--- them, and takes out what leaves the window. part: { source, from, to }, which rows they are.
--- Returns a row of p.drift. After an error the model is as before this part; the error names the
--- rows, counted over all parts.
function Learner:learn(ds, part)
  local ok, row = pcall(learn, self, ds, part)
  if ok then return row end
  if type(row) ~= "string" then error(row, 0) end
  row = options.plain(row):gsub("^" .. TITLE .. ": ", "")
  error(("%s: in the part of rows %d to %d: %s"):format(TITLE, self.rows + 1, self.rows + #ds, row),
    0)
end

--- learner:learn_next(ds, source): the same for the next part of rows that come one after another
--- and are not kept. source: { rows, cols, sha256 } of the parts before, rows = 0 at first. Second
--- result: that of all parts so far. The sums name the rows as one part, so that their description
--- does not grow.
function Learner:learn_next(ds, source)
  local rows = source.rows + #ds
  local known = { rows = rows, cols = source.cols,
    sha256 = core.digest(source.sha256 .. parts.source(ds).sha256) }
  local row = self:learn(ds, { source = known, from = source.rows + 1, to = rows })
  local s = self.p.sums_kept
  local list = {}
  for _, part in ipairs(s.parts) do
    if part.source.sha256 == known.sha256 then
      part = { source = known, from = 1, to = rows }
    elseif source.rows > 0 and part.source.sha256 == source.sha256 then
      part = nil
    end
    list[#list + 1] = part
  end
  s.parts = list
  collectgarbage() -- the collector counts objects, not the size of matrices
  return row, known
end

-- ------------ data sets

-- Rows `first` to `last` of a data set, in memory. Rows of a stream are read in their order.
local function rows_of(ds, first, last)
  if ds.X then return ds:subset(first, last) end
  local X, y = core.read_rows(ds.source, first, last - first + 1)
  local fields = { X = X, y = y }
  for _, name in ipairs{ "weights", "groups", "time" } do
    fields[name] = ds[name] and ds[name]:slice(first, last)
  end
  local made = dataset.with(ds, fields)
  made.source, made.files = nil, nil
  return made
end

--- learner:feed(ds, every, tell): learns all rows of a data set, in memory or streaming, in parts
--- of `every` rows, the last perhaps shorter. tell(row): called after each part.
function Learner:feed(ds, every, tell)
  if #ds == 0 then error(TITLE .. ": the data set has no rows", 0) end
  local source, n = parts.source(ds), #ds
  local level <close> = progress.level{ name = "update", total = n, unit = "rows" }
  for first = 1, n, every do
    local last = math.min(first + every - 1, n)
    local row = self:learn(rows_of(ds, first, last), { source = source, from = first, to = last })
    level:step(last)
    tell(row)
  end
end

--- update.run(p, ds, given): see Pipeline:update.
function update.run(p, ds, given)
  local o = options.check(TITLE, given or {}, rules, 0)
  if o.every then
    local learner = update.open(p, o)
    local list = drift.new(p.fitted.task, o.window and window.text(o.window))
    p.drift = list
    learner:feed(ds, o.every, function(row) list[#list + 1] = row end)
    return p
  end
  if o.window then
    error(TITLE .. ": option 'window' goes with every = rows, the size of the parts", 0)
  end
  return changing.update(p, ds, o.again)
end

return update
