--- Plans: the memory, the operations and the seconds of a fit before it starts. Sizes come from the
--- engine (core/learn/plan.h), on the pipeline with few parameters and the first rows. Seconds are
--- the time of these rows, in proportion, and operations by the machine's rates.
local automatic = require "scullery.model.automatic"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local density = require "scullery.model.density"
local dataset = require "scullery.data.dataset"
local growing = require "scullery.model.growing"
local instantiation = require "scullery.compose.instantiation"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local rates = require "scullery.model.rates"
local recipe = require "scullery.model.recipe"
local text_table = require "scullery.base.text_table"
local trials = require "scullery.model.trials"
local warn = require "scullery.base.warn"

local plan = {}

local ROWS, FEW = 2048, 1024 -- the first rows, and the parameters of the map that they are tried on

local Plan = objects.class("plan", { example = "plan", list = true,
  fields = "bytes more flops seconds left rows features T note" })

-- ------------ numbers as text

local bytes_text = require("scullery.base.text").bytes

local function seconds_text(seconds)
  if not seconds then return "-" end
  if seconds >= 5400 then return ("%.3g h"):format(seconds / 3600) end
  if seconds >= 90 then return ("%.3g min"):format(seconds / 60) end
  return seconds >= 5e-4 and ("%.2g s"):format(seconds) or "-"
end

plan.bytes_text, plan.seconds_text = bytes_text, seconds_text

local function flops_text(flops) return flops > 0 and ("%.1e"):format(flops) or "-" end

--- A plan prints as a table: what takes memory, operations and time.
function Plan:__tostring()
  local lines = { { "", "memory", "operations", "time", "" } }
  for _, row in ipairs(self) do
    lines[#lines + 1] = { row.what, bytes_text(row.bytes), flops_text(row.flops),
      seconds_text(self.seconds and row.seconds), row.about or "" }
  end
  lines[#lines + 1] = { "at most, in all", bytes_text(self.bytes), flops_text(self.flops),
    seconds_text(self.seconds), ("%s are left"):format(bytes_text(self.left)) }
  local text = table.concat(text_table.lines(lines, { sides = { "left", "right", "right", "right",
    "left" } }), "\n")
  return self.note and text .. "\n" .. self.note or text
end

-- ------------ a small fit to learn from

-- A copy of the pipeline with at most FEW parameters; T: how many it has, 0 where that is not an
-- option of its own. auto: the number in place of T = "auto"; the copy then has at most `rows`, as
-- landmarks are rows. Third result: the most that the copy may have.
local function smaller(p, choices, auto, rows)
  if not p.features then return p, 0, FEW end
  local copy = setmetatable({}, recipe.class)
  for key, value in pairs(p) do copy[key] = value end
  copy.fitted, copy.data = nil, nil
  copy.features = instantiation.resolved(p.features, choices)
  local T, few = copy.features.T, FEW
  if T == "auto" then T, copy.features.T, few = auto, auto, math.min(FEW, rows) end
  if math.type(T) ~= "integer" or T <= few or trials.least_T(p) > few then return copy, 0, few end
  copy.features.T = few
  return copy, T, few
end

-- The seconds to fit the row stages to all rows, and to draw T parameters.
local function fitting_seconds(prepared, rows, T, few)
  local found = { stages = 0, parameters = 0 }
  for _, one in ipairs(prepared.seconds) do
    local drawn = one[1] == "parameters"
    local what, times = drawn and "parameters" or "stages", drawn and (T > 0 and T / few or 1)
    found[what] = found[what] + one[2] * (times or rows)
  end
  return found
end

