-- What a failure on the way is taken for: an interrupt or too little memory is no answer to whether
-- something can be done.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local models, support = require "small_models", require "support"
local options = require "scullery.base.options"

function TestAttempts()
  lu.assertEquals({ options.attempt(math.max, 1, 2) }, { true, 2 })
  lu.assertFalse((options.attempt(error, "it cannot be done", 0)))
  support.fails({ "interrupted!" }, options.attempt, error, "fit: interrupted!", 0)
  support.fails({ "not enough memory" }, options.attempt, error, "not enough memory", 0)
end

-- Errors that are tables carry a sentence and what was finished; others are no answer either way.
function TestErrorsThatAreTables()
  local stopped = { message = "pipeline:search: interrupted!", cells = {} }
  local ok, raised = pcall(options.attempt, error, stopped)
  lu.assertTrue(not ok and raised == stopped)
  local full = setmetatable({ message = "fit: not enough memory for 1.6 GB" }, {})
  ok, raised = pcall(options.attempt, error, full)
  lu.assertTrue(not ok and raised == full)
  for _, other in ipairs{ { message = "no" }, { message = 3 }, {}, { "interrupted!" },
    setmetatable({}, { __index = { message = "interrupted!" } }), print, true } do
    ok, raised = options.attempt(error, other)
    lu.assertTrue(ok == false and raised == other)
  end
  lu.assertEquals({ options.attempt(error, nil) }, { false, nil })
end

function TestWhichSentencesAreInterrupts()
  for _, sentence in ipairs{ "interrupted!", "prompt:1: interrupted!",
    "x.lua:3: pipeline:fit: interrupted!", "interrupted! (3 of 9 cells are finished)",
    "pipeline:search: interrupted! (3 of 9 cells are finished)" } do
    lu.assertTrue(options.is_interrupt(sentence), sentence)
    lu.assertTrue(options.is_interrupt{ message = sentence }, sentence)
  end
  for _, sentence in ipairs{ "text with interrupted! inside", "interrupted", "interrupted!!",
    "uninterrupted!", "was interrupted! (yes)", "interrupted!: x", "x: interrupted! y", "" } do
    lu.assertFalse(options.is_interrupt(sentence), sentence)
  end
  for _, raised in ipairs{ 3, true, {}, print } do lu.assertFalse(options.is_interrupt(raised)) end
end

-- Every allocation of the engine fails once: what is saved can be loaded, whatever failed.
function TestAFailedAllocationLeavesNoWrongFile()
  local p, path, failed = models.linear().fit(), os.tmpname(), 0
  for n = 0, 100 do
    os.remove(path)
    core.fail_allocation_after(n)
    local ok, message = pcall(p.save, p, path)
    core.fail_allocation_after(-1)
    if not ok then
      failed = failed + 1
      lu.assertStrContains(message, "not enough memory")
    else
      sc.load(path)
    end
  end
  os.remove(path)
  lu.assertTrue(failed > 20)
end

-- A plugin that is not loaded yet, and an allocation on the way to it.
function TestAComponentIsNotUnknownWhereMemoryRanOut()
  for n = 0, 5 do
    core.fail_allocation_after(n)
    local ok, message = pcall(core.plugin_info, "sampler", "cauchy")
    core.fail_allocation_after(-1)
    if ok then
      lu.assertTrue(n > 0)
      return
    end
    lu.assertStrContains(message, "not enough memory")
  end
end

function TestTextsAreCutBetweenCharacters()
  for _, letter in ipairs{ "x", "\u{fc}", "\u{6f22}", "\u{1d11e}" } do
    for before = 0, 3 do
      local _, message = pcall(sc.zeros, ("x"):rep(before) .. letter:rep(70))
      lu.assertStrContains(message, letter .. '..."')
      lu.assertNotNil(utf8.len(message), message)
    end
  end
end

-- Whatever is given, a sentence shows it shortly and without an address.
function TestValuesAreShownShortly()
  local odd = setmetatable({}, { __metatable = function() end })
  for _, value in ipairs{ ("x"):rep(70000), print, {}, io.stdout, coroutine.create(print), odd,
    { [print] = 1 } } do
    for _, f in ipairs{ sc.kernel.linear, sc.zeros, sc.metrics.mse, sc.standardize,
      function(v) sc.kernel.linear{ v } end, function(v) core.json_encode{ [{}] = v } end } do
      local ok, message = pcall(f, value)
      if not ok then
        lu.assertTrue(#message < 400)
        lu.assertNil(message:find("0x%x%x%x"), message)
        lu.assertNil(message:find("attempt to", 1, true), message)
      end
    end
  end
end

os.exit(lu.LuaUnit.run())
