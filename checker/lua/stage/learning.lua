--- Tests of what row stages learn: from all rows, whatever the threads, the blocks and the source;
--- from few and from strange rows; and as arrays of a saved model.
local blocks = require "scullery_checker.blocks"
local choices = require "scullery_checker.choices"
local core = require "scullery_checker.core"
local rows = require "scullery_checker.stage.rows"

local N <const> = 2500 -- more than a block of a walk

local function flags(t, stage) return core.stage_flags(t:instance(stage)) end

local function learns(t, stage)
  local known = flags(t, stage)
  return known.simple or known.fits
end

-- f(stage) for each variant that learns; skips a stage that learns nothing.
local function each_learning(t, f)
  local any = false
  for stage in t:variants() do
    if learns(t, stage) then
      any = true
      f(stage)
    end
  end
  if not any then t:skip("it learns nothing from rows") end
end

local function reversed(M)
  local out = M:copy()
  for i = 1, M:rows() do
    for j = 1, M:cols() do out:set(i, j, M:get(M:rows() + 1 - i, j)) end
  end
  return out
end

-- Fails where what it reports of these rows and of the same in another way differs by a share.
local function expect_reports(t, stage, one, other, allowed, what)
  local function reports(of)
    local ok, _, told = pcall(core.fit_stage, t:instance(stage), core.source(of.X, of.y), {}, nil,
      of.weights)
    return ok and told or {}
  end
  local want, made = reports(one), reports(other)
  for name, M in pairs(want) do
    t:expect(made[name], "%s: '%s' is not reported", what, name)
    rows.expect_near(t, made[name]:abs(), M:abs(), allowed * rows.spread(M), ("%s, what it \z
      reports as '%s'"):format(what, name))
  end
end

-- A sample is one of all rows: of those in reverse order it teaches about the same.
local SAMPLE <const> = 200

local function check_sample(t)
  local X, y = rows.random(t, N, 4)
  local some = X:slice(1, 60)
  for _, option in ipairs(t.subject.info.options) do
    local default = tonumber(option.default)
    local ok, stage = pcall(t.subject.make, t.subject, { [option.name] = SAMPLE })
    if ok and option.takes_integer and default and default > SAMPLE and option.name ~= "seed" then
      local began = os.clock() -- of the processor, whatever else runs
      local made, want = pcall(function()
        return rows.through(rows.fit(t, stage, X, y), some)
      end)
      if made and learns(t, stage) and os.clock() - began < 0.3 then
        local other = rows.through(rows.fit(t, stage, reversed(X), reversed(y)), some)
        local off = (other - want):abs():max() / rows.spread(want)
        t:expect(off < 0.35, "%s = %d: 2500 rows in reverse order teach something else, by %.3g: \z
          its sample is one of some rows", option.name, SAMPLE, off)
      end
    end
  end
end

-- A stage that learns from a sample may differ a little, which is a warning; one that forgets
-- blocks differs much, as the rows have a trend.
local function check_all_rows(t)
  local X, y = rows.random(t, N, 4)
  local back, back_y, some = reversed(X), reversed(y), X:slice(1, 60)
  each_learning(t, function(stage)
    local made = rows.try(t, "2500 rows", function()
      return rows.through(rows.fit(t, stage, X, y), some)
    end)
    if not made then return end
    local other = rows.through(rows.fit(t, stage, back, back_y), some)
    rows.expect_near(t, other, made, 0.02 * rows.spread(made),
      "fitted to 2500 rows in reverse order")
    if (other - made):abs():max() > 1e-6 * rows.spread(made) then
      t:warn("what it learns depends on the order of 2500 rows")
    end
    expect_reports(t, stage, { X = X, y = y }, { X = back, y = back_y }, 0.02,
      "2500 rows in reverse order")
  end)
  check_sample(t)
end

local function has_seed(t)
  for _, option in ipairs(t.subject.info.options) do
    if option.name == "seed" then return true end
  end
  return false
end

-- A row far out has the same share of what is learnt wherever it stands, in each of these places.
-- A stage with a seed warns: its sample of the rows may miss it.
local FEW <const> = { 10, 2048, 2500 }
local PLACES <const> = { 10, 1, 2, 64, 100, 128, 255, 256, 257, 512, 1000, 1024, 2048, 2499, 2500 }

local function check_places(t)
  local X, y = rows.random(t, N, 4)
  local some = X:slice(1, 60):copy()
  for j = 1, 4 do
    for i = 1, N do X:set(i, j, X:get(i, j) / 2) end
    X:set(10, j, 9 + j)
  end
  local slow = false
  each_learning(t, function(stage)
    if slow then return end -- one variant of it
    local began = os.clock() -- of the processor, whatever else runs
    rows.try(t, "2500 rows", function() return rows.fit(t, stage, X, y) end)
    slow = os.clock() - began > 0.2
    local want, warned
    for _, place in ipairs(slow and FEW or PLACES) do
      local order = {}
      for i = 1, N do order[i] = i end
      order[10], order[place] = place, 10
      local made = rows.try(t, "2500 rows", function()
        return rows.through(rows.fit(t, stage, X:select(order), y:select(order)), some)
      end)
      if not made then return end
      want = want or made
      local off = (made - want):abs():max() / rows.spread(want)
      t:expect(off <= 0.02 or has_seed(t), "a row far out changes place with row %d of 2500, and \z
        what is learnt changes by %.3g", place, off)
      warned = warned or off > 1e-6
    end
    if warned then t:warn("what it learns depends on where a row far out stands") end
  end)
end

-- Sparse rows that store their zeros.
local function with_zeros(X)
  local starts, indices, values = { 0 }, {}, {}
  for i = 1, X:rows() do
    for j = 1, X:cols() do
      indices[#indices + 1], values[#values + 1] = j - 1, X:get(i, j)
    end
    starts[i + 1] = #values
  end
  return require("scullery").matrix.csr{ columns = X:cols(), starts = starts, indices = indices,
    values = values }
end

-- Sparse rows are the same rows: learnt from, and made.
local function check_sparse(t)
  local X, y = rows.random(t, 300, 6)
  local thin = X:map(function(x) return math.abs(x) < 0.7 and 0 or x end)
  each_learning(t, function(stage)
    for _, of in ipairs{ thin, thin * -1, thin:abs() } do
      local dense = rows.try(t, "rows with zeros", function()
        return rows.through(rows.fit(t, stage, of, y), of)
      end)
      for k, sparse in ipairs(dense and { blocks.csr(of), with_zeros(of) } or {}) do
        local made = rows.through(core.fit_stage(t:instance(stage), core.source(sparse, y), {}, nil,
          nil, k > 1 and 64 or nil), of)
        rows.expect_near(t, made, dense, 1e-6 * rows.spread(dense),
          "learnt from sparse rows, against the same with their zeros")
      end
    end
  end)
end

-- A source that is read in order, as a file is.
local function stream(X, y)
  return core.generator(X:rows(), X:cols(), 1, function(first, count)
    return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
  end)
end

local function check_threads(t)
  local X, y = rows.random(t, N, 5)
  local before, some = core.threads(), X:slice(1, 60)
  each_learning(t, function(stage)
    local want
    for _, threads in ipairs{ 1, 4 } do
      core.threads(threads)
      local ok, made = pcall(function() return rows.through(rows.fit(t, stage, X, y), some) end)
      core.threads(before)
      if not ok then error(made, 0) end
      want = want or made
      blocks.expect_same(t, made, want, "fitted on 4 threads, against 1")
    end
    local made = core.fit_stage(t:instance(stage), stream(X, y), {})
    blocks.expect_same(t, rows.through(made, some), want, "fitted to rows that are read in order")
    for _, size in ipairs{ { 40, 9 }, { 40, 60 } } do
      local few, values = rows.random(t, size[1], size[2], 9)
      want = rows.through(rows.fit(t, stage, few, values), few)
      made = core.fit_stage(t:instance(stage), core.source(few, values), {}, nil, nil, 16)
      rows.expect_near(t, rows.through(made, few), want, 1e-6 * rows.spread(want),
        ("fitted to %d rows of %d columns in blocks of 16"):format(size[1], size[2]))
    end
  end)
end

-- ------------ the ends

local MANY <const> = 4000 -- rows: ends of a share of 1/1000 hold several

-- The numbers of a column by the order of another: a list, turned to rise; nil where it does not
-- rise or fall with it.
local function by_order(values, order)
  local list, n = {}, #order
  for k, i in ipairs(order) do list[k] = values:get(i, 1) end
  if list[1] > list[n] then
    for k = 1, n // 2 do list[k], list[n + 1 - k] = list[n + 1 - k], list[k] end
  end
  for k = 2, n do if list[k] < list[k - 1] then return nil end end
  return list
end

-- Different numbers in the middle that stay different do so at the ends too, unless an option may
-- say where they are cut.
local function check_ends(t)
  for _, option in ipairs(choices.numeric(t.subject.info)) do
    if option.takes_number then t:skip("its option '%s' may say where ends are", option.name) end
  end
  local X, y = t:random(MANY, 2, 4), t:random(MANY, 1, 5)
  local order = {}
  for i = 1, MANY do order[i] = i end
  table.sort(order, function(a, b) return X:get(a, 1) < X:get(b, 1) end)
  local began = os.clock() -- of the processor: a slow stage is tried with its defaults alone
  each_learning(t, function(stage)
    local slow = os.clock() - began > 0.3
    local made = not slow and rows.try(t, "4000 rows", function()
      return rows.through(rows.fit(t, stage, X, y), X)
    end)
    local list = made and by_order(made, order)
    if not list then return end
    for k = MANY // 4, 3 * MANY // 4 do
      if list[k] == list[k + 1] then return end
    end
    for _, place in ipairs{ 1, MANY - 1 } do
      if list[place] == list[place + 1] then
        t:warn("of 4000 different numbers of column 1 those at an end become one, %.9g, and those \z
          in the middle stay different", list[place])
      end
    end
  end)
end

-- ------------ weights

-- The rows of X of which keep(i) says how often they come.
local function repeated(M, times)
  local list = {}
  for i = 1, M:rows() do
    for _ = 1, times(i) do
      local row = {}
      for j = 1, M:cols() do row[j] = M:get(i, j) end
      list[#list + 1] = row
    end
  end
  return core.matrix(list)
end

-- What is learnt from each of three targets is what is learnt from them in another order: no
-- number that comes of one of them is lost. A stage that says so may take the first one alone, and
-- the signs of axes may depend on the order.
local function check_each_target(t, stage, X, three)
  local function numbers(Y)
    local list, M = {}, rows.through(rows.fit(t, stage, X, Y), X:slice(1, 40))
    for i = 1, M:rows() do
      for j = 1, M:cols() do list[#list + 1] = M:get(i, j) end
    end
    table.sort(list)
    return list, rows.spread(M)
  end
  local want, spread = numbers(three)
  for _, order in ipairs{ { 3, 1, 2 }, { 2, 1, 3 } } do
    local Y = core.hcat(three:column(order[1]), three:column(order[2]), three:column(order[3]))
    for k, value in ipairs((numbers(Y))) do
      if math.abs(value - want[k]) > 0.1 * spread then
        t:warn("the numbers that it makes are others where three targets change places: %.9g in \z
          place of %.9g", value, want[k])
      end
    end
  end
end

local function check_weights(t)
  local X, y = rows.random(t, 300, 4)
  local three = core.hcat(y, X:column(2):mul(y), y:map(math.cos))
  local weights = core.zeros(300, 1)
  local function times(i) return i % 3 end
  for i = 1, 300 do weights:set(i, 1, times(i)) end
  local any = false
  for stage in t:variants() do
    if flags(t, stage).targets then
      any = true
      for _, targets in ipairs{ y, three } do
        local made = rows.through(rows.fit(t, stage, X, targets, weights), X)
        local want = rows.through(rows.fit(t, stage, repeated(X, times),
          repeated(targets, times)), X)
        -- systems that are nearly singular magnify the rounding of other sums
        rows.expect_near(t, made, want, 1e-6 * rows.spread(want),
          "rows of weight 0, 1 and 2, against rows that come so often")
        expect_reports(t, stage, { X = X, y = targets, weights = weights }, {
          X = repeated(X, times), y = repeated(targets, times) }, 1e-6, "rows of weight 0, 1 and 2")
      end
      -- what is chosen among rounds by few random features may change
      if not (has_seed(t) and t.label) then check_each_target(t, stage, X, three) end
      local _, sentence = rows.try(t, "rows without targets", function()
        return core.fit_stage(t:instance(stage), core.source(X), {})
      end)
      t:expect(sentence, "rows without targets are taken")
    end
  end
  if not any then t:skip("it does not learn from targets") end
end

-- ------------ few and strange rows

-- Fits the stage and sends the rows through it: every number is finite, or a sentence refuses them.
local function expect_finite(t, stage, X, y, what, plain)
  rows.try(t, what, function()
    local made = rows.through(rows.fit(t, stage, X, y), X)
    for i = 1, made:rows() do
      for j = 1, made:cols() do
        local x = made:get(i, j)
        t:expect(x - x == 0, "%s: row %d, column %d becomes %g", what, i, j, x)
      end
    end
    return made
  end, plain)
end

local function filled(n, d, value) return core.zeros(n, d):map(function() return value end) end

local function check_few(t)
  for stage in t:variants() do
    for _, size in ipairs{ { 1, 4 }, { 2, 4 }, { 3, 1 }, { 5, 9 }, { 40, 1 } } do
      local X, y = rows.random(t, size[1], size[2])
      expect_finite(t, stage, X, y, ("%d rows of %d columns"):format(size[1], size[2]), true)
    end
    local X, y = rows.random(t, 50, 4)
    for i = 1, 50 do
      X:set(i, 2, 7.25)
      X:set(i, 3, 1e9 / 3)
    end
    expect_finite(t, stage, X, y, "two constant columns", true)
    expect_finite(t, stage, filled(30, 3, 0), y:slice(1, 30), "rows of zeros", true)
    expect_finite(t, stage, filled(30, 3, -1.7), y:slice(1, 30), "equal rows", true)
    expect_finite(t, stage, X:slice(1, 30), filled(30, 1, 2), "equal targets", true)
  end
end

local function check_strange(t)
  local X, y = rows.random(t, 60, 4)
  for stage in t:variants() do
    for _, factor in ipairs{ 1e-300, 1e-150, 1e-9, 1e9, 1e150, 1e300 } do
      expect_finite(t, stage, X * factor, y, ("rows times %g"):format(factor))
    end
    expect_finite(t, stage, X:map(function(x) return x + 1e9 end), y, "rows plus 1e9")
    local one = X:copy()
    one:set(30, 2, 1e306)
    expect_finite(t, stage, one, y, "a row with 1e306")
  end
end

-- ------------ the arrays

-- The matrix with a column less, or with numbers that nothing else has.
local function narrower(M) return M:slice(1, M:rows(), 1, M:cols() - 1):copy() end

local function check_saved(t)
  local d = 7
  local X, y = rows.random(t, 90, d)
  each_learning(t, function(stage)
    local instance, fitted = t:instance(stage), rows.fit(t, stage, X, y)
    local arrays, want = core.stage_save(fitted).arrays, rows.through(fitted, X)
    local again = core.stage_restore(instance, d, arrays)
    blocks.expect_same(t, rows.through(again, X), want, "made again from its arrays")
    for name, matrix in pairs(arrays) do
      local function with(changed)
        local copy = {}
        for key, value in pairs(arrays) do copy[key] = key == name and changed or value end
        return rows.try(t, "other arrays", function()
          return core.stage_restore(instance, d, copy)
        end)
      end
      if core.is_matrix(matrix) then
        local narrow = matrix:cols() == d and with(narrower(matrix))
        t:expect(not narrow or core.stage_info(narrow).cols_out ~= want:cols(), "array '%s' of a \z
          file has a column less than the rows, and is taken", name)
        local rows_, cols = matrix:rows(), matrix:cols()
        t:expect(not with{ dtype = "int64", shape = { rows_, cols }, bytes = ("\1"):rep(8
          * rows_ * cols) }, "array '%s' of a file has numbers of another type, and is taken", name)
        for _, value in ipairs{ -1e6, 0.5, 1e18 } do
          local damaged = with(filled(rows_, cols, value))
          if damaged then rows.try(t, "other numbers", function()
            return rows.through(damaged, X)
          end) end
        end
      end
    end
  end)
end

return {
  { name = "all-rows", about = "it learns the same from rows in reverse order, up to a sample",
    run = check_all_rows },
  { name = "places", about = "a row far out counts wherever it stands among 2500",
    run = check_places },
  { name = "ends", about = "numbers at the ends of a column stay different as in the middle",
    run = check_ends },
  { name = "sparse", about = "sparse rows teach what the same rows with their zeros do",
    run = check_sparse },
  { name = "threads", about = "it learns the same bits on 1 and 4 threads, and from a stream",
    run = check_threads },
  { name = "weights", about = "a row of weight 2 counts as two rows, one of weight 0 as none",
    run = check_weights },
  { name = "few-rows", about = "few rows, constant columns and equal rows: finite numbers, or a \z
    sentence", run = check_few },
  { name = "strange-rows", about = "tiny, huge and far rows: finite numbers, or a sentence",
    run = check_strange },
  { name = "saved", about = "its arrays make it again; those of other shapes and types are refused",
    run = check_saved },
}
