--- Experiments whose cells share what is prepared once for their group.
-- luacheck: globals TestGroups
-- luacheck: ignore 212/self
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")
local experiments = dofile("tests/helpers/experiments.lua")

local experiment, fails = experiments.run, support.fails
local folder

TestGroups = { setUp = function() folder = experiments.set_up() end,
  tearDown = experiments.tear_down }

-- An experiment of groups q with cells m; `log` has the calls in order.
local function grouped(more)
  local log, o = {}, { cells = { m = { 1, 2 }, q = { 5, 6 } }, group = { "q" } }
  for name, value in pairs(more or {}) do o[name] = value end
  local prepare = o.prepare or function(group) return 10 * group.q end
  o.prepare = function(group, context)
    log[#log + 1] = "prepare " .. group.q
    lu.assertNil(group.m)
    return prepare(group, context)
  end
  o.run = function(cell, context, shared)
    log[#log + 1] = cell.q .. " " .. cell.m
    lu.assertTrue(context.prepare_seconds >= 0)
    return { value = shared + cell.m, chance = math.random() }
  end
  local exp, said = experiment(o)
  return log, exp, said
end

function TestGroups:test_each_group_is_prepared_once_and_its_cells_run_together()
  local log, exp = grouped()
  lu.assertEquals(log, { "prepare 5", "5 1", "5 2", "prepare 6", "6 1", "6 2" })
  local found = {}
  for i, row in ipairs(exp.rows) do
    found[i] = { row.cell.m, row.cell.q, row.result.value }
  end
  lu.assertEquals(found, { { 1, 5, 51 }, { 1, 6, 61 }, { 2, 5, 52 }, { 2, 6, 62 } })
  lu.assertEquals(grouped(), {}) -- all is done
  lu.assertEquals(grouped{ cells = { m = { 2, 3 }, q = { 5, 6 } } },
    { "prepare 5", "5 3", "prepare 6", "6 3" })
end

function TestGroups:test_chance_does_not_depend_on_which_cells_ran_before()
  local function draws(name, list)
    local drawn, found, exp = {}, {}, nil
    for _, m in ipairs(list) do
      exp = select(2, grouped{ name = name, cells = { m = m, q = { 5, 6 } },
        prepare = function(group)
          local number = math.random()
          lu.assertEquals(drawn[group.q] or number, number)
          drawn[group.q] = number
          return number
        end })
    end
    for _, row in ipairs(exp.rows) do
      found[row.cell.q .. " " .. row.cell.m] = { row.result.value, row.result.chance }
    end
    return found
  end
  local all = draws("a", { { 1, 2 } })
  lu.assertEquals(draws("b", { { 1 }, { 1, 2 } }), all)
  lu.assertEquals(draws("c", { { 2 }, { 1, 2 } }), all)
end

function TestGroups:test_an_error_of_prepare_is_that_of_each_cell_of_its_group()
  local bad = true
  local function prepare(group)
    if bad and group.q == 5 then error("no such q", 0) end
    return 0
  end
  local log, exp = grouped{ prepare = prepare, allow_failures = true }
  lu.assertEquals(log, { "prepare 5", "prepare 6", "6 1", "6 2" })
  lu.assertEquals(exp.failed, 2)
  for _, row in ipairs(exp.rows) do
    lu.assertEquals(row.message, row.cell.q == 5 and "no such q" or nil)
  end
  bad = false
  lu.assertEquals(grouped{ prepare = prepare, rerun = "never" }, { "prepare 5", "5 1", "5 2" })
end

function TestGroups:test_groups_by_a_function_of_the_cell()
  local log = grouped{ cells = { m = { 1, 2, 3 }, q = { 5 } },
    group = function(cell) return { q = cell.m % 2 } end }
  lu.assertEquals(log, { "prepare 1", "5 1", "5 3", "prepare 0", "5 2" })
end

function TestGroups:test_options_that_cannot_be()
  local function prepare() return 1 end
  local together = "'group' and 'prepare' go together: "
  fails({ together .. "prepare is missing" }, experiment, { group = { "T" } })
  fails({ together .. "group is missing" }, experiment, { prepare = prepare })
  fails({ "option 'group': cells[1] has no option 'q'" }, experiment, { group = { "T", "q" },
    prepare = prepare })
  for _, wrong in ipairs{ "T", {}, { 1 }, { T = "T" } } do
    fails({ "option 'group' got ", "it takes a list of names of options, or a function" },
      experiment, { group = wrong, prepare = prepare })
  end
  for _, wrong in ipairs{ 1, { {} }, { T = {} } } do
    fails({ "option 'group' returned ", " for cells[1]; it takes a table such as" }, experiment,
      { group = function() return wrong end, prepare = prepare })
  end
  fails({ "option 'prepare' got 1; it takes a function of a group's options" }, experiment,
    { group = { "T" }, prepare = 1 })
  local one = { group = { "T" }, prepare = prepare }
  experiment(one)
  one.prepare = function() return 2 end
  fails({ "results of another function 'run' or 'prepare'" }, experiment, one)
end

-- A script of an experiment of two groups of three cells; it notes its calls in a file.
local function script(more)
  return support.write(folder .. "/s.lua", ([[
local folder = %q
local function note(text)
  local file = assert(io.open(folder .. "/notes", "a"))
  file:write(text .. "\n")
  file:close()
end
local function there(path)
  local file = io.open(path)
  return file ~= nil and file:close()
end
sc.experiment{ name = "e", folder = folder, group = { "q" }, processes = tonumber(arg[1]),
  cells = { m = { 1, 2, 3 }, q = { 1, 2 } }, prepare = function(group, context)
    note("prepare " .. group.q .. (there(context.checkpoint) and " goes on" or ""))
    io.open(context.checkpoint, "w"):close()
    return context.checkpoint
  end, run = function(cell, context, checkpoint)
    assert(there(checkpoint))
    %s
    note(cell.q .. " " .. cell.m)
    return {}
  end }
]]):format(folder, more or ""))
end

local function run(words, more)
  local status, _, err = support.scullery(("%s %s"):format(support.quote(script(more)), words))
  local notes = {}
  for line in support.read(folder .. "/notes"):gmatch("[^\n]+") do notes[#notes + 1] = line end
  return notes, status, err
end

function TestGroups:test_what_prepare_has_saved_is_there_after_a_kill()
  local kill = [[if cell.m == 2 and not there(folder .. "/killed") then
      io.open(folder .. "/killed", "w"):close()
      os.execute("kill -9 " .. math.tointeger(io.open("/proc/self/stat"):read("n")))
    end]]
  local _, status = run("1", kill)
  lu.assertNotEquals(status, 0)
  local notes
  notes, status = run("1", kill)
  lu.assertEquals(status, 0)
  lu.assertEquals(notes, { "prepare 1", "1 1", "prepare 1 goes on", "1 2", "1 3", "prepare 2",
    "2 1", "2 2", "2 3" })
  lu.assertNil(io.open(folder .. "/e/checkpoints"))
end

function TestGroups:test_each_group_is_prepared_once_by_several_processes()
  for _, words in ipairs{ "3", "1 --part 2/2" } do
    os.remove(folder .. "/notes")
    local notes, status, err = run(words)
    lu.assertEquals(status, 0, err)
    table.sort(notes)
    lu.assertEquals(notes, words == "3" and { "1 1", "1 2", "1 3", "2 1", "2 2", "2 3", "prepare 1",
      "prepare 2" } or { "2 1", "2 2", "2 3", "prepare 2" })
    lu.assertNil(io.open(folder .. "/e/checkpoints"))
  end
end

os.exit(lu.LuaUnit.run(), true)
