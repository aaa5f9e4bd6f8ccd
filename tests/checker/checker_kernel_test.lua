-- The checker of plugins on every built-in kernel.
local lu = require "luaunit"
local sc = require "scullery"
local checked = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/checked.lua")

checked("kernel", {
  ["simple-form"] = "additive chi_square intersection min_max product skewed_chi_square sum",
  prepare = "all but ", -- no built-in kernel has work to share
  tilt = "all but exponential gaussian indicator product",
  bind = "all but gaussian",
  width = "all but exponential gaussian laplacian matern",
  domain = "all but chi_square intersection min_max skewed_chi_square",
  effects = "angular chi_square indicator intersection min_max product",
  cuts = "additive angular chi_square indicator intersection min_max product",
  ["far-options"] = "additive angular chi_square indicator intersection min_max product",
})

-- Wendland's kernel of d columns: its power grows with d // 2.
function TestAKernelThatGoesByTheNumberOfColumns()
  sc.kernel.define{ name = "wendland", eval = function(x, y)
    local square = 0
    for j = 1, #x do square = square + (x[j] - y[j]) ^ 2 end
    return math.max(1 - math.sqrt(square) / 9, 0) ^ (#x // 2 + 1)
  end }
  local found = sc.plugin.check("wendland", { only = "sizes", report = function(result)
    lu.assertEquals(result.text or "", "")
  end })
  lu.assertEquals({ found.passed, found.failed }, { 1, 0 })
end

os.exit(lu.LuaUnit.run(), true)
