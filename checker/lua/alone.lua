--- A small run of one instance in a fresh process, where no other instance was before it: what the
--- static variables of a plugin hold there, no other instance has put there.
local automatic = require "scullery.model.automatic"
local core = require "scullery_checker.core"
local options = require "scullery.base.options"
local process = require "scullery_checker.process"
local subject = require "scullery_checker.subject"

local alone = {}

local special = { inf = math.huge, ["-inf"] = -math.huge }

-- Runs of zeros, of which the rows of wide stages are made, are "z" and their length.
local function report_of(matrix)
  local list, zeros = {}, 0
  local function flush()
    if zeros > 0 then list[#list + 1] = "z" .. zeros end
    zeros = 0
  end
  for i = 1, matrix:rows() do
    for j = 1, matrix:cols() do
      local value = matrix:get(i, j)
      if value == 0 and 1 / value > 0 then
        zeros = zeros + 1
      else
        flush()
        list[#list + 1] = ("%a"):format(value)
      end
    end
  end
  flush()
  return { rows = matrix:rows(), cols = matrix:cols(), numbers = table.concat(list, " ") }
end

local function matrix_of(report)
  local made, at = core.zeros(report.rows, report.cols), 0
  for text in report.numbers:gmatch("%S+") do
    local zeros = text:match("^z(%d+)$")
    if not zeros then
      made:set(at // report.cols + 1, at % report.cols + 1,
        tonumber(text) or special[text] or 0 / 0)
    end
    at = at + (zeros and math.tointeger(zeros) or 1)
  end
  return made
end

--- alone.use(t, given, rows): what subject.use makes of the component under test with these
--- options, in a process of its own. It takes a test that runs in a process of the checker.
function alone.use(t, given, rows)
  local one = t.subject
  local asked = core.json_encode{ options = given, rows = rows }
  local words = { "--component", one.title, "--alone", asked, "--seed", tostring(t.seed) }
  for _, path in ipairs(subject.companion_paths) do
    words[#words + 1], words[#words + 2] = "--with", path
  end
  local report, ended = process.run(one.source, words, process.seconds)
  t:expect(report, "an instance with %s in a separate process: %s", options.show(given),
    ended and ended.text)
  t:expect(not report.refused, "an instance with %s in a separate process: %s",
    options.show(given), report.refused)
  return matrix_of(report)
end

--- alone.answer(target, given): the other side: reports what given.alone, JSON, asks for.
function alone.answer(target, given)
  process.begin(given)
  automatic.chooses = false -- as in the test that asks
  local asked = core.json_decode(given.alone, "--alone")
  subject.load_companions(given.with)
  local one = subject.find(target, given.component)
  local ok, made = pcall(function()
    return subject.use(one:make(asked.options), given.seed, asked.rows)
  end)
  process.report(given, ok and report_of(made) or { refused = options.plain(tostring(made)) })
end

return alone
