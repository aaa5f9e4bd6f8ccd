-- How the cost of a ridge fit on Fourier features grows with rows, features, columns and classes.
--
--     build/scullery scripts/bench/growth.lua [--quick] [--out docs/growth] [--json FILE]
--
-- Rows are generated as they are read: drawing them is part of the time. Each point is the least
-- of up to three fits. Writes OUT.svg (log axes: seconds beside the floor, which is the products
-- and the factorisation at the rates of this machine, measured in the same run; and the engine's
-- memory above what was held before), OUT.csv (the points), and with --json what
-- scripts/bench/page.lua puts into docs/performance.md. --most: the largest number of rows
-- (10,000,000). --quick: small sizes. --processors: processor seconds by the number of threads in
-- place of the clock, on a busy machine. --from FILE: draws what --json wrote in an earlier run,
-- and measures nothing. --ending png: another kind of picture.
local core = require "scullery.core"
local measure = require "scullery.bench.measure"
local sc = require "scullery"
local args = sc.arguments{ quick = false, most = 10000000, out = "docs/growth", json = "",
  processors = false, from = "", ending = "svg" }

-- n rows of d numbers, and a target that depends on them.
local function rows(n, d)
  return sc.data.rows{ n = n, d = d, read = function(first, count)
    local X = sc.randn{ count, d, seed = first }
    return X, X:column(1):copy()
  end }
end

-- X in memory, `classes` targets of 1 and -1.
local function held(n, d, classes)
  local X, Y = sc.randn{ n, d, seed = 1 }, sc.zeros(n, classes)
  for i = 1, n do
    for j = 1, classes do Y:set(i, j, i % classes + 1 == j and 1 or -1) end
  end
  return sc.dataset{ X = X, y = Y }
end

local function fit(data, sampler, d, D)
  return sc.pipeline{ sc.features{ p = sc.sampler[sampler]{ sigma = 1.3 / math.sqrt(d) },
    phi = sc.nonlinearity.fourier(), T = D, seed = 1, dtype = "float32" },
    sc.solver.ridge{ lambda = 1e-4 } }:fit(data)
end

local function seconds(one)
  return args.processors and one.processors / core.threads() or one.seconds
end

-- One point: least time of as many fits as take up to two seconds, three at most.
local function point(along, at, data, sampler, n, d, D, classes)
  collectgarbage()
  collectgarbage()
  local before, best, spent, peak = core.memory(), math.huge, 0, 0
  for _ = 1, 3 do
    local one = measure.once(function() return fit(data, sampler, d, D) end)
    best, spent, peak = math.min(best, seconds(one)), spent + one.seconds, one.peak
    if spent > 2 then break end
  end
  local made = { along = along, at = at, seconds = best, memory = peak - before / 1e9,
    floor = sampler == "gaussian" and measure.floor.ridge("float32", n, d, D)
      + measure.floor.project("float32", n, classes or 1, D) or nil }
  print(("%-22s %9d  %9.3f s  memory above the start %8.1f MB%s"):format(along, at, made.seconds,
    made.memory * 1e3, made.floor and ("  floor / time %.2f"):format(made.floor / best) or ""))
  io.flush()
  return made
end

local function doubled(low, high, factor)
  local list = {}
  while low <= high do
    list[#list + 1] = low
    low = low * factor
  end
  return list
end

local sizes = args.quick and { n = { 1000, 10000 }, D = { 125, 250, 500 }, d = { 10, 40, 160 },
  classes = { 2, 8, 32 } } or { n = doubled(1000, args.most, 10), D = doubled(125, 8000, 2),
  d = doubled(10, 10240, 4), classes = doubled(2, 512, 4) }
local some = args.quick and 2000 or 20000

local function measured()
  local points = { n = {}, D = {}, d = {}, hadamard = {}, classes = {} }
  measure.forget(args.quick and 512 or 3072, args.processors)
  for _, n in ipairs(sizes.n) do
    table.insert(points.n, point("n", n, rows(n, 20), "gaussian", n, 20, 500))
  end
  for _, D in ipairs(sizes.D) do
    table.insert(points.D, point("D", D, rows(some, 20), "gaussian", some, 20, D))
  end
  for _, d in ipairs(sizes.d) do
    local data = held(some // 2, d, 1)
    table.insert(points.d, point("d", d, data, "gaussian", some // 2, d, 1000))
    table.insert(points.hadamard, point("d, Hadamard", d, data, "hadamard", some // 2, d, 1000))
  end
  for _, classes in ipairs(sizes.classes) do
    local data = held(some, 20, classes)
    table.insert(points.classes, point("classes", classes, data, "gaussian", some, 20, 1000,
      classes))
  end
  return points
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return core.json_decode(text)
end

local document = args.from ~= "" and read(args.from) or { version = sc.version,
  threads = core.threads(), instruction_set = core.instruction_set(),
  processors = args.processors, points = measured() }
local points = document.points
if args.json ~= "" then core.write_text(args.json, core.json_encode(document) .. "\n") end

-- ------------ pictures

local function column(list, field)
  local values = {}
  for i, one in ipairs(list) do values[i] = one[field] or 0 / 0 end
  return values
end

-- range: of the y axis; such a picture has one series, and no legend.
local function picture(title, x_label, series, field, range)
  for _, one in ipairs(series) do one.x = column(one.points, "at") end
  for _, one in ipairs(series) do
    one.y, one.points, one.of = column(one.points, one.of or "seconds"), nil, nil
  end
  return sc.plot.line{ title = title, x_label = x_label, y_label = field, x_log = true,
    y_log = true, marks = true, series = series, legend = range and "none", y_range = range }
end

local function times(title, x_label, list, label)
  return picture(title, x_label, { { points = list, label = label or "time" },
    { points = list, of = "floor", label = "floor" } }, "seconds")
end

local function megabytes(list)
  for _, one in ipairs(list) do one.megabytes = math.max(one.memory * 1e3, 0.1) end
  return { { points = list, of = "megabytes", label = "memory" } }
end

local shown = { 1, 1000 }
local by_d = picture(("d columns (%d rows, D = 1000)"):format(some // 2), "d",
  { { points = points.d, label = "Gaussian" }, { points = points.hadamard, label = "Hadamard" },
    { points = points.d, of = "floor", label = "floor" } }, "seconds")
local fig = sc.plot.panels{ columns = 2, width = 1000, height = 1100,
  times("n rows, streamed (d = 20, D = 500)", "n", points.n),
  times(("D features (%d rows, d = 20)"):format(some), "D", points.D), by_d,
  times(("classes (%d rows, d = 20, D = 1000)"):format(some), "classes", points.classes),
  picture("memory above the start, n rows streamed", "n", megabytes(points.n), "MB", shown),
  picture("memory above the start, D features", "D", megabytes(points.D), "MB",
    shown) }
fig:save(args.out .. "." .. args.ending)
fig:data(args.out .. ".csv")
return fig
