--- What is made of an experiment's results: tables, series, the best, standard errors over seeds.
-- luacheck: globals TestTables TestSeeds
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local seeds = require "scullery.experiment.seeds"
local support = dofile("tests/helpers/support.lua")

local fails = support.fails
local folder

-- An experiment in the folder; what it says on the way is the second result.
local function experiment(given)
  local o = { name = "e", folder = folder }
  for name, value in pairs(given) do o[name] = value end
  local exp
  local said = support.stderr_of(function() exp = sc.experiment(o) end)
  return exp, said
end

-- ------------ tables

TestTables = {}

function TestTables:setUp()
  folder = os.tmpname()
  os.remove(folder)
end

function TestTables:tearDown() assert(os.execute("rm -r " .. support.quote(folder))) end

-- error = T + seed, of two methods.
local function grid()
  return (experiment{ cells = { T = { 10, 20 }, method = { "a", "b" }, seed = { 1, 2, 3 } },
    run = function(cell)
      return { error = cell.T + cell.seed + (cell.method == "b" and 100 or 0), other = 1 }
    end })
end

function TestTables:test_the_values_of_an_option()
  local exp = experiment{ cells = { { T = 20, m = "a" }, { T = 3, m = "b" }, { T = 3, m = "c" },
    { m = "d" } }, run = function() return { x = 1 } end }
  lu.assertEquals(exp:values "T", { 3, 20 })
  lu.assertEquals(exp:values("m", { T = 3 }), { "b", "c" })
  lu.assertEquals(exp:values("m", { T = 4 }), {})
  fails({ "there is no option 'q'" }, exp.values, exp, "q")
  fails({ "experiment:values: takes the name of an option, and got 3" }, exp.values, exp, 3)
  fails({ "takes a table such as { T = 500 }, and got 3" }, exp.values, exp, "T", 3)
end

-- Without published numbers cells are compared with each other, seed by seed.
function TestTables:test_cells_are_compared_in_pairs()
  local exp = experiment{ cells = { method = { "a", "b", "c" }, seed = { 1, 2, 3, 4 } },
    run = function(cell)
      local noise = cell.method == "b" and cell.seed % 2 or 0
      return { error = 10 * cell.seed + (cell.method == "c" and 5 or 0) + noise }
    end }
  local found = exp:compare{ rows = "method" }
  lu.assertEquals({ found[1].name, found[2].name, found[3].name }, { "a", "b", "c" })
  lu.assertEquals({ found[2].difference, found[3].difference, found[3].error }, { 0.5, 5, 0 })
  lu.assertAlmostEquals(found[2].error, math.sqrt((4 * 0.25 / 3) / 4), 1e-12)
  lu.assertAlmostEquals(exp:compare{ rows = "method", ratio = 0.25 }[2].error,
    math.sqrt((4 * 0.25 / 3) * (1 / 4 + 0.25)), 1e-12)
  lu.assertEquals(exp:compare{ rows = "method", smallest = false }[1].name, "c")
  lu.assertStrContains(tostring(found), "paired over 4 repetitions")
  local seconds = {}
  for _, row in ipairs(exp.rows) do
    seconds[row.cell.method] = (seconds[row.cell.method] or 0) + row.seconds / 4
  end
  for _, one in ipairs(exp:compare{ rows = "method", value = "seconds" }) do
    lu.assertAlmostEquals(one.mean, seconds[one.name], 1e-12)
  end
  fails({ "option 'digits' goes with published" }, exp.compare, exp, { rows = "method",
    digits = 2 })
  fails({ "option 'to' is for comparisons among the cells" }, exp.compare, exp, { rows = "method",
    to = "best", published = { a = 1 } })
  fails({ "one group of cells" }, exp.compare, exp, { rows = "method", where = { method = "a" } })
end

