--- Rates of this machine for plans: measured with small matrices, at the first call, once for a
--- process. scullery bench measures them with larger ones (bench/measure.lua).
local core = require "scullery.core"

local rates = {}

local ORDER = 512 -- of the matrices: all rates take below a second
local known = {}

--- rates.of(name): a rate per second: gemm_float64, gemm_float32, syrk_float64, syrk_float32 and
--- potrf: floating-point operations; memory: bytes read.
function rates.of(name)
  if known[name] then return known[name] end
  local kind, dtype = name:match "^(%a+)_(float%d+)$"
  if kind then
    known[name] = core.ceiling(kind, dtype, ORDER) * 1e9
  else
    known.potrf, known.memory = core.ceiling_rates(ORDER)
  end
  return known[name]
end

return rates
