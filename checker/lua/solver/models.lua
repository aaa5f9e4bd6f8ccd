--- Tests of solvers that make models: what decide reads and writes, saving, loading of what was
--- damaged.
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"
local sorted = require("scullery.base.keys").sorted

-- f(one, case, fit) for the cases of each variant, or those that cases(t, one) gives.
local function each_model(t, f, cases)
  if not problems.facts(t.subject:make()).models then
    t:skip("it makes no models (SCL_ABILITY_MODEL)")
  end
  for one in problems.variants(t) do
    for _, case in ipairs(cases and cases(t, one) or one.cases) do
      local fit = problems.solved(t, one.component, case.problem, case.label)
      f(one, case, fit)
    end
  end
end

-- ------------ decide

-- The scores of rows first .. first+count-1 by one call of decide, from guarded rows to guarded
-- scores with gaps between rows.
local function decide(t, model, X, targets, first, count, dtype, what)
  local d = X:cols()
  local row_stride, stride = d + 3, targets + 2
  local rows = { memory = core.guarded(count == 0 and 0 or (count - 1) * row_stride + d, dtype),
    rows = count, cols = d, row_stride = row_stride }
  if count > 0 then core.block_put(rows, X:slice(first, first + count - 1, 1, d)) end
  core.guarded_lock(rows.memory)
  local numbers = count == 0 and 0 or (count - 1) * stride + targets
  local out = { memory = core.guarded(numbers, "float64"), rows = count, cols = targets,
    row_stride = stride }
  core.model_decide(model, rows, out.memory, stride)
  local gaps = core.block_gaps(out)
  t:expect(gaps == 0, "%s: decide wrote outside of its scores, %d bytes between rows", what, gaps)
  return core.block_get(out)
end

-- Many rows, columns and targets, rows far from 0, all rounds: scores of some alone, and of a model
-- loaded again.
local function decides_many(t)
  local hasty = t.subject:variants()[1].component
  for _, given in ipairs{ { n = 120, d = 90 }, { n = 150, d = 4, targets = 12 },
    { n = 150, d = 4, classes = 12 }, { n = 120, d = 4, far = 1e4 }, { n = 60, d = 3, all = true },
    { n = 60, d = 3, classes = 2, all = true } } do
    local component = given.all and t.subject:make{} or hasty
    local problem, far = problems.make(t, given), given.far or 0
    problem.X, problem.Z = problem.X + far, t:random(300, given.d, 9) + far
    local told = problems.solve(component, problem)
    local fit = told.status == "ok" and told.fits[1]
    if fit and fit.model then
      local c, what = fit.predictions:cols(), ("%d columns, %d targets"):format(given.d,
        problem.Y:cols())
      for _, part in ipairs{ { 1, 5 }, { 63, 70 }, { 255, 260 }, { 299, 300 } } do
        local got = decide(t, fit.model, problem.Z, c, part[1], part[2] - part[1] + 1, "float64",
          what)
        problems.same(t, decide(t, fit.model, problem.Z, c, 1, 300, "float64", what):slice(part[1],
          part[2]), got, 1e-12, "%s: rows %d to %d of 300, and these alone", what, part[1], part[2])
      end
      local model = core.watched_load(problems.instance(component), core.model_save(fit.model))
      problems.same(t, fit.predictions, problems.predict(problem, { model = model }), 1e-12,
        "%s: saved and loaded", what)
      -- each column that the model was fitted with may matter
      local moved = problem.Z:copy()
      for i = 1, given.d > 64 and 300 or 0 do
        for j = 65, given.d do moved:set(i, j, moved:get(i, j) * 3 + 5) end
      end
      if given.d > 64 and problems.apart(decide(t, fit.model, moved, c, 1, 300, "float64", what),
        fit.predictions) == 0 then
        t:warn("%s: columns from 64 on change no score", what)
      end
    end
  end
end

local function decides(t)
  each_model(t, function(one, case, fit)
    local X, c = case.problem.Z, fit.predictions:cols()
    if case.problem.T then t:skip("it takes features of a map alone") end
    decide(t, fit.model, X, c, 1, 0, "float64", case.label .. ", no rows")
    for _, size in ipairs{ 25, 17, 1 } do
      for first = 1, 25, size do
        local count = math.min(size, 26 - first)
        local what = ("%s, rows %d to %d of 25"):format(case.label, first, first + count - 1)
        local got = decide(t, fit.model, X, c, first, count, "float64", what)
        problems.same(t, fit.predictions:slice(first, first + count - 1, 1, c), got, 1e-9,
          "%s, all rows and these alone", what)
      end
    end
    local narrow = decide(t, fit.model, X, c, 1, 25, "float32", case.label .. " in float32")
    if problems.facts(one.component).float32 then
      problems.same(t, fit.predictions, narrow, 1e-3, "%s, rows in float64 and float32", case.label)
    end
  end)
  decides_many(t)
end

-- ------------ save and load

local function restored(t, one, saved, what)
  local ok, model = pcall(core.watched_load, problems.instance(one.component), saved)
  t:expect(ok, "%s: what it saved is refused: %s", what, tostring(model))
  return model
end

local function same_arrays(t, a, b, what)
  for name, array in pairs(a.arrays) do
    local other = b.arrays[name]
    t:expect(other, "%s: array \"%s\" is missing when the model is saved again", what, name)
    t:expect(array.bytes == other.bytes and array.dtype == other.dtype,
      "%s: array \"%s\" is another one when the model is saved again", what, name)
  end
end

