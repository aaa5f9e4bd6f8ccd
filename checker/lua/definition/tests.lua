--- The test of definitions: what a component computes is what it declares, at random arguments and
--- options, and far from usual.
local blocks = require "scullery_checker.blocks"
local core = require "scullery_checker.core"
local definition = require "scullery_checker.definition"
local draws = require "scullery_checker.definition.draws"
local functions = require "scullery_checker.definition.functions"
local parameters = require "scullery_checker.parameters"
local settings = require "scullery_checker.settings"
local statistics = require "scullery_checker.statistics"

local STAGE <const> = 80 -- the first stream of stages

-- ------------ kinds

-- compare[kind]: { name of the function = f(left, t, component, function of the definition,
-- far) }. left(): whether there is time left. far: how far options are from usual.
local compare = {}

-- {} where phi refuses such numbers.
local function phi_of(one, Z)
  local ok, made = pcall(one.apply, one, Z)
  return ok and made or nil
end

compare.nonlinearity = { code = function(_, t, component, code)
  local one = require("scullery_checker.nonlinearity.phi").new(t, component)
  local words = core.phi_key(one.instance, one.fan_in)
  for of, size in ipairs{ 1, 300, 40000, 1e8 } do -- beyond 8 and 16 bits
    local Z, out = (t:random(9, 9 * one.fan_in, of - 1) * size):map(math.floor), blocks.new(9,
      9 * words, 1, "int32")
    core.phi_categories(one.instance, blocks.from(Z, one.fan_in, "float64"), out)
    local made = core.block_get(out)
    for i, row in ipairs(Z:totable()) do
      for j = 1, 9 do
        local z = {}
        for k = 1, one.fan_in do z[k] = row[(k - 1) * 9 + j] end
        local wanted = code(z)
        wanted = type(wanted) == "table" and wanted or { wanted }
        for k = 1, words do
          t.compared = (t.compared or 0) + 1
          t:expect(made:get(i, (j - 1) * words + k) == wanted[k], "word %d of the category of \z
            whole numbers, %.9g the first, is %d, and %s by its definition", k, z[1],
            made:get(i, (j - 1) * words + k), tostring(wanted[k]))
        end
      end
    end
  end
end, phi = function(left, t, component, phi)
  local one = require("scullery_checker.nonlinearity.phi").new(t, component)
  if one.shape.one_hot then return end
  for of, scale in ipairs{ 1e-3, 1, 20, 700, 1e-12, 1e6 } do
    local cols = of == 2 and 67 or 9
    local Z = one:take(t:random(2, cols * one.fan_in, of) * scale)
    local made = phi_of(one, Z)
    for i = 1, made and 2 or 0 do
      for j = 1, left() and cols or 0 do
        local z = {}
        for k = 1, one.fan_in do z[k] = Z:get(i, (k - 1) * cols + j) end
        local wanted, slack = definition.values(phi, one.fan_in == 1 and not one.takes_all and z[1]
          or z)
        for k, want in ipairs(wanted) do
          definition.expect(t, made:get(i, (k - 1) * cols + j), want, slack[k] + 1e-13
            * math.min(1, 1e3 * scale) + 1e-15 * math.abs(z[1]),
            "feature %d of z = %.9g", k, z[1])
        end
      end
    end
  end
end }

local shapes <const> = { { 6, 3 }, { 5, 7 }, { 2, 1100 }, { 3, 300 }, { 4, 65 }, { 6, 1 } }

local TINY <const> = 1e-13 -- where numbers may be taken for 0

-- The Gram matrix of rows and the rows, as the kernel takes them; nil where it does not.
local function gram_of(t, kernel, X)
  local rows, G
  pcall(t.subject.rows, function(taken)
    local out = parameters.block(X:rows(), X:rows())
    local inside = t.subject.into(core.domain(kernel), taken)
    core.kernel_gram(kernel, parameters.dense(inside), parameters.dense(inside), out)
    rows, G = inside:totable(), core.block_get(out)
  end, X)
  return G, rows
