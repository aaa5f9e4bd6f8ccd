--- Tests of the slots of metrics: rows in guarded memory, the simple form, standard errors.
local blocks = require "scullery_checker.blocks"
local cases = require "scullery_checker.metric.cases"
local core = require "scullery_checker.core"
local statistics = require "scullery_checker.statistics"

-- Weights of the rows of a case in guarded memory.
local function weights_of(case, layout)
  return blocks.from(case.w, 1, "float64", { at_start = layout and layout.at_start }).memory
end

-- ------------ memory

local function check_guard_pages(t)
  cases.each(t, function(component, case)
    local instance = t:instance(component)
    local want, stderr = cases.value(component, case)
    for _, layout in ipairs(blocks.layouts) do
      local p = blocks.from(case.p, 1, "float64", layout)
      local y = blocks.from(case.y, 1, "float64", layout)
      local v, e = core.metric_measure(instance, p, y, weights_of(case, layout), case.classes)
      t:expect(v == want and e == stderr, "%s: it is %.17g, and %.17g in plain memory",
        layout.label, v, want)
      blocks.expect_gaps(t, p, layout.label)
    end
  end, 61)
end

local function check_at_once(t)
  local component = t.subject:make()
  local facts, before = cases.facts(component), core.threads()
  local began, case = os.clock(), cases.new(facts.needs, 300, 2, t.seed)
  cases.value(component, case)
  if os.clock() - began < 0.05 then case = cases.new(facts.needs, 3000, 2, t.seed) end
  core.threads(4)
  local ok, one, other = pcall(core.metric_at_once, t:instance(component), blocks.from(case.p, 1,
    "float64"), blocks.from(case.y, 1, "float64"), weights_of(case), case.classes)
  core.threads(before)
  if not ok then error(one, 0) end
  t:expect(not one, "on several threads at once it is %.17g where it is %.17g alone", other, one)
end

-- ------------ the simple form

local function is_simple(t) return cases.facts(t.subject:make()).form == "simple" end

-- The numbers of the rows, n x 1.
local function rows_of(t, component, case, at_start)
  local n = case.p:rows()
  local out = blocks.new(n, 1, 1, "float64", { at_start = at_start })
  local layout = { at_start = at_start, row_gap = at_start and 3 or 0 }
  core.metric_row(t:instance(component), blocks.from(case.p, 1, "float64", layout),
    blocks.from(case.y, 1, "float64", { at_start = at_start, row_gap = 2 }),
    weights_of(case, layout), case.classes, out.memory)
  return core.block_get(out)
end

local function check_rows(t)
  if not is_simple(t) then t:skip("it has the general form") end
  cases.each(t, function(component, case)
    local whole = rows_of(t, component, case)
    for i = 1, whole:rows() do
      t:expect(whole:get(i, 1) == whole:get(i, 1), "the number of row %d is not written, or NaN", i)
    end
    for _, range in ipairs{ { 1, 1 }, { 41, 41 }, { 2, 18 }, { 30, 61 } } do
      for _, at_start in ipairs{ false, true } do
        local some = {}
        for i = range[1], range[2] do some[#some + 1] = i end
        local made = rows_of(t, component, cases.rows(case, some), at_start)
        for i = 1, #some do
          t:expect(made:get(i, 1) == whole:get(some[i], 1), "row %d has %.17g among %d rows, and \z
            %.17g among %d", some[i], made:get(i, 1), #some, whole:get(some[i], 1), whole:rows())
        end
      end
    end
  end, 61)
end

local function check_slope(t)
  if not is_simple(t) then t:skip("it has the general form") end
  local any = false
  cases.each(t, function(component, case)
    local instance, mean = t:instance(component), rows_of(t, component, case):mean()
    for _, m in ipairs{ mean, mean * 1.3, mean * 0.6 } do
      local _, slope = core.metric_finish(instance, m)
      local h = 1e-5 * math.max(math.abs(m), 1e-3)
      local high, low = core.metric_finish(instance, m + h), core.metric_finish(instance, m - h)
      if slope then
        any = true
        local want = (high - low) / (2 * h)
        t:expect(math.abs(slope - want) <= 1e-4 * math.max(math.abs(want), 1e-6), "finish says \z
          the slope %.9g at %g, and differences give %.9g", slope, m, want)
      end
    end
  end)
  if not any then t:skip("it has no finish, or says no slope") end
end

-- ------------ standard errors

local SETS <const>, ROWS <const> = 300, 150

-- Over many sets of rows: the standard deviation of the values against the standard errors that
-- the metric says. Of a standard deviation of 300 numbers that are nearly normal, 4 standard errors
-- are 17 %; the bias of what it says and longer tails take the rest.
local function check_stderr(t)
  local any = false
  for component in t:variants() do
    local facts = cases.facts(component)
    -- of a mean the host computes it
    local first = cases.new(facts.needs, ROWS, cases.counts(facts)[1], t.seed)
    local own = facts.form == "general" and select(2, cases.value(component, first))
      or facts.form == "simple" and core.metric_finish(t:instance(component), 0.5)
    for _, count in ipairs(own and cases.counts(facts) or {}) do
      local values, said = {}, {}
      for s = 1, SETS do
        local case = cases.new(facts.needs, ROWS, count, t.seed * 1024 + 2 * s)
        values[s], said[s] = cases.value(component, case)
      end
      if #said == SETS then
        any = true
        local mean, square = statistics.mean(values), 0
        for _, v in ipairs(values) do square = square + (v - mean) ^ 2 end
        local deviation, stderr = math.sqrt(square / (SETS - 1)), statistics.mean(said)
        t:expect(stderr > 0.75 * deviation and stderr < 1.33 * deviation, "over %d sets of %d \z
          rows it has the standard deviation %.4g, and says the standard error %.4g", SETS, ROWS,
          deviation, stderr)
      end
    end
  end
  if not any then t:skip("it says no standard error: the host estimates it") end
end

return {
  { name = "guard-pages", about = "inputs are only read, in any layout, and nothing beyond them",
    run = check_guard_pages },
  { name = "rows", about = "the number of a row is the same alone and among others",
    run = check_rows },
  { name = "slope", about = "finish says its derivative", run = check_slope },
  { name = "stderr", about = "the standard error is that of values over many sets of rows",
    run = check_stderr },
  { name = "threads", about = "the same bits on 1 and many threads", run = check_at_once },
}
