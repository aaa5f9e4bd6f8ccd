-- The checker of plugins on every built-in sampler.
local lu = require "luaunit"
local checked = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/checked.lua")

checked("sampler", {
  seeds = "columns landmarks leverage",
  periods = "columns landmarks leverage",
  addresses = "columns landmarks leverage",
  moments = "columns grid landmarks leverage maclaurin patches positive skewed_chi_square sparse "
    .. "tensorsketch threshold",
  ["far-options"] = "columns grid landmarks leverage maclaurin patches pooled positive "
    .. "skewed_chi_square tensorsketch threshold",
  ["simple-form"] = "all but cauchy gaussian laplace rademacher uniform",
  law = "columns landmarks leverage maclaurin patches positive skewed_chi_square tensorsketch",
  bias = "columns grid landmarks maclaurin skewed_chi_square tensorsketch threshold",
  independence = "all but cauchy gaussian laplace rademacher sparse spherical student threshold "
    .. "uniform",
  characteristic = "columns grid landmarks leverage maclaurin positive "
    .. "skewed_chi_square tensorsketch threshold",
  distribution = "all but threshold",
  collision = "all but grid",
  pool = "all but pooled",
  scales = "all but columns leverage maclaurin tensorsketch",
  apply = "all but hadamard maclaurin positive skewed_chi_square tensorsketch",
  columns = "all but cauchy gaussian laplace rademacher student uniform",
  prepare = "all but hadamard tensorsketch",
  learn = "all but landmarks leverage",
  kernel = "columns landmarks leverage",
  rate = "columns hadamard landmarks leverage maclaurin orthogonal pooled positive "
    .. "qmc tensorsketch",
  domain = "all but skewed_chi_square",
  effects = "columns",
  cuts = "columns landmarks leverage pooled",
  lists = "all but gaussian",
  ["columns-differ"] = "hadamard landmarks leverage maclaurin patches positive "
    .. "skewed_chi_square tensorsketch",
  ["sparse-rows"] = "columns landmarks patches",
})

os.exit(lu.LuaUnit.run(), true)