end

-- K(u, u) - 2 K(u, v) + K(v, v) of rows that are nearly the same, where the definition keeps its
-- digits there: it grows as a power of the distance.
local function expect_near(left, t, kernel, K)
  local U, V, NEAR <const> = t:random(4, 3, 30), t:random(4, 3, 31), 1e-8
  local G, rows = gram_of(t, kernel, core.vcat(U, U + V * NEAR, U + V * (2 * NEAR),
    U + V * (4 * NEAR), U + V * (8 * NEAR)))
  local function apart(u, v)
    local a, b, c = K(u, u), K(u, v), K(v, v)
    return a and b and c and a - 2 * b + c
  end
  for i = 1, G and left() and 4 or 0 do
    local sizes = {}
    for k = 1, 4 do sizes[k] = apart(rows[i], rows[i + 4 * k]) or 0 end
    local power = sizes[2] / sizes[1]
    if power > 1 and math.abs(sizes[3] / sizes[2] / power - 1) < 0.02
      and math.abs(sizes[4] / sizes[3] / power - 1) < 0.02 then
      local got = G:get(i, i) - 2 * G:get(i, i + 4) + G:get(i + 4, i + 4)
      local most = math.max(1, G:get(i, i)) -- rounded with the digits that its logarithm has
      definition.expect(t, got, sizes[1], 0.02 * sizes[1] + 1e-14 * most * (10 + math.log(most)),
        "K(u, u) - 2 K(u, v) + K(v, v) of rows %g apart", NEAR)
    end
  end
end

