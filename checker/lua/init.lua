--- The checker of plugins: what every component must do, tried out. A test is a table { name,
--- about, run = function(t) end, seconds = }, in check/common.lua for all kinds and in
--- check/KIND.lua for one; it runs in a process of its own, and says what it finds by the methods
--- of t (check/trial.lua). in_c = true: it says nothing of components that are defined in Lua.
--- plain_malloc = true: it asks how much malloc has given out.
local core = require "scullery_checker.core"
local options = require "scullery.base.options"
local process = require "scullery_checker.process"
local subject = require "scullery_checker.subject"
local trial = require "scullery_checker.trial"

local check = {}

--- check.patience, check.short_patience: seconds that a test may take unless it says otherwise; and
--- after a test of the same component that did not end. check.most_timeouts: so many of these, and
--- the other tests of the component are not run.
check.patience, check.short_patience, check.most_timeouts = 60, 10, 2

local rules = options.declare("plugin.check", {
  only = { type = "string" },
  seed = { type = "integer", low = 0 },
  seconds = { type = "number", above = 0 },
  in_process = { type = "boolean", default = false },
  variants = { type = "table" },
  with = { type = "table" },
  report = { type = "function" },
})

--- check.loading: the test of a file, before any of its components.
check.loading = { name = "load", about = "the file is opened, and holds what the header asks for" }