--- plan.sizes(p, ds, o): the engine's plan (core.plan) of a solve of the pipeline on ds. o.choices:
--- of searched options; o.values: of the path option, or nil; o.folds: the fold of each row, or
--- nil; o.estimate: the risk estimate asked for; o.once: one problem is solved; o.seconds: times
--- are measured; o.codes: as in a plan with the same features, or nil; o.by_sums: the solver gets
--- nothing but sums; o.T: in place of T = "auto", by default the largest that is tried. Besides:
--- fitting, the seconds to fit the row stages and to draw the parameters; dtype of the products;
--- dim, the columns that features read; mapped: whether there are features.
function plan.sizes(p, ds, o)
  local choices = o.choices or {}
  ds = recipe.encoded(p, ds, choices)
  local source = dataset.source_of_targets(ds)
  local small, T, few = smaller(p, choices, o.T or growing.largest((ds:size())), (ds:size()))
  local X, Y = core.first_rows(source, ROWS)
  local sample = core.source(X, Y)
  local prepared = recipe.prepare(small, sample, nil, choices)
  local again = o.seconds and recipe.prepare(small, sample, nil, choices).seconds or {}
  for k, one in ipairs(again) do -- the first run meets cold memory
    prepared.seconds[k][2] = math.min(prepared.seconds[k][2], one[2])
  end
  local solver = recipe.make_solver(small, sample, prepared, choices, o.estimate)
  local given = recipe.training_options(small, ds, o.folds)
  given.once, given.quiet, given.by_sums = o.once, true, o.by_sums
  given.tiles = o.tiles
  local training <close> = core.training(source, prepared.stages, prepared.map, given)
  local t = core.plan(training, component.instance(solver), T, o.values, o.seconds or false,
    o.codes or 0, o.solved or false)
  t.fitting = fitting_seconds(prepared, t.rows / X:rows(), T, few)
  local info = prepared.map and core.map_info(prepared.map)
  t.dtype = info and (info.dtype == "float64" and "float64" or "float32") or p.dtype or "float64"
  t.dim = info and info.dim or select(2, core.source_size(source))
  t.mapped = info ~= nil
  if o.tiles then t.own = t.own / core.process_count() end
  return t
end

-- What is measured once for all plans of a pipeline.
local measured = { "tried", "few", "reading", "making", "adding", "ending", "modelled", "modelling",
  "power" }

--- plan.take_times(t, from): gives sizes the times that were measured for others.
function plan.take_times(t, from)
  local sweeping = t.sweeping > 0 and t.sweeping / math.max(t.tried * t.few, 1) or nil
  for _, name in ipairs(measured) do t[name] = from[name] end
  if sweeping then t.sweeping = sweeping * t.tried * t.few end
end

-- ------------ operations and seconds

-- The seconds of one pass over stored features.
local function pass_seconds(t)
  if t.tried == 0 or t.few == 0 then return 0 end
  return t.sweeping * t.rows / t.tried * t.features / t.few
end

-- Seconds: of reading and staging all rows once, of making their features once, and of their sums.
local function times_of(t)
  if not t.tried or t.tried == 0 then return { reading = 0, making = 0, sums = 0 } end
  local rows, wide = t.rows / t.tried, t.features / math.max(t.few, 1)
  local sums = (t.adding * rows + t.ending) * (t.codes > 0 and 1 or wide ^ 2)
  if t.way == "dense" then sums = t.rows * t.features ^ 2 / rates.of("syrk_" .. t.dtype) end
  if t.way == "whole" or t.way == "bits" then -- products, at most at the rates that are known for
    -- them, and what grows with the features
    local rate = t.way == "bits" and 2 * rates.of "counts" or rates.of "syrk_float32"
    local products = math.min(t.tried * t.few ^ 2 / rate, t.adding)
    sums = products * rows * wide ^ 2 + (t.adding - products) * rows * wide + t.ending * wide ^ 2
  end
  return { reading = t.reading * rows, making = t.making * rows * wide, sums = sums }
end

local function row(what, bytes, flops, seconds, about)
  return { what = what, bytes = bytes, flops = flops, seconds = seconds, about = about }
end

-- How often rows are read, and how often their features are made: once for the sums, once to judge,
-- and once or in each pass. Sums by the levels of columns, and decisions on such rows, make none.
local function times_made(t, o)
  local walks = (t.normal > 0 and not o.shared and 1 or 0)
    + (o.candidates > 0 and not o.shared and 1 or 0)
  local passes = (t.keeps and math.min(t.passes, 1) or t.passes * o.fits)
    + (t.reweighted + (t.dual > 0 and 1 or 0)) * o.fits
  return walks + passes, (t.codes > 0 and 0 or walks) + passes