function TestTables:test_means_and_standard_errors_over_seeds()
  local t = grid():table{ rows = { "T", "method" }, value = "error" }
  lu.assertEquals({ t.row_names, t.column_names, #t.rows }, { { "T", "method" }, { "error" }, 4 })
  lu.assertEquals({ t.rows[2].labels, t.rows[2].means, t.rows[2].counts },
    { { "10", "b" }, { 112 }, { 3 } })
  lu.assertAlmostEquals(t.rows[2].errors[1], 1 / math.sqrt(3), 1e-15)
  lu.assertStrContains(tostring(t), "112.00 +- 0.58")
end

function TestTables:test_columns_of_an_option()
  local t = grid():table{ columns = "method", value = "error" }
  lu.assertEquals({ t.row_names, t.column_names }, { { "T" }, { "method = a", "method = b" } })
  lu.assertEquals({ t.rows[1].means, t.rows[2].means }, { { 12, 112 }, { 22, 122 } })
end

function TestTables:test_nothing_is_mixed_by_silence()
  local exp = grid()
  fails({ "the option 'method' varies among the cells" }, exp.table, exp, { rows = "T" })
  fails({ "the option 'seed' varies" }, exp.table, exp, { rows = "T", over = "method" })
  fails({ "the option 'method' varies" }, exp.series, exp, { x = "T", value = "error" })
  fails({ "option 'value' is needed: the results are error, other" }, exp.table, exp,
    { columns = "method" })
  fails({ "there is no result 'eror' (did you mean 'error'?)" }, exp.best, exp, { value = "eror" })
  lu.assertEquals(exp:table{ rows = "T", value = "error", where = { method = "a" } }.rows[2].means,
    { 22 })
end

-- 3 T^-0.5 (1 + noise of 0, +-1 %): a slope of -0.5, and its error by differences of logarithms.
function TestTables:test_slopes_on_log_axes()
  local exp = experiment{ cells = { T = { 10, 40 }, m = { "a", "b" }, seed = { 1, 2, 3 } },
    run = function(cell)
      return { error = 3 * cell.T ^ (cell.m == "a" and -0.5 or 1) * (1 + (cell.seed - 2) / 100) }
    end }
  local t = exp:slopes{ x = "T", value = "error", series = "m" }
  lu.assertEquals({ t.row_names, t.column_names }, { { "m", "T" }, { "error", "slope" } })
  lu.assertNil(t.rows[1].means[2] or t.rows[3].means[2]) -- none before
  lu.assertAlmostEquals(t.rows[2].means[2], -0.5, 1e-12)
  lu.assertAlmostEquals(t.rows[4].means[2], 1, 1e-12)
  lu.assertAlmostEquals(t.rows[2].errors[2], 0.01 * math.sqrt(2 / 3) / math.log(4), 1e-12)
  lu.assertStrContains(tostring(t), "-0.5000 +- 0.0059")
  fails({ "there is no option 'q'" }, exp.slopes, exp, { x = "q" })
  fails({ "the option 'm' varies" }, exp.slopes, exp, { x = "T" })
  fails({ "'m' is \"a\" in some cell, and a slope needs numbers" }, exp.slopes, exp,
    { x = "m", series = "T" })
end

function TestTables:test_series_for_a_picture()
  local list = grid():series{ x = "T", value = "error", series = "method" }
  lu.assertEquals({ list[2].label, list[2].x, list[2].y }, { "b", { 10, 20 }, { 112, 122 } })
  lu.assertAlmostEquals(list[2].error[2], 1 / math.sqrt(3), 1e-15)
  local exp = grid()
  fails({ "option x: 'method' is \"a\" in some cell" }, exp.series, exp,
    { x = "method", value = "error", series = "T" })
end

function TestTables:test_the_best()
  local exp = grid()
  local best = exp:best{ value = "error" }
  lu.assertEquals({ best.cell, best.mean, best.count }, { { T = 10, method = "a" }, 12, 3 })
  lu.assertEquals(exp:best{ value = "error", smallest = false, over = {} }.cell,
    { T = 20, method = "b", seed = 3 })
  fails({ "no cell has a number" }, exp.best, exp, { value = "error", where = { T = 30 } })
end

function TestTables:test_the_best_within_limits()
  local exp = experiment{ cells = { T = { 10, 20, 30 }, seed = { 1, 2 } }, run = function(cell)
    return { error = 1 / cell.T, seconds = cell.T + cell.seed / 10 }
  end }
  local function first(limit) return exp:best{ value = "seconds", most = { error = limit } } end
  lu.assertEquals({ first(0.2).cell.T, first(0.06).cell.T, first(0.04).cell.T }, { 10, 20, 30 })
  lu.assertEquals(first(0.04).mean, 30.15)
  lu.assertNil(first(0.01))
  fails({ "there is no result 'eror'" }, exp.best, exp, { value = "seconds",
    most = { eror = 1 } })
  fails({ "option most", "takes a number" }, exp.best, exp, { value = "seconds",
    most = { error = "small" } })
end

function TestTables:test_nan_is_no_best_and_shows_as_one()
  local exp = experiment{ cells = { i = { 1, 2 } }, run = function(cell)
    return { error = cell.i == 1 and 0 / 0 or 5 }
  end }
  lu.assertEquals(exp:best{ value = "error" }.cell.i, 2)
  lu.assertEquals(tostring(exp:table()), "i  error\n1    nan\n2      5")
end

function TestTables:test_changing_columns_are_told_once()
  local function run(cell) return cell.i % 2 == 0 and { even = 1 } or { odd = 1 } end
  experiment{ cells = { i = { 1, 3 } }, run = run }
  local _, said = experiment{ cells = { i = { 1, 2, 3, 4, 5, 6 } }, run = run }
  lu.assertEquals(select(2, said:gsub("results have the columns", "")), 1)
end

function TestTables:test_names_of_results_cannot_act_on_the_terminal()
  local function run(cell)
    return cell.i == 1 and { ["\27]0;title\7"] = 1 } or { ["\u{9b}2J"] = 1 }
  end
  experiment{ cells = { i = { 1 } }, run = run }
  local _, said = experiment{ cells = { i = { 1, 2 } }, run = run }
  lu.assertStrContains(said, "results have the columns \u{fffd}2J, where earlier ones have \z
    \u{fffd}]0;title\u{fffd}\n")
end

function TestTables:test_rows_the_best_and_series_print_and_stay_plain()
  local exp = grid()
  lu.assertEquals(tostring(exp.rows[1]),
    "cell { T = 10, method = a, seed = 1 }: error = 11, other = 1")
  local best = exp:best{ value = "error" }
  lu.assertEquals(tostring(best),
    "cell { T = 10, method = a }: error = 12.00 +- 0.58, the mean of 3 cells")
  local names = {}
  for name in pairs(best) do names[#names + 1] = name end
  table.sort(names)
  lu.assertEquals(names, { "cell", "count", "error", "mean" })
  local list = exp:series{ x = "T", value = "error", series = "method" }
  lu.assertStrContains(tostring(list), "series   T  error  standard error\n")
  lu.assertStrContains(tostring(list), "\na       10     12         0.57735\n")
  lu.assertEquals({ #list, #sc.plot.line{ series = list }.panels }, { 2, 1 })
  local failed = experiment{ name = "f", cells = { i = { 1 } }, allow_failures = true,
    run = function() error("no luck", 0) end }
  lu.assertEquals(tostring(failed.rows[1]), "cell { i = 1 }: failed: no luck")
end

function TestTables:test_what_cells_took_is_a_value_everywhere()
  local exp = grid()
  for i, row in ipairs(exp.rows) do row.seconds, row.memory = i / 8, 1000 * i end -- 12 rows
  lu.assertEquals(exp:table{ value = "seconds", rows = "T", over = { "seed", "method" } }.rows[1]
    .means, { 3.5 / 8 })
  lu.assertEquals(exp:best{ value = "seconds" }.mean, 2 / 8)
  lu.assertEquals(exp:best{ value = "memory", smallest = false }.mean, 11000)
  lu.assertEquals(exp:best{ value = "error", smallest = false, most = { seconds = 0.7 } }.cell,
    { T = 10, method = "b" })
  local list = exp:series{ x = "T", value = "seconds", series = "method" }
  lu.assertEquals(list[1].y, { 2 / 8, 8 / 8 })
  list = exp:series{ x = "seconds", along = "T", value = "error", series = "method" }
  lu.assertEquals(list[1].x, { 2 / 8, 8 / 8 })
  lu.assertEquals(exp:compare{ value = "seconds", rows = { "T", "method" },
    published = { [10] = { a = 0.25 } } }.rows[1].difference, 0)
  fails({ "there is no result 'secnds' (did you mean 'seconds'?)" }, exp.best, exp,
    { value = "secnds" })
  for _, row in ipairs(exp.rows) do row.result.seconds = 7 end -- a result comes first
  lu.assertEquals(exp:best{ value = "seconds" }.mean, 7)
end

-- Published numbers of a file, with deviations over runs, are those of the same nested tables.
function TestTables:test_published_numbers_of_a_file()
  local exp, path = grid(), os.tmpname() .. ".csv"
  local function write(text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
  end
  local function compare(published)
    return exp:compare{ rows = { "T", "method" }, value = "error", published = published }
  end
  write('T,method,runs,error,error.deviation\n10,a,4,0.25,0.5\n10,"b",1,0.75,\n'
    .. "100,a,4,,\n7,x,4,1,1\n")
  local from_file, nested = compare(path), compare{ [10] = { a = { 0.25, 0.25 }, b = 0.75 } }
  lu.assertEquals(tostring(from_file), tostring(nested))
  write 'T,runs,error,error.deviation,method\n10,4,0.25,0.5,"a"\n10,1,0.75,,b\n'
  lu.assertEquals(tostring(compare(path)), tostring(nested))
  write "T,error\n10,1\n"
  fails({ path .. " has no column 'method'" }, compare, path)
  write "T,method,error\n10,a\n"
  fails({ path .. ", line 2: 2 fields below 3 headings" }, compare, path)
  write "T,method,error\n"
  fails({ "has no line below the headings" }, compare, path)
  os.remove(path)
  fails({ path }, compare, path)
  fails({ "takes a table, or the path of a .csv file" }, compare, 3)
end

function TestTables:test_printing()
  lu.assertEquals(tostring(grid()), "experiment e: 12 cells done, 0 failed, in " .. folder .. "/e")
  fails({ "experiment: there is no method or field 'tabel' (did you mean 'table'?)" },
    function() return grid().tabel end)
end

-- ------------ standard errors

TestSeeds = {}

local function mean_over(rows, names)
  return seeds.mean(rows, function(row) return row.y end, names)
end

function TestSeeds:test_equal_numbers_have_no_error()
  local rows = {}
  for seed = 1, 10 do rows[seed] = { cell = { seed = seed } } end
  local function read() return 0.02097902098 end
  lu.assertEquals(seeds.mean(rows, read, { "seed" }), { mean = read(), error = 0, count = 10 })
end

-- y = a + b + e over 4 x 5 crossed seeds: the mean has the variance 1 / 4 + 1 / 5 + 0.25 / 20.
function TestSeeds:test_crossed_seeds_have_the_variance_of_both()
  local draws, sum, square = 1500, 0, 0
  local Z = sc.randn{ draws, 29, seed = 5 }
  for r = 1, draws do
    local rows = {}
    for i = 1, 4 do
      for j = 1, 5 do
        rows[#rows + 1] = { cell = { data_seed = i, seed = j },
          y = Z:get(r, i) + Z:get(r, 4 + j) + 0.5 * Z:get(r, 9 + 5 * (i - 1) + j) }
      end
    end
    local variance = mean_over(rows, { "data_seed", "seed" }).error ^ 2
    sum, square = sum + variance, square + variance ^ 2
  end
  local mean = sum / draws
  local stderr = math.sqrt((square / draws - mean ^ 2) / draws)
  lu.assertTrue(math.abs(mean - 0.4625) < 4 * stderr, ("%g +- %g"):format(mean, stderr))
end

function TestSeeds:test_a_seed_of_each_cell_is_independent_and_a_coarser_one_is_not()
  local y = { 1, 2, 4, 7, 11, 16 }
  local own, coarse = {}, {}
  for i, value in ipairs(y) do
    own[i] = { cell = { seed = i, other_seed = 10 * i }, y = value }
    coarse[i] = { cell = { seed = i, data_seed = (i + 1) // 2 }, y = value }
  end
  local mean, error = mean_over(own, { "seed", "other_seed" }).mean,
    mean_over(own, { "seed", "other_seed" }).error
  local square = 0
  for _, value in ipairs(y) do square = square + (value - mean) ^ 2 end
  lu.assertAlmostEquals(error, math.sqrt(square / 5 / 6), 1e-12)
  local pairs_of = { 1.5, 5.5, 13.5 } -- means of the values of data_seed
  square = 0
  for _, value in ipairs(pairs_of) do square = square + (value - mean) ^ 2 end
  lu.assertAlmostEquals(mean_over(coarse, { "seed", "data_seed" }).error,
    math.sqrt(square / 2 / 3), 1e-12)
end

os.exit(lu.LuaUnit.run(), true)