--- check.tests(kind): the tests of a kind: a list.
function check.tests(kind)
  local list = {}
  for _, name in ipairs{ "common", kind } do
    for _, one in ipairs(require("scullery_checker." .. name)) do list[#list + 1] = one end
  end
  return list
end

-- The tests of that name, or those that have it in their name.
local function chosen(list, only)
  local found = {}
  for _, one in ipairs(list) do
    if not only or one.name == only then found[#found + 1] = one end
  end
  if #found > 0 then return found end
  for _, one in ipairs(list) do
    if one.name:find(only, 1, true) then found[#found + 1] = one end
  end
  return found
end

-- A new seed for each run, from the clock.
local function fresh_seed() return math.floor(core.clock() * 1e6) % 1000000007 end

-- ------------ one test

local function in_child(one, test, o, timeouts)
  local seconds = o.seconds or timeouts > 0 and check.short_patience or test.seconds
    or check.patience
  local words = { "--component", one.title, "--only", test.name, "--seed", tostring(o.seed) }
  for _, path in ipairs(o.with or {}) do
    words[#words + 1], words[#words + 2] = "--with", path
  end
  local result, ended, printed, after = process.run(one.source, words, seconds,
    not test.plain_malloc and function(given)
      check.report_child(one.source, { component = one.title, only = test.name, seed = o.seed,
        report = given.report, seconds = given.seconds, with = o.with })
    end)
  if not result then return ended end
  if after then return { outcome = after.outcome, text = after.text .. ", after the test" } end
  if printed and result.outcome == "pass" then
    return { outcome = "fail", text = "the plugin prints: " .. printed }
  end
  return result
end

--- check.report_child(target, given): what a process of the checker does: the one test given.only
--- of given.component, or without it the list of the components of the file.
function check.report_child(target, given)
  process.begin(given)
  if not given.component then
    local ok, list = pcall(subject.list, target)
    if not ok then list = { refused = options.plain(tostring(list)) } end
    for i, one in ipairs(list) do list[i] = { kind = one.kind, name = one.name } end
    process.report(given, list)
    return
  end
  subject.load_companions(given.with)
  local one = subject.find(target, given.component)
  for _, test in ipairs(check.tests(one.kind)) do
    if test.name == given.only then process.report(given, trial.run(one, test, given.seed)) end
  end
end

-- ------------ the components of a target

-- A file is opened in another process first: what happens there does not end this one.
local function list_in_child(path, o)
  local list, ended, printed, after = process.run(path, {}, o.seconds or check.patience,
    function(given) check.report_child(path, given) end)
  if not list then return nil, ended end
  if list.refused then return nil, { outcome = "fail", text = list.refused } end
  if after then return nil, after end
  if printed then return nil, { outcome = "fail", text = "the plugin prints: " .. printed } end
  for i, info in ipairs(list) do list[i] = subject.new(info, path) end
  return list
end

-- Its components; nil and a result where it cannot be opened.
local function open(target, o)
  if subject.is_file(target) and not o.in_process then return list_in_child(target, o) end
  local ok, list = pcall(subject.list, target)
  if ok then return list end
  if not subject.is_file(target) or options.is_interrupt(list) then error(list, 0) end
  return nil, { outcome = "fail", text = options.plain(tostring(list)) }
end

-- ------------ all of them

local counted = { pass = "passed", warn = "warned", skip = "skipped", fail = "failed",
  crash = "failed", timeout = "failed" }

local Run = {}
Run.__index = Run

function Run:add(result, test, component, began)
  result.component, result.name, result.about = component, test.name, test.about
  result.seconds = core.clock() - began
  local all = self.all
  all.results[#all.results + 1] = result
  all[counted[result.outcome]] = all[counted[result.outcome]] + 1
  if self.o.report then self.o.report(result) end
end

function Run:check_one(one)
  local o, timeouts = self.o, 0
  for _, test in ipairs(chosen(check.tests(one.kind), o.only)) do
    local began = core.clock()
    local result
    if timeouts >= check.most_timeouts then
      result = { outcome = "skip", text = ("not run after %d tests that did not \z
        end"):format(timeouts) }
    elseif o.in_process or one.in_lua then
      result = trial.run(one, test, o.seed)
    else
      result = in_child(one, test, o, timeouts)
    end
    if result.outcome == "timeout" then timeouts = timeouts + 1 end
    self:add(result, test, one.title, began)
    -- without an instance no other test has anything to say
    if test.name == "defaults" and (counted[result.outcome] == "failed") then return end
  end
end

function Run:check_target(target)
  local began = core.clock()
  local list, refused = open(target, self.o)
  if refused then
    self:add(refused, check.loading, target, began)
    return
  end
  if subject.is_file(target) and chosen({ check.loading }, self.o.only)[1] then
    local titles = {}
    for i, one in ipairs(list) do titles[i] = one.title end
    self:add({ outcome = "pass", text = table.concat(titles, ", ") }, check.loading, target, began)
  end
  for _, one in ipairs(list) do
    one.more = self.o.variants
    self:check_one(one)
  end
end

-- Whether the name is not that of a plugin: a source, a folder.
local function refuse_source(target)
  local about = core.file_about(target)
  if target:find "%.c[cp]*p?$" or target:find "%.lua$" then
    error(("plugin.check: %s is a source; it takes the shared object that a compiler makes of \z
      it, FILE.so"):format(target), 0)
  end
  if about and about.folder then
    error(("plugin.check: %s is a folder; it takes FILE.so, or the name of a plugin"):format(
      target), 0)
  end
end

-- No test of the target has the name.
local function refuse_name(only, target)
  local kinds = {}
  for _, kind in ipairs(core.plugin_kinds()) do
    if chosen(check.tests(kind), only)[1] then
      kinds[#kinds + 1] = (kind .. "s"):gsub("ss$", "sses"):gsub("ys$", "ies")
    end
  end
  if chosen({ check.loading }, only)[1] then kinds[#kinds + 1] = "files" end
  error(("plugin.check: only = \"%s\": %s; scullery plugin check --list names all tests"):format(
    only, #kinds == 0 and "there is no such test"
    or ("a test of %s, and %s is none"):format(table.concat(kinds, " and "), target)), 0)
end

--- check.run(target, given): as sc.plugin.check takes it.
function check.run(target, given)
  if type(target) ~= "string" then
    error("plugin.check: takes the path of FILE.so, or the name of a plugin, and got "
      .. options.show(target), 2)
  end
  local o = options.check("plugin.check", given, rules, 2)
  if o.only == "" then
    error("plugin.check: option 'only' takes the name of a test, and got an empty text", 2)
  end
  refuse_source(target)
  if o.variants and not o.in_process then
    error("plugin.check: option 'variants' takes in_process = true: it does not reach the \z
      processes \z
      of single tests", 2)
  end
  for _, path in ipairs(o.with or {}) do
    if type(path) ~= "string" then
      error("plugin.check: option 'with' takes a list of paths FILE.so, and got "
        .. options.show(o.with), 2)
    end
  end
  if o.in_process then subject.load_companions(o.with) end
  o.seed = o.seed or fresh_seed()
  local all = { seed = o.seed, passed = 0, warned = 0, skipped = 0, failed = 0, results = {} }
  setmetatable({ all = all, o = o }, Run):check_target(target)
  if #all.results == 0 then refuse_name(o.only, target) end
  return all
end

return check