-- All cases, with row weights where it takes them.
local function weighted(t, one)
  local list = problems.all_cases(t, one)
  for k, case in ipairs(list) do
    local problem = problems.with(case.problem, { weights = t:random(120, 1, 17):map(math.exp) })
    if not case.problem.weights and problems.solve(one.hasty, problem).status == "ok" then
      list[k] = { problem = problem, label = case.label .. ", weights" }
    end
  end
  return list
end

local function saves(t)
  each_model(t, function(one, case, fit)
    local saved = core.model_save(fit.model)
    t:expect(next(saved.arrays), "%s: it saves no array", case.label)
    local model = restored(t, one, saved, case.label)
    local problem = case.problem
    local got = problems.predict(problem, { model = model })
    problems.same(t, fit.predictions, got, 1e-12, "%s: saved and loaded", case.label)
    same_arrays(t, saved, core.model_save(model), case.label)
  end, weighted)
end

-- ------------ damaged arrays

local formats = { float64 = "d", float32 = "f", int32 = "i4", int64 = "i8" }

-- The array with number k (from 1) replaced.
local function with_number(array, k, value)
  local size = string.packsize(formats[array.dtype])
  if array.dtype:find("int") and (value ~= value or math.abs(value) >= 2 ^ 31) then
    value = array.dtype == "int32" and math.maxinteger >> 32 or math.maxinteger
  end
  if array.dtype:find("int") then value = math.tointeger(value) or 0 end
  return { dtype = array.dtype, shape = array.shape, bytes = array.bytes:sub(1, (k - 1) * size)
    .. string.pack(formats[array.dtype], value) .. array.bytes:sub(k * size + 1) }
end

-- The array with another size along a dimension; numbers are cut off, or zeros added.
local function resized(array, dimension, size)
  local shape, count = { table.unpack(array.shape) }, 1
  shape[dimension] = size
  for _, each in ipairs(shape) do count = count * each end
  local bytes = count * string.packsize(formats[array.dtype])
  return { dtype = array.dtype, shape = shape,
    bytes = array.bytes:sub(1, bytes) .. ("\0"):rep(bytes - #array.bytes) }
end

local function with_array(saved, name, array)
  local arrays = {}
  for key, value in pairs(saved.arrays) do arrays[key] = value end
  arrays[name] = array
  return problems.with(saved, { arrays = arrays })
end

-- The arrays to damage: all of them, or of very many the first and the last ones.
local function some_names(arrays)
  local EACH <const> = 8
  local names = sorted(arrays)
  if #names <= 2 * EACH then return names end
  return table.move(names, #names - EACH + 1, #names, EACH + 1, { table.unpack(names, 1, EACH) })
end

-- All that may happen to a saved model: f(what, damaged).
local function each_damage(saved, f)
  for _, name in ipairs(some_names(saved.arrays)) do
    local array = saved.arrays[name]
    f(("without array \"%s\""):format(name), with_array(saved, name, nil), true)
    f(("array \"%s\" of one dimension more"):format(name), with_array(saved, name, {
      dtype = array.dtype, shape = { 1, table.unpack(array.shape) }, bytes = array.bytes }),
      #array.shape < 4)
    for dimension, size in ipairs(array.shape) do
      for _, other in ipairs{ 0, size - 1, size + 1, 2 * size + 3 } do
        if other >= 0 and other ~= size then
          f(("array \"%s\" with size %d in place of %d along dimension %d"):format(name, other,
            size, dimension), with_array(saved, name, resized(array, dimension, other)))
        end
      end
    end
    local count = #array.bytes // string.packsize(formats[array.dtype])
    for _, k in ipairs{ 1, count // 2, count } do
      for _, value in ipairs{ 0 / 0, math.huge, -1.0, 0.0, 1e300, 2.0 ^ 31 } do
        if k >= 1 then
          f(("array \"%s\" with number %d set to %g"):format(name, k, value),
            with_array(saved, name, with_number(array, k, value)))
        end
      end
    end
  end
  for _, change in ipairs{ { "features", 1 }, { "features", -1 }, { "targets", 1 } } do
    local key, by = change[1], change[2]
    f(("for %d %s in place of %d"):format(saved[key] + by, key, saved[key]),
      problems.with(saved, { [key] = saved[key] + by }))
  end
end

local function rows_of(problem, d)
  local X = core.zeros(problem.Z:rows(), d)
  for i = 1, X:rows() do
    for j = 1, d do X:set(i, j, problem.Z:get(i, (j - 1) % problem.Z:cols() + 1)) end
  end
  return X
end

local function damaged(t)
  each_model(t, function(one, case, fit)
    if case.problem.T then t:skip("it takes features of a map alone") end
    local refused, loaded = 0, 0
    each_damage(core.model_save(fit.model), function(what, saved, must)
      local ok, model = pcall(core.watched_load, problems.instance(one.component), saved)
      local message = not ok and tostring(model) or ""
      if not ok then
        refused = refused + 1
        t:expect(not message:find("no sentence", 1, true), "%s, %s: %s", case.label, what, message)
        return
      end
      loaded = loaded + 1
      t:expect(not must, "%s, %s: it is loaded all the same", case.label, what)
      -- it may predict anything, or refuse to; it may not crash
      local decided, raised = pcall(decide, t, model, rows_of(case.problem, saved.features),
        saved.targets, 1, 25, "float64", case.label .. ", " .. what)
      if not decided and type(raised) == "table" then error(raised, 0) end -- a finding of this test
    end)
    t:note("%d damaged models refused, %d loaded and run", refused, loaded)
  end)
end

return {
  { name = "decide", about = "any rows alone have the scores of all; nothing else is touched",
    run = decides },
  { name = "save", about = "a model that is saved and loaded gives the same scores", run = saves },
  { name = "damaged", about = "damaged arrays are refused, or load to a model that does not crash",
    run = damaged, seconds = 60 },
}
