--- Rates of this machine for plans: measured with small matrices, at the first call, once for a
--- process. scullery bench measures them with larger ones (bench/measure.lua).
local core = require "scullery.core"

local rates = {}

-- Orders of the matrices, with which all rates take below a second. Factorisations are slower than
-- products at small orders.
local ORDER, FACTORED = 512, 1024
local known = {}

local BLOCK = 1 << 26 -- bytes
rates.BLOCK = BLOCK

-- Copies a block of zeros, which takes pages from the system; then again, when these pages are in
-- use already: virtual machines take long to provide the others.
local function touch_pages()
  local held = { core.zeros(BLOCK // 8, 1) }
  for _, name in ipairs{ "fresh", "reused" } do
    core.memory_left(true)
    local began = core.now()
    held[1]:copy()
    known[name] = BLOCK / (core.now() - began)
    collectgarbage()
    collectgarbage() -- the second round frees the copy
  end
  held[1] = nil
  collectgarbage()
  collectgarbage()
  core.memory_left(true)
end

--- rates.of(name): a rate per second: gemm_float64, gemm_float32, syrk_float64, syrk_float32 and
--- potrf: floating-point operations; memory: bytes read; counts: products of two bits; fresh: bytes
--- that are new to the process; reused: as fresh, of the BLOCK bytes that were measured.
function rates.of(name)
  if known[name] then return known[name] end
  if name == "fresh" or name == "reused" then
    touch_pages()
    return known[name]
  end
  local kind, dtype = name:match "^(%a+)_(float%d+)$"
  if kind then
    known[name] = core.ceiling(kind, dtype, ORDER) * 1e9
  else
    known.potrf, known.memory, known.counts = core.ceiling_rates(FACTORED)
  end
  return known[name]
end

return rates
