-- The checker of plugins on every built-in row stage, with two seeds (builtin_seeds.lua has more),
-- and on stages that a script defines; broken_slow_test.lua has stages that are wrong.
local lu = require "luaunit"
local sc = require "scullery"
local passes = dofile "tests/helpers/passes.lua"

-- Nothing fails. Rows of tests that declare nothing are skipped.
local function check_one(name, seed, only)
  passes("stage." .. name, { seed = seed, in_process = true, only = only })
end

local built_in = {}
for _, one in ipairs(sc.plugin.list()) do
  if one.kind == "stage" then built_in[#built_in + 1] = one.name end
end

-- One seed for those that take seconds.
local seeds = { agop = 1, hash_columns = 1 }

TestStages = {}
for _, name in ipairs(built_in) do
  TestStages["test_" .. name] = function()
    for seed = 1, seeds[name] or 2 do check_one(name, seed) end
  end
end

function TestStages.test_there_are_all()
  lu.assertEquals(#built_in, 15)
end

function TestStages.test_defined_in_lua()
  sc.stage.define{ name = "centred", version = "1.0", summary = "columns over deviations",
    doc = "x becomes factor (x - mean)/s, with the mean and the standard deviation s of its \z
      column in the rows of the fit; a constant column becomes 0.",
    options = { factor = { default = 1,
    above = 0, high = 9, help = "of all columns" } },
    column = function(mean, deviation, _, _, o)
      return mean, deviation > 0 and o.factor / deviation or 1
    end, scale_free = true }
  sc.stage.define{ name = "root", version = "1.0", summary = "signed roots",
    doc = "x becomes the root of |x| with the sign of x, number by number; nothing is learnt \z
      from the rows of the fit.",
    eval = function(x)
    return x < 0 and -math.sqrt(-x) or math.sqrt(x)
  end }
  for _, test in ipairs(require "scullery_checker.stage") do
    check_one("centred", 1, test.name)
    check_one("root", 2, test.name)
  end
end

os.exit(lu.LuaUnit.run(), true)