compare.kernel = { K = function(left, t, component, K)
  local kernel = t:instance(component)
  if not core.kernel_spaces(kernel).dense then return end
  local grams = {}
  for of, shape in ipairs(shapes) do
    local n, d = table.unpack(shape)
    for _, scale in ipairs(d == 3 and { 0.03, 1, 5, 80, TINY } or { 1 / math.sqrt(d), 1 }) do
      local G, rows = gram_of(t, kernel, core.vcat(t:random(n, d, of) * scale, core.zeros(1, d)))
      if G then grams[#grams + 1] = { G = G, rows = rows, n = n + 1, d = d, scale = scale } end
    end
  end
  for i = 1, 7 do -- some of each first, as a definition may be slow
    for _, apart in ipairs{ 1, 0, 2 } do
      for _, one in ipairs(grams) do
        local j, G = i + apart, one.G
        if j <= one.n and left() then
          local wanted, slack = definition.number(K, one.rows[i], one.rows[j])
          local size = math.max(G:get(i, i), one.scale == TINY and G:get(j, j) or 1)
          definition.expect(t, G:get(i, j), wanted, slack + 1e-13 * size,
            "K between rows of %d numbers of size %.3g", one.d, one.scale)
        end
      end
    end
  end
  expect_near(left, t, kernel, K)
end }

local function losses(name, with_target)
  return function(left, t, component, f)
    local one = require("scullery_checker.loss.function").new(t, component)
    if name ~= "value" and not one.facts[name] then return end
    for of, y in ipairs(one.targets) do
      local scores = left() and one:scores(y, of + 60) or {}
      local got = with_target and one:all(name, scores, y) or one:call(name, scores)
      for k, score in ipairs(scores) do
        local wanted, slack = definition.number(f, score, with_target and y or nil)
        local size = math.max(1, math.abs(y), math.abs(score))
        definition.expect(t, got[k], wanted, slack + 1e-13 * size,
          "its %s at f = %.9g, y = %.9g", name, score, y)
      end
    end
  end
end

local function range_of(_, t, component, range)
  local facts, wanted = require("scullery_checker.loss.function").new(t, component).facts, range()
  t.compared = (t.compared or 0) + 1
  t:expect(facts.low == wanted[1] and facts.high == wanted[2], "its targets are from %g to %g, \z
    and from %g to %g by its definition", facts.low, facts.high, wanted[1], wanted[2])
end

compare.loss = { range = range_of, l = losses("value", true), mean = losses("mean"),
  probability = losses("probability") }

-- Cases of a metric as rows { f, y, w }, numbers where there is one column, with the number of
-- classes.
local function judged(case)
  local p, y, list = case.p:totable(), case.y:totable(), {}
  for i = 1, #p do
    list[i] = { f = #p[i] == 1 and p[i][1] or p[i], y = #y[i] == 1 and y[i][1] or y[i],
      w = case.w:get(i, 1) }
  end
  list.classes = case.classes
  return list
end

compare.metric = { value = function(left, t, component, value)
  local cases = require "scullery_checker.metric.cases"
  local facts = cases.facts(component)
  for of, count in ipairs(cases.counts(facts)) do
    for _, n in ipairs(left() and { 1, 2, 5, 70 } or {}) do
      for k, scale in ipairs(facts.needs == "values" and { 1, 300, 1 }
        or { 1, 0.01, 12, 100, 1 }) do -- probabilities become tiny, and 0
        local case = cases.new(facts.needs, n, count, t.seed * 64 + of, scale)
        if scale == 1 and k > 1 then cases.tie(case, facts) end
        if n > 2 then case.w = core.rand{ n, 1, seed = t.seed + of } * scale end
        if n == 5 and case.classes > 0 then case.y = case.y * 0 + (count - 1) * (of % 2) end
        local list = judged(case)
        local wanted = value(list)
        local ok, got = pcall(cases.value, component, case)
        if wanted and (ok or wanted == wanted) then -- NaN: it is not defined, and may be refused
          t:expect(ok, "%d rows of %d: %s, and its definition gives %.12g", n, count,
            ok and "" or tostring(got), wanted)
          definition.expect(t, got, wanted, 1e-9 * math.abs(wanted) + 1e-12, "for %d rows of %d it",
            n, count)
        end
      end
    end
  end
end }

-- ------------ laws

-- The distribution function of a density, which need not be normalised: by the trapezoidal rule in
-- s, w = centre + unit sinh s.
local NODES <const>, REACH <const> = 6000, 36
local sinhs, coshs = {}, {} -- of s at the nodes

local function cdf_of(density, centre, unit)
  for k = #sinhs + 1, NODES do
    local large = math.exp((2 * k / NODES - 1) * REACH)
    sinhs[k], coshs[k] = (large - 1 / large) / 2, (large + 1 / large) / 2
  end
  local sums, total, last = { [0] = 0 }, 0, 0
  for k = 1, NODES do
    local value = density(centre + unit * sinhs[k]) * coshs[k]
    value = value == value and value < math.huge and value or 0
    total = total + (last + value) / 2
    sums[k], last = total, value
  end
  return function(w)
    local x = (w - centre) / unit
    local s = math.log(math.abs(x) + math.sqrt(x * x + 1)) * (x < 0 and -1 or 1)
    local place = (s / REACH + 1) / 2 * NODES
    local k = math.max(0, math.min(NODES - 1, math.floor(place)))
    return (sums[k] + (math.max(0, math.min(1, place - k))) * (sums[k + 1] - sums[k])) / total
  end
end

-- The least distance of the numbers from the density, and where: with nodes that are close to each
-- other at 0, where densities may have no bound, and at the median, for narrow ones far from 0.
local function distance_of(column, list, density)
  local gap, at, doubt
  for _, centre in ipairs{ 0, list[#list // 2] } do
    local size = core.quartiles((column - centre):abs()):get(2, 1)
    local cdf = cdf_of(density, centre, math.max(size, 1e-300))
    local here, place = statistics.distance(list, cdf)
    if not at or here < gap or gap ~= gap then
      gap, at = here, place
      doubt = function() -- by other nodes: where a density has no bound, they give other shares
        local most = 0
        for _, factor in ipairs{ 0.995, 1.004, 1.009 } do
          local again = cdf_of(density, centre, math.max(size, 1e-300) * factor)
          most = math.max(most, math.abs(again(place) - cdf(place)))
        end
        return most
      end
    end
  end
  return gap, at, doubt
end

local DRAWS <const> = 1 << 13

-- The dense draws of a sampler, in 3 columns; nil where it has none, or learns them.
local function draws_of(t, component, count)
  local draw, layout = parameters.draw(t, component, 3, count or DRAWS)
  if not draw or layout.space ~= "dense" or draw.state or t.subject.learns(component) then
    return nil
  end
  return parameters.rows(draw, parameters.drawn(draw, layout, 0, draw.total))
end

local function numbers_of(rows, j)
  return rows:column(j):t():totable()[1]
end

-- How many of many draws of column 0 are far out on either side, by the density; list: some
-- draws, in ascending order.
local function expect_tails(t, component, density, list)
  local rows = draws_of(t, component, 1 << 17)
  local middle, n, all = list[#list // 2], rows:rows(), numbers_of(rows, 1)
  local seen, different = {}, 0
  for _, w in ipairs(all) do
    if not seen[w] then seen[w], different = true, different + 1 end
  end
  t:expect(different > n / 2, "%d of %d numbers of a density are different", different, n)
  local unit = math.max(list[3 * #list // 4] - middle, 1e-300)
  local function first(w) return density(w, 1) end
  local cdf, again = cdf_of(first, middle, unit), cdf_of(first, middle, 1.006 * unit)
  for _, share in ipairs{ 0.0005, 0.9995 } do
    local low, high, below = -30, 30, 0
    for _ = 1, 60 do
      local s = (low + high) / 2
      if cdf(middle + unit * (math.exp(s) - math.exp(-s)) / 2) < share then low = s
      else high = s end
    end
    local place = middle + unit * (math.exp(low) - math.exp(-low)) / 2
    for _, w in ipairs(all) do below = below + (w < place and 1 or 0) end
    local known = math.abs(cdf(place) - again(place)) < 2e-5 -- at a jump it is not
    t.compared = (t.compared or 0) + 1
    t:expect(not known or math.abs(below - n * share) <= 7 * math.sqrt(n * 0.0005) + 1,
      "%d of %d numbers are below %.6g, and %.0f by the density of its definition", below, n, place,
      n * share)
  end
end

-- By column, but for the characteristic function far out too, and what draws.lua has.
compare.sampler = { characteristic = function(left, t, component, characteristic)
  for k, case in ipairs{ { 0.3, 2 }, { 0.3, 3 }, { 40, 3 }, { 3, 2 }, { 1e-3, 2 }, { 0.05, 2 },
    { 40, 2 }, { 120, 2 }, { 120, 3 }, { 1e3, 3 }, { 1e6, 3 } } do
    local size, dim = case[1], case[2]
    local draw = parameters.draw(t, component, dim, 8)
      or parameters.draw(t, component, dim == 2 and 4 or 16, 8) -- of images
    if not draw or not core.sampler_tells(draw.sampler).characteristic then return end
    local n, began = size > 120 and 1 or k < 9 and 8 or 2, os.clock()
    local X, out = t:random(n, draw.dim, k) * size, parameters.block(n, 1)
    core.sampler_characteristic(draw, parameters.block_of(X), out.memory)
    if os.clock() - began > 3e-3 and k > 8 then return end -- a quadrature, slower further out
    for i, x in ipairs(left() and X:totable() or {}) do
      local wanted, slack = definition.number(characteristic, x)
      -- near 1 it is known better than by a share of 10^-6
      slack = size < 1 and wanted and math.min(slack, 1e-8) or slack
      definition.expect(t, core.block_get(out):get(i, 1), wanted, slack + 1e-9,
        "the characteristic function at a row of size %g", size)
    end
  end
end, density = function(_, t, component, density, far)
  local rows = (far or 1) <= 40 and draws_of(t, component)
  for j = 1, rows and 3 or 0 do
    local list = functions.sorted(numbers_of(rows, j))
    local low, high = list[#list // 100 + 1], list[#list - #list // 100]
    if high - low < 1e-8 * math.abs(high) then return end -- they are the places of few doubles
    local gap, at, doubt = distance_of(rows:column(j), list, function(w) return density(w, j) end)
    local limit = statistics.distance_limit(#list, 200)
    t.compared = (t.compared or 0) + 1
    t:expect(gap <= limit or gap <= limit + 3 * doubt(), "column %d: the share of %d numbers up \z
      to %.4g is off by %.4f from the density of its definition; %.4f is allowed", j - 1, #list, at,
      gap, limit)
  end
  if rows and (far or 1) == 1 then
    expect_tails(t, component, density, functions.sorted(numbers_of(rows, 1)))
  end
end, probability = function(_, t, component, probability)
  local rows = draws_of(t, component)
  for j = 1, rows and 3 or 0 do
    local seen, chances, n = {}, {}, rows:rows()
    for i = 1, n do
      local w = rows:get(i, j)
      seen[w] = (seen[w] or 0) + 1
      chances[w] = probability(w, j)
    end
    t.compared = (t.compared or 0) + 1
    statistics.check_frequencies(t, ("column %d: number"):format(j - 1), seen, chances, n, 200)
  end
end }

for name, f in pairs(draws) do compare.sampler[name] = f end
compare.sampler.told = nil

-- ------------ stages

compare.stage = { row = function(left, t, component, row)
  local made_rows = require "scullery_checker.stage.rows"
  local function made_of(X, y)
    local new, n, d = X * 1.5, math.min(9, X:rows()), X:cols()
    for j = 1, d do -- rows of the last columns alone
      for k = 0, 2 do new:set(n - k, j, j == (d - k - 1) % d + 1 and new:get(n - k, j) or 0) end
    end
    local ok, fitted = pcall(made_rows.fit, t, component, X, y)
    local made, through = pcall(made_rows.through, ok and fitted, new)
    return made and through or nil, new:totable()
  end
  for of, shape in ipairs{ { 9, 3 }, { 70, 2 }, { 5, 67 }, { 20, 4 }, { 12, 3 } } do
    local X, y = made_rows.random(t, shape[1], shape[2], of)
    if of == 5 then y = core.hcat(y, y:map(function(x) return x * x end) + X:column(3)) end
    for i = 1, of == 4 and 20 or 0 do -- columns of other sizes
      X:set(i, 2, X:get(i, 2) * 1e-3)
      X:set(i, 3, X:get(i, 3) * 1e3)
    end
    local told = draws.told(component.given.seed or 0, STAGE, { dim = shape[2], total = shape[1] })
    local define, through, new = row(X:totable(), y:totable(), told), made_of(X, y)
    if define and not through then -- it may take no numbers below 0
      X = X:abs()
      define, through, new = row(X:totable(), y:totable(), told), made_of(X, y)
    end
    local all = X:totable()
    for i = 1, define and through and left() and math.min(9, #all) or 0 do
      local wanted, slack = definition.values(define, new[i])
      t:expect(#wanted == through:cols(), "it makes %d columns, and its definition %d",
        through:cols(), #wanted)
      for j, want in ipairs(wanted) do
        definition.expect(t, through:get(i, j), want, slack[j] + 1e-11, "of %d rows of %d \z
          columns, \z
          column %d of row %d", #all, #all[1], j - 1, i - 1)
      end
    end
  end
end }

-- What is reported: numbers, and lists of them.
compare.stage.report = function(_, t, component, report)
  local made_rows = require "scullery_checker.stage.rows"
  for of, shape in ipairs{ { 9, 3 }, { 70, 2 }, { 4, 7 } } do
    local X, y = made_rows.random(t, shape[1], shape[2], of)
    local ok, _, told = pcall(core.fit_stage, t:instance(component), core.source(X, y), {})
    for name, wanted in pairs(ok and report(X:totable(), y:totable()) or {}) do
      local list = type(wanted) == "table" and wanted or { wanted }
      t:expect(told[name] and told[name]:rows() * told[name]:cols() == #list, "it reports %s \z
        '%s', and %d numbers by its definition", told[name] and "other numbers of" or "no", name,
        #list)
      for k, want in ipairs(list) do
        definition.expect(t, told[name]:get((k - 1) // told[name]:cols() + 1,
          (k - 1) % told[name]:cols() + 1), want, 1e-9 * math.abs(list[1]) + 1e-12, "number %d of \z
          '%s', which it reports of %d rows,", k, name, shape[1])
      end
    end
  end
end

-- Whether a cell is what the definition says: NaN is missing, and numbers have 14 digits.
local function is_cell(cell, want)
  local kind, value = cell:match "^(%S+) (.*)$"
  if want == false or want ~= want then
    return not kind or kind == "number" and value:find "nan" ~= nil
  end
  if type(want) ~= "number" or kind == "text" then return value == want end
  return tonumber(value) == want
    or kind == "number" and ("%.14g"):format(value) == ("%.14g"):format(want)
end

-- Cells of the example and of the definition's own files: numbers, texts, false where one is
-- missing, nil after the last row; and names of columns.
compare.reader = { name = function(_, t, component, name)
  local files = require "scullery_checker.reader.files"
  files.each(t, component, function(path, instance, k)
    local _, names = files.rows(instance, path)
    t.compared = (t.compared or 0) + 1
    for j = 1, #names + 1 do
      t:expect(names[j] == name(j, k), "column %d is named '%s', and '%s' by its definition", j,
        tostring(names[j]), tostring(name(j, k)))
    end
  end)
end, cell = function(_, t, component, cell)
  local files = require "scullery_checker.reader.files"
  files.each(t, component, function(path, instance, k)
    local all, names = files.rows(instance, path)
    for i, row in ipairs(all) do
      for j = 1, #names do
        local want = cell(i, j, k)
        t.compared = (t.compared or 0) + 1
        t:expect(is_cell(row[j], want), "row %d, column %d is %s, and %s by its definition", i, j,
          row[j], tostring(want))
      end
    end
    t:expect(cell(#all + 1, 1, k) == nil, "it has %d rows, and more by its definition", #all)
  end)
end }

compare.solver = require "scullery_checker.definition.solvers"

-- ------------

local MOST <const> = 4e6 -- instructions for each component and function

local function run(t)
  local text = core.plugin_info(t.kind, t.subject.name).definition
  if not text then t:skip("nothing outside of the plugin says what its numbers should \z
    be: it has no .definition (docs/interface.md, Definition)") end
  local parsed, message = definition.parse(text)
  t:expect(parsed, "its definition cannot be read: %s", message)
  local names = {}
  for name in pairs(compare[t.kind]) do names[#names + 1] = name end
  table.sort(names)
  local any = false
  for _, one in ipairs(settings.list(t)) do
    local declared = definition.of(one.component)
    t.label = one.label
    for _, name in ipairs(names) do
      if declared[name] then
        any = true
        definition.limited(MOST, compare[t.kind][name], t, one.component, declared[name], one.far)
      end
    end
  end
  t.label = nil
  t:expect(any, "its definition has none of the functions that are looked at: %s",
    table.concat(names, ", "))
  t:expect(t.compared, "its definition gives no finite number anywhere")
  t:note("%d numbers were compared", t.compared)
end

-- A list of its own for each kind that has the test, so that each lists it.
return function()
  return { { name = "definition", about = "results are those of the definition that it declares",
    run = run } }
end
