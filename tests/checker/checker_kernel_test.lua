-- The checker of plugins on every built-in kernel.
local lu = require "luaunit"
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

os.exit(lu.LuaUnit.run(), true)
