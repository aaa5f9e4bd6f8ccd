--- Tests of instances: creation and destruction, independence of each other, and behaviour when
--- memory runs out or Ctrl-C is pressed.
local alone = require "scullery_checker.alone"
local core = require "scullery_checker.core"
local options = require "scullery.base.options"
local process = require "scullery_checker.process"
local values = require "scullery_checker.values"

-- A result as it was, or where it differs.
local function expect_same(t, made, want, what)
  local same_shape = made:rows() == want:rows() and made:cols() == want:cols()
  t:expect(same_shape, "%s: the result has another shape", what)
  local i, j = core.first_difference(made, want)
  t:expect(not i, "%s: row %d, column %d of the result is %.17g, and was %.17g", what, i or 0,
    j or 0, i and made:get(i, j) or 0, i and want:get(i, j) or 0)
end

local function use(t, component, seed, rows) return t.subject.use(component, seed, rows) end

-- ------------ order, neighbours

local function check_repeats(t)
  for component in t:variants() do
    local first, second = use(t, component, t.seed), use(t, component, t.seed + 1)
    expect_same(t, use(t, component, t.seed), first, "a run after another with other rows")
    expect_same(t, use(t, component, t.seed + 1), second, "the second of two runs, again")
  end
end

-- Options for several instances: the variants, and one with another number for each option.
local function several(t)
  local list = {}
  for _, one in ipairs(t.subject:variants()) do
    if #list < 5 then list[#list + 1] = t.subject:hasty(one.given) end
  end
  for _, option in ipairs(t.subject.info.options) do
    local given = t.subject:hasty(t.subject:options())
    given[option.name] = values.is_numeric(option) and values.random(option, 0.8) or nil
    local ok, made = pcall(t.subject.make, t.subject, given)
    if ok and given[option.name] and #list < 8 and pcall(use, t, made, t.seed) then
      list[#list + 1] = given
    end
  end
  if #list == 1 then list[2] = list[1] end
  return list
end

-- Some solvers refuse fewer rows than their batch.
local function few_rows(t, component)
  return pcall(use, t, component, t.seed, 20) and 20 or nil
end

-- The result of each instance alone: in a separate process, where that is possible.
local function each_alone(t, list, rows)
  local made = {}
  for i, given in ipairs(list) do
    made[i] = process.is_own() and alone.use(t, given, rows)
      or use(t, t.subject:make(given), t.seed, rows)
  end
  return made
end

local function check_instances(t)
  local list, together = several(t), {}
  local rows = 20
  for _, given in ipairs(list) do rows = rows and few_rows(t, t.subject:make(given)) end
  local single = each_alone(t, list, rows)
  for i, given in ipairs(list) do together[i] = t.subject:make(given) end
  for i = #list, 1, -1 do
    expect_same(t, use(t, together[i], t.seed, rows), single[i], ("an instance with %s beside \z
      others with other options, against one alone"):format(options.show(list[i])))
  end
  for i = 1, #list - 1 do
    together[i] = nil
    collectgarbage()
    expect_same(t, use(t, together[i + 1], t.seed, rows), single[i + 1], ("an instance with %s \z
      after another has ended"):format(options.show(list[i + 1])))
  end
end

-- ------------ lives

local LIVES <const> = 1000
local FEW_LIVES <const> = 5 -- of an instance that takes long to make
local USES <const> = 60
local FEW_USES <const> = 5 -- of a transport that takes long to open a group
local BATCHES <const> = 4

local function open_files() return core.surroundings()["number of open files"] end

-- The least growth of several batches, up to the first that leaves nothing, and their number: what
-- Lua keeps for later stops growing, and what is lost does not. What malloc keeps stops nowhere but
-- in a process of the checker: elsewhere it is 0.
local function least(batch, allowed)
  local host, other = math.huge, process.is_own() and math.huge or 0
  for i = 1, BATCHES do
    local of_host, of_malloc = batch()
    host, other = math.min(host, of_host), math.min(other, of_malloc)
    if host <= 0 and other < allowed or i == BATCHES then return host, other, i end
  end
end

local function expect_balance(t, batch, count, what)
  local files, allowed = open_files(), 16 * count
  local host, other, batches = least(batch, allowed)
  t:expect(host <= 0, "%d %s leave %d bytes of host->allocate behind", count, what, host)
  t:expect(other < allowed, "%d %s leave %d bytes of malloc behind", count, what, other)
  t:expect(open_files() == files, "%d %s leave files open: %s before, %s now", batches * count,
    what, files, open_files())
end

local function check_lives(t)
  for component in t:variants() do
    local instance = t:instance(component)
    local began = core.clock()
    core.lives(instance, 10)
    local lives = core.clock() - began < 0.005 and LIVES or FEW_LIVES
    expect_balance(t, function() return core.lives(instance, lives) end, lives, "lives")
  end
end

local held = process.held

local function check_uses(t)
  local component = t.subject:make(t.subject:hasty(t.subject:options()))
  local began = core.clock()
  local rows = few_rows(t, component)
  local uses = t.kind == "transport" and core.clock() - began > 0.1 and FEW_USES or USES
  expect_balance(t, function()
    local host, other = held()
    for _ = 1, uses do use(t, component, t.seed, rows) end
    local host_now, other_now = held()
    return host_now - host, other_now - other
  end, uses, "uses")
end

-- ------------ memory that runs out, Ctrl-C

-- The numbers from 0 to count - 1, or as many as `most` of them.
local function some_of(count, most)
  local list = {}
  for i = 0, math.min(count, most) - 1 do
    list[#list + 1] = count <= most and i or math.floor(i * (count - 1) / (most - 1))
  end
  return list
end

-- How many of the host's calls are made to fail: in a run with default options, and in one of each
-- other variant, whose calls are mostly the same.
local CALLS <const>, CALLS_OF_VARIANTS <const> = 40, 12

-- f(n, run) for some of the calls of the host that a run of each variant makes; false where none
-- has any.
local function at_each_call(t, what, f)
  local any, most = false, CALLS
  for _, one in ipairs(t.subject:variants()) do
    t.label = one.label
    local hasty = t.subject:hasty(one.given)
    local function run() return use(t, t.subject:make(hasty), t.seed) end
    local want = run()
    core.watch_host(t:instance(one.component), what, -1)
    run()
    local count = core.watch_host()
    for _, n in ipairs(some_of(count, most)) do
      any = true
      f(n, count, want, run, function(at) core.watch_host(t:instance(one.component), what, at) end)
    end
    most = CALLS_OF_VARIANTS
  end
  t.label = nil
  return any
end

local function check_memory(t)
  local threads = core.threads()
  core.threads(1)
  local any = at_each_call(t, "refuse", function(n, count, want, run, watch)
    local before = held()
    watch(n)
    local ok, made = pcall(run)
    core.watch_host()
    local what = ("call %d of %d of host->allocate or scratch gives NULL"):format(n + 1, count)
    if ok then
      expect_same(t, made, want, what .. ", and no status tells of it")
    else
      t:expect(not tostring(made):find("no sentence", 1, true), "%s: %s", what, made)
    end
    made = nil -- luacheck: ignore 311
    local after = held()
    t:expect(after <= before, "%s, and %d bytes of host->allocate are not released", what,
      after - before)
    expect_same(t, run(), want, what .. ", and the next run")
  end)
  core.threads(threads)
  if not any then t:skip("it asks for no memory of the host") end
end

local function check_cancel(t)
  local any = at_each_call(t, "interrupt", function(n, count, want, run, watch)
    watch(n)
    local ok, made = pcall(run)
    core.watch_host()
    local what = ("Ctrl-C at call %d of %d of the host (parallel, allocate, scratch)"):format(
      n + 1, count)
    if ok then
      expect_same(t, made, want, what .. ", which did not end it")
    else
      t:expect(options.is_interrupt(made), "%s ends with another error: %s", what, made)
    end
    expect_same(t, run(), want, what .. ", and the next run")
  end)
  if not any then t:skip("it asks the host for nothing at which it could be stopped") end
end

return {
  { name = "repeats", about = "a run gives the same bits whatever ran before",
    run = check_repeats },
  { name = "instances", about = "instances with other options do not disturb each other",
    run = check_instances },
  { name = "lives", about = "memory does not grow over a thousand instances", run = check_lives,
    plain_malloc = true },
  { name = "uses", about = "memory and open files do not grow with use", run = check_uses,
    plain_malloc = true },
  { name = "no-memory", about = "if allocate or scratch fails, a sentence says so; nothing leaks",
    run = check_memory },
  { name = "ctrl-c", about = "Ctrl-C ends a run as interrupted, and not with a wrong result",
    run = check_cancel },
}
