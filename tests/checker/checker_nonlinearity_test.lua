-- Every built-in nonlinearity passes the checker, without a warning. What tests skip is listed, so
-- that one which skips all of them by mistake shows.
local lu = require "luaunit"
local sc = require "scullery"
local passes = dofile "tests/helpers/passes.lua"

local names = {}
for _, entry in ipairs(sc.plugin.list()) do
  if entry.kind == "nonlinearity" then names[#names + 1] = entry.name end
end
table.sort(names)

-- What the tests say nothing about, as these have no such ability, form or option.
local skipped = {
  abs = "bounds words random-options no-memory ctrl-c bound scale-free two-valued \z
    threshold-dual harmonic categories planes code-words code-dual domain effects",
  arccos = "words no-memory ctrl-c threshold-dual harmonic categories planes code-words \z
    code-dual domain",
  bins = "bounds words random-options no-memory ctrl-c at-once guard-pages strides alignment \z
    outputs-written in-place independence threads odd-numbers large-numbers float32 bound \z
    lipschitz breaks scale-free two-valued smoothing smoothing-blocks gaussian-dual \z
    threshold-dual harmonic code-dual special-numbers far-options formula relations \z
    domain effects",
  chi_square = "words no-memory ctrl-c float32 bound lipschitz scale-free two-valued smoothing \z
    smoothing-blocks gaussian-dual threshold-dual harmonic categories planes code-words code-dual \z
    relations",
  erf = "bounds words random-options no-memory ctrl-c scale-free two-valued threshold-dual \z
    harmonic categories planes code-words code-dual domain effects",
  exp = "bounds words random-options no-memory ctrl-c bound lipschitz scale-free two-valued \z
    threshold-dual harmonic categories planes code-words code-dual domain effects",
  fourier = "bounds random-options no-memory ctrl-c scale-free two-valued threshold-dual \z
    categories planes code-words code-dual domain",
  identity = "bounds words random-options no-memory ctrl-c bound scale-free two-valued \z
    threshold-dual harmonic categories planes code-words code-dual domain effects",
  logistic = "bounds words random-options no-memory ctrl-c scale-free two-valued smoothing \z
    smoothing-blocks threshold-dual harmonic categories planes code-words code-dual domain effects",
  maxout = "words no-memory ctrl-c bound scale-free two-valued threshold-dual harmonic \z
    planes domain",
  relu = "bounds words random-options no-memory ctrl-c bound scale-free two-valued \z
    threshold-dual harmonic categories planes code-words code-dual domain effects",
  sign = "bounds words random-options no-memory ctrl-c lipschitz harmonic categories planes \z
    code-words \z
    domain effects",
  sin = "bounds words random-options no-memory ctrl-c scale-free two-valued threshold-dual \z
    harmonic categories planes code-words code-dual domain effects",
  step = "bounds words random-options no-memory ctrl-c lipschitz harmonic categories planes \z
    code-words \z
    domain effects",
  tanh = "bounds words random-options no-memory ctrl-c scale-free two-valued smoothing \z
    smoothing-blocks threshold-dual harmonic categories planes code-words code-dual domain effects",
}

-- Under the thread sanitizer: the test of threads alone.
local only = (os.getenv("SCULLERY_SANITIZE") or ""):find("thread", 1, true) and "threads" or nil

-- chi_square alone has an option of numbers that are not whole.
local function expected(name)
  local more = name == "chi_square" and "" or " cuts"
  if not only then return skipped[name] .. more end
  return (" " .. skipped[name] .. " "):find(" threads ", 1, true) and only or ""
end

TestBuiltIn = {}

for _, name in ipairs(names) do
  TestBuiltIn["test_" .. name] = function()
    lu.assertEquals(table.concat(passes("nonlinearity." .. name, { seed = 1, in_process = true,
      only = only }), " "), expected(name))
  end
end

os.exit(lu.LuaUnit.run())
