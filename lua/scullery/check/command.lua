--- scullery plugin check FILE.so: the command.
local check = require "scullery.check"
local core = require "scullery.core"

local command = {}

--- command.arguments(parser): what it takes, for argparse.
function command.arguments(parser)
  parser:argument("target", "FILE.so, or NAME or KIND.NAME of a plugin that can be asked for")
    :args("?")
  parser:option("--only", "the name of a test, or a part of it")
  parser:option("--seed", "of all random draws; a fresh one without"):convert(math.tointeger)
  parser:option("--seconds", "that each test may take"):convert(tonumber)
  parser:flag("--json", "the results as JSON")
  parser:flag("--list", "the tests, and what each one means")
  parser:flag("--in-process", "all tests in this process, as a debugger likes it")
  parser:option("--reproduce", "the seed of an earlier run: --seed and --in-process")
    :convert(math.tointeger)
  parser:option("--component"):hidden(true)
  parser:option("--report"):hidden(true)
end

local kinds = { "sampler", "nonlinearity", "kernel", "solver" }

local function list_tests()
  local table_text = require "scullery.text_table"
  local rows = { { "kind", "test", "what it means" },
    { "file", check.loading.name, check.loading.about } }
  local seen = {}
  for _, kind in ipairs(kinds) do
    for _, one in ipairs(check.tests(kind)) do
      if not seen[one] then
        local common = false
        for _, other in ipairs(require "scullery.check.common") do
          common = common or other == one
        end
        rows[#rows + 1] = { common and "all" or kind, one.name, one.about }
        seen[one] = true
      end
    end
  end
  print(table_text.text(rows, { sides = { "left", "left", "left" } }))
end

local words = { pass = "pass", warn = "WARN", skip = "skip", fail = "FAIL", crash = "CRASH",
  timeout = "TIMEOUT" }

local function reporter(target)
  local last
  return function(result)
    if result.component ~= last then
      print(("%s%s (%s)"):format(last and "\n" or "", result.component, target))
      last = result.component
    end
    local text = result.text ~= "" and result.text or result.about
    print(("  %-8s %-24s %s"):format(words[result.outcome], result.name, text))
  end
end

local function again(all, target)
  for _, result in ipairs(all.results) do
    if result.outcome == "fail" or result.outcome == "crash" or result.outcome == "timeout" then
      print(("again, in one process: scullery plugin check %s --only %s --reproduce %d"):format(
        target, result.name, all.seed))
      return
    end
  end
end

--- command.run(given): what argparse gave. Fails where a test failed.
function command.run(given)
  if given.list then return list_tests() end
  if not given.target then error("plugin check: takes FILE.so, or the name of a plugin", 0) end
  local seed = given.reproduce or given.seed
  if given.report then
    return check.report_child(given.target, { component = given.component, only = given.only,
      seed = seed, report = given.report, seconds = given.seconds })
  end
  local all = check.run(given.target, { only = given.only, seed = seed, seconds = given.seconds,
    in_process = given.in_process or given.reproduce ~= nil,
    report = not given.json and reporter(given.target) or nil })
  if given.json then
    print(core.json_encode(all))
  else
    print(("%d passed, %d warned, %d skipped, %d failed; seed %d"):format(all.passed, all.warned,
      all.skipped, all.failed, all.seed))
    again(all, given.target)
  end
  return all.failed > 0 and 1 or 0
end

return command
