--- scullery plugin check FILE.so: the command.
local check = require "scullery_checker"
local core = require "scullery_checker.core"
local process = require "scullery_checker.process"
local say = require "scullery.base.say"

local command = {}

-- A converter for options that take a whole number; argparse shows its message.
local function whole(option)
  return function(text)
    local number = math.tointeger(tonumber(text))
    if number and number >= 0 then return number end
    return nil, ("option '%s' takes a whole number from 0 on, and got '%s'"):format(option, text)
  end
end

local function seconds(text)
  local number = tonumber(text)
  if number and number > 0 and number < math.huge then return number end
  return nil, ("option '--seconds' takes a number above 0, and got '%s'"):format(text)
end

--- command.arguments(parser): declare the arguments for argparse.
function command.arguments(parser)
  parser:argument("target", "FILE.so, or NAME or KIND.NAME of a plugin that can be asked for; \z
    several files that go with each other alone: each is checked with the others; with --watch \z
    FILE.c or FILE.cpp")
    :args("*")
  parser:option("--only", "the name of a test, or a part of it"):argname "TEST"
  parser:option("--seed", "of all random draws; a fresh one without"):argname "SEED"
    :convert(whole "--seed")
  parser:option("--seconds", ("that each test may take: without it %d (some %d), and %d after a \z
    test that did not end; after %d of those the others are not run"):format(check.patience,
    2 * check.patience, check.short_patience, check.most_timeouts)):argname "SECONDS"
    :convert(seconds)
  parser:flag("--watch", "compile FILE.c and check it, now and after each change of a source in \z
    its folder, until Ctrl-C; of the tests those that did not pass are shown")
  parser:flag("--json", "the results as JSON")
  parser:flag("--list", "the tests, and what each one means")
  parser:flag("--in-process", "all tests in this process, as a debugger likes it")
  parser:option("--reproduce", "the seed of an earlier run, all in this process: the same as \z
    --seed SEED --in-process"):argname "SEED":convert(whole "--reproduce")
  parser:option("--component"):hidden(true)
  parser:option("--report"):hidden(true)
  parser:option("--alone"):hidden(true)
  parser:option("--with"):count("*"):hidden(true)
end

-- The tests, each { kind, name, what it means }.
local function tests()
  local rows, seen = { { "file", check.loading.name, check.loading.about } }, {}
  for _, kind in ipairs(core.plugin_kinds()) do
    for _, one in ipairs(check.tests(kind)) do
      if not seen[one] then
        local common = false
        for _, other in ipairs(require "scullery_checker.common") do
          common = common or other == one
        end
        rows[#rows + 1] = { common and "all" or kind, one.name, one.about }
        seen[one] = true
      end
    end
  end
  return rows
end

local function list_tests(given)
  local rows = { { "kind", "test", "what it means" } }
  for _, row in ipairs(tests()) do
    if row[2]:find(given.only or "", 1, true) then rows[#rows + 1] = row end
  end
  if #rows == 1 then error(("plugin check: no test has '%s' in its name"):format(given.only), 0) end
  if not given.json then
    say(require("scullery.base.text_table").text(rows, { sides = { "left", "left", "left" } }))
    return
  end
  local list = {}
  for i = 2, #rows do
    list[i - 1] = { kind = rows[i][1], name = rows[i][2], about = rows[i][3] }
  end
  print(core.json_encode(list))
end

local words = { pass = "pass", warn = "WARN", skip = "skip", fail = "FAIL", crash = "CRASH",
  timeout = "TIMEOUT" }

local function reporter(target)
  local last
  return function(result)
    if result.component ~= last then
      say((last and "\n" or "") .. (result.component == target and target
        or ("%s (%s)"):format(result.component, target)))
      last = result.component
    end
    local text = result.text ~= "" and result.text or result.about
    say(("  %-8s %-24s %s"):format(words[result.outcome], result.name, text))
  end
end

local function again(all, target)
  for _, result in ipairs(all.results) do
    if result.outcome == "fail" or result.outcome == "crash" or result.outcome == "timeout" then
      say(("again, in one process: scullery plugin check %s --only %s --reproduce %d"):format(
        target, result.name, all.seed))
      return
    end
  end
end

-- The sources in the folder of a file, as one text.
local function sources(path)
  local folder, parts = path:match("^(.*/)") or "./", {}
  for _, file in ipairs(core.folder(folder) or {}) do
    if not file.folder and file.name:find "%.[ch][cpx]?[px]?$" then
      local source = io.open(folder .. file.name, "rb")
      parts[#parts + 1] = source and file.name .. source:read("a") or nil
      if source then source:close() end
    end
  end
  table.sort(parts)
  return table.concat(parts)
end

-- Compile and check a source; what fails is printed.
local function check_source(given)
  local ok, first, _, list = pcall(require("scullery").plugin.compile, { file = given.target })
  if not ok then
    if require("scullery.base.options").is_interrupt(first) then error(first, 0) end
    return say((tostring(first):gsub("^.-plugin%.compile: ", "")))
  end
  local report = reporter(given.target)
  local all = check.run(list[1].path, { only = given.only, seed = given.seed,
    seconds = given.seconds, report = function(result)
      if result.outcome ~= "pass" and result.outcome ~= "skip" then report(result) end
    end })
  say(("%s: %d passed, %d warned, %d skipped, %d failed; seed %d"):format(given.target, all.passed,
    all.warned, all.skipped, all.failed, all.seed))
end

-- Check a source at each change.
local function watch(given, target)
  if #given.target > 1 then
    error(("plugin check: --watch takes one source, and got %d"):format(#given.target), 0)
  end
  given.target = target
  if not given.target:find "%.c[cpx]?[px]?$" then
    error(("plugin check: --watch takes a source, FILE.c or FILE.cpp, and got '%s'"):format(
      given.target), 0)
  end
  if not core.file_about(given.target) then
    error(("plugin check: there is no file '%s'"):format(given.target), 0)
  end
  local before
  while true do
    local now = sources(given.target)
    if now ~= before then check_source(given) end
    before = now
    core.sleep(0.2)
  end
end

-- What a process of the checker does.
local function answer(given, target, seed)
  if given.alone then
    return require("scullery_checker.alone").answer(target, { component = given.component,
      seed = seed, report = given.report, seconds = given.seconds, alone = given.alone,
      with = given.with })
  end
  return check.report_child(target, { component = given.component, only = given.only,
    seed = seed, report = given.report, seconds = given.seconds, with = given.with })
end

-- The checks of one target, beside the files `others`.
local function check_one(given, target, others, seed)
  require "scullery".plugin.list() -- loaded once, not in each copy
  process.copies = true
  local all = check.run(target, { only = given.only, seed = seed, seconds = given.seconds,
    in_process = given.in_process or given.reproduce ~= nil, with = others,
    report = not given.json and reporter(target) or nil })
  process.copies = false
  if given.json then
    print(core.json_encode(all))
  else
    say(("%d passed, %d warned, %d skipped, %d failed; seed %d"):format(all.passed, all.warned,
      all.skipped, all.failed, all.seed))
    again(all, target)
  end
  return all.failed
end

--- command.run(given): run the checks; given: the result of argparse. Fails where a test failed.
function command.run(given)
  if given.list then return list_tests(given) end
  local targets = given.target
  if not targets[1] then error("plugin check: takes FILE.so, or the name of a plugin", 0) end
  local seed = given.reproduce or given.seed
  if given.watch then return watch(given, targets[1]) end
  if given.alone or given.report then return answer(given, targets[1], seed) end
  local failed = 0
  for i, target in ipairs(targets) do
    local others = table.move(targets, 1, #targets, 1, {})
    table.remove(others, i)
    failed = failed + check_one(given, target, #others > 0 and others or nil, seed)
  end
  return failed > 0 and 1 or 0
end

return command