end

local ONE_FIT = { fits = 1, candidates = 0 }

--- plan.parts(t, seconds, o): the rows of the table for these sizes (plan.sizes). seconds: whether
--- times are told. o.fits: how many fits share the sums, one for each fold; o.shared: the sums
--- exist already; o.candidates: how many fits of a fold are judged in one more pass.
function plan.parts(t, seconds, o)
  o = o or ONE_FIT
  local time = seconds and times_of(t) or { reading = 0, making = 0, sums = 0 }
  local read, made = times_made(t, o)
  local list, n, D = {}, t.rows, t.features
  local function rate(operations, name)
    return seconds and operations > 0 and operations / rates.of(name) or 0
  end
  local function add(...) list[#list + 1] = row(...) end
  add("reading rows", t.walk, 0, time.reading * read)
  if t.fitting.stages > 0 then add("stages", 0, 0, o.shared and 0 or t.fitting.stages) end
  if t.mapped then
    local drawn = o.shared and 0 or t.fitting.parameters
    local drawn_rows = t.keeps and math.min(t.minibatch, 2 * n * D) or t.minibatch
    -- folds share the stored features, those of all rows, from their first step
    local once = t.keeps and t.minibatch > 0 and o.candidates > 0 and n * D
    local numbers = n * D * made + (once and (o.shared and 0 or once) or drawn_rows * o.fits)
    add("features", t.map, 2 * t.dim * numbers,
      drawn + time.making * numbers / math.max(n * D, 1), ("%d"):format(D))
  end
  if t.normal + t.reweighted > 0 then
    local once, width = t.normal > 0 and not o.shared and 1 or 0, t.codes > 0 and t.codes or D
    local weighted = t.reweighted * o.fits * n * D ^ 2 -- as numbers, whatever the features are
    add("sums", t.summing, once * n * width ^ 2 + weighted,
      once * time.sums + rate(weighted, "syrk_" .. t.dtype), t.way)
  end
  if t.gram + t.matrix > 0 then
    local operations = o.shared and 0 or 2 * D ^ 2 * t.dim * t.grams
    local reducing = o.shared and 0 or t.reducing
    add("matrices", t.gram + t.matrix, operations + reducing,
      rate(operations, "gemm_float64") + rate(reducing, "potrf"))
  end
  if t.dual > 0 then
    local operations = n ^ 2 * t.numbers * o.fits
    add("rows times rows", t.multiplying, operations, rate(operations, "syrk_" .. t.dtype))
  end
  if t.passes > 0 or t.kept > 0 then
    add(t.keeps and "stored features" or "passes", t.kept,
      4 * n * t.numbers * math.max(t.columns, 1) * t.passes * o.fits,
      seconds and pass_seconds(t) * t.passes * o.fits or 0, ("%d passes"):format(t.passes))
  end
  add("solver", t.own + t.solution, (t.factorised + t.products + t.steps) * o.fits,
    o.fits * (seconds and t.modelled > 0 and t.modelling * (n / t.modelled) ^ t.power
      or rate(t.factorised, "potrf") + rate(t.products, "gemm_float64")
      + (seconds and t.steps * 1e-9 or 0)))
  if o.candidates > 0 then
    local operations = 2 * n * t.numbers * o.candidates * t.targets
    add("judging", 0, operations, rate(operations, "gemm_" .. t.dtype))
  end
  return list
end

-- Released blocks stay in memory: the engine keeps up to CACHE bytes of large ones for reuse
-- (core/base/pages.h), and malloc keeps the small ones. Matrices that a function of rows made are
-- collected when they take GARBAGE bytes (core/lua/glue.c).
local CACHE, GARBAGE = 96 * 2 ^ 20, 32 * 2 ^ 20

-- The matrices that a function of rows made until they are collected. They lie between the blocks
-- of a walk, whose memory is then not used again.
local function garbage(t) return t.fetched > 0 and math.min(t.fetched, GARBAGE) + t.judging or 0 end

--- plan.peak(t): the most memory at one time, above that of now.
function plan.peak(t)
  local solving = t.sums + t.matrix + t.gram + t.own + t.solution + t.kept + t.walk + t.outer
  local released = math.max(t.summing - t.sums, t.multiplying - t.outer, 0)
  return t.map + garbage(t)
    + math.max(t.summing, t.multiplying, solving + math.min(released, CACHE))
end

-- ------------ plans

-- The seconds to take bytes of memory from the system.
local function touching(bytes)
  local reused = math.min(bytes, rates.BLOCK)
  return reused / rates.of "reused" + (bytes - reused) / rates.of "fresh"
end

--- plan.made(list, t, peak, seconds): the plan with these rows of its table, for sizes t. With
--- seconds, as users ask for it, released memory goes back to the system first; without, work
--- follows at once, which takes this memory again.
function plan.made(list, t, peak, seconds)
  if seconds then list[#list + 1] = row("new memory", 0, 0, touching(peak)) end
  collectgarbage()
  collectgarbage() -- the second round frees objects whose finalizers ran in the first
  local left, now = core.memory_left(seconds)
  local self = setmetatable({ rows = t.rows, features = t.features, left = left,
    bytes = now + peak, more = peak, flops = 0, seconds = seconds and 0 or nil,
    note = t.note ~= "" and t.note or nil }, Plan)
  self[1] = row("in use now", now, 0, 0)
  for _, one in ipairs(list) do
    self[#self + 1] = one
    self.flops = self.flops + one.flops
    if seconds then self.seconds = self.seconds + one.seconds end
  end
  return self
end

-- The choice of options that are not given (automatic.lua), on a sample: four widths, with four
-- values of the regularisation in each of three folds, six in five folds for the best one, and some
-- more values on all rows. The rows and the models of each try are garbage until they are
-- collected.
function plan.choosing(p, t)
  local open = automatic.open(p)
  if not open or not (open.width or open.lambda) then return nil end
  local n, D = math.min(t.rows, 4000), math.min(t.features, 500)
  local widths = open.width and 4 or 1
  local models = open.lambda and 6 * 5 + (open.width and widths * 4 * 3 or 0) or widths
  local each = t.factorised > 0 and D ^ 3 / 3 or 4 * 30 * n * D
  local operations = widths * n * D ^ 2 + models * each
    + (t.rows > n and 4 * t.factorised or 0)
  local left = models * 8.0 * n * (t.dim + t.targets)
  return row("choosing", math.min(left, GARBAGE), operations, operations / rates.of "potrf")
end

local function of(p, ds, seconds, by_sums, tiles)
  local t = plan.sizes(p, ds, { seconds = seconds, solved = seconds, once = true,
    by_sums = by_sums, tiles = tiles })
  local list = plan.parts(t, seconds)
  local choice = seconds and plan.choosing(p, t)
  if choice then table.insert(list, #list, choice) end
  return plan.made(list, t, plan.peak(t) + (choice and choice.bytes or 0), seconds)
end

--- plan.fit(p, ds): the plan of p:fit(ds).
function plan.fit(p, ds) return of(p, ds, true) end

-- ------------ refusal

-- A fit is not refused for less than this share of its plan, which is not exact.
local CERTAIN = 0.85

-- Fits with matrices of fewer bytes are not refused: to ask what is left takes a third of a
-- millisecond.
local SMALL = 1e8
local KEPT = 1e7

-- The largest number of parameters of a pipeline, or of rows where that is not an option: the order
-- of its matrices.
local function order_of(p, ds)
  local T = p.features and p.features.T
  if T == "auto" then return growing.largest((ds:size())) end
  if math.type(T) == "integer" then return T end
  if not choose.is(T) then return ds:size() end
  local most = 0
  for _, value in ipairs(T.values or { T.high or math.huge }) do most = math.max(most, value) end
  return most
end

-- Whether models of the solver may keep rows, as those of nearest neighbours do.
local function keeps_rows(p)
  local known, facts = options.attempt(function()
    return core.solver_facts(component.instance(p.solver))
  end)
  return known and facts.makes_models
end

-- The plan that f() returns, without times, and the memory that is left, if this is less than
-- `share` of what is planned; else nil. Work whose matrices, of the order of T or without features
-- of the rows, for each of `groups` groups of rows, are far smaller is not planned, unless its
-- model may keep more than KEPT bytes of rows. Errors in the rows are left to the work itself.
local function lacking(p, ds, groups, f, share)
  local bytes = 0
  for _, variant in ipairs(p.variants or { { pipeline = p } }) do
    local order = order_of(variant.pipeline, ds)
    bytes = math.max(bytes, 64.0 * groups * order ^ 2)
    if 8.0 * ds:size() * order > KEPT and keeps_rows(variant.pipeline) then bytes = math.huge end
  end
  local left = bytes > SMALL and core.memory_left() or math.huge
  if bytes < left then return nil end
  local planned, made_plan = options.attempt(f)
  if not planned or share * made_plan.more <= left then return nil end
  left = core.memory_left(true)
  if share * made_plan.more > left then return made_plan, left end
end

--- plan.refuse_if(what, p, ds, groups, f): raises an error if `what` ("the fit") needs more memory
--- than is left. f() returns its plan, without times. groups: groups of rows with matrices of their
--- own.
function plan.refuse_if(what, p, ds, groups, f)
  local made_plan, left = lacking(p, ds, groups, f, CERTAIN)
  if not made_plan then return end
  local parts = table.move(made_plan, 2, #made_plan, 1, {})
  table.sort(parts, function(a, b) return a.bytes > b.bytes end)
  local largest = {}
  for k = 1, math.min(2, #parts) do
    largest[k] = ("%s %s"):format(parts[k].what, bytes_text(parts[k].bytes))
  end
  local sparse = not p.features
    and (core.is_texts(ds.X) or core.source_sparse(dataset.source_of_rows(ds)))
  error(("%s needs %s of memory, and %s are left (%s); p:plan(ds) prints all parts%s"):format(
    what, bytes_text(made_plan.more), bytes_text(left), table.concat(largest, ", "), sparse and
    "; solvers that read sparse rows need less: " .. density.solvers() or ""), 0)
end

--- plan.refuse(p, ds, by_sums, tiles): plan.refuse_if for a fit. by_sums: it keeps its sums; tiles:
--- processes share the tiles of its matrices. The growth of T = "auto" ends by itself where memory
--- does.
function plan.refuse(p, ds, by_sums, tiles)
  if p.features and p.features.T == "auto" then return end
  plan.refuse_if("the fit", p, ds, 1, function() return of(p, ds, false, by_sums, tiles) end)
end

--- plan.tiles(p, ds, given): whether processes share the tiles of the matrices of a fit: given
--- (true or false), or nil: where process 0 could not store them all, which a line says. Raises an
--- error where the pipeline cannot.
function plan.tiles(p, ds, given)
  if core.process_count() == 1 or given == false then return false end
  if given == nil then
    if not p.features or automatic.open(p)
      or not core.solver_facts(component.instance(p.solver)).shares_tiles then
      return false
    end
    -- the memory of process 0 decides for all
    local lacks = lacking(p, ds, 1, function() return of(p, ds, false) end, 1) ~= nil
    if core.process_share("the memory of the fit", tostring(lacks)) == "false" then return false end
    warn(("the matrices of this fit do not fit into the memory of one process: %d processes share \z
      their tiles"):format(core.process_count()))
    return true
  end
  local open = automatic.open(p)
  if open then
    error(("option 'tiles' needs a given %s: what is chosen from the rows needs whole \z
      matrices"):format(open.T and "T" or open.width or open.lambda), 0)
  end
  return true
end

return plan
