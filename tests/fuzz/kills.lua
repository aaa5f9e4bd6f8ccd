--- SIGKILL while files are written: at any moment a name has the old file or the new one, whole;
--- and what a killed writer left is gone after the next writer of that name.
---
---   scullery tests/fuzz/kills.lua [--seed S] [--seconds T]
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local sc = require "scullery"
local support = require "support"

local o = attack.options(arg, { seed = "1", seconds = 60 })

-- Two versions of each file, written in turn for ever; and once, by the argument "once".
local script = [[
local core, predict = require "scullery.core", require "scullery.model.predict"
local kind, once = ...
local a, b = sc.zeros(20000, 10), sc.ones(20000, 10)
local function model(T)
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(),
    T = T, seed = 1 }, sc.solver.ridge() }:fit(sc.dataset{ X = sc.randn{ 50, 3, seed = 1 },
    y = sc.ones(50, 1) })
end
local models = kind == "model" and { model(2000), model(3000) }
local function predictions(ending)
  return function(first)
    predict.run{ model = first and "a.model" or "b.model", data = "rows.npy",
      output = "out." .. ending }
  end
end
local writers = {
  csv = function(first) core.write_csv(first and a or b, nil, "out.csv") end,
  npy = function(first) (first and a or b):save("out.npy") end,
  model = function(first) models[first and 1 or 2]:save("out.model") end,
  text = function(first) core.write_text("out.text", (first and "a" or "b"):rep(3000000)) end,
  said_csv = predictions "csv", said_npy = predictions "npy",
  codes = function(first) sc.codes(first and a or b, 2):save("out.codes") end,
}
if kind == "prepare" then
  sc.randn{ 20000, 3, seed = 1 }:save("rows.npy")
  model(20):save("a.model")
  model(30):save("b.model")
  return
end
local first = true
repeat
  writers[kind](first)
  first = not first
until once
]]

local kinds = { "csv", "npy", "model", "text", "said_csv", "said_npy", "codes" }

local finding = attack.finding

local folder = attack.folder()
support.write(folder .. "script.lua", script)
local function run(arguments, seconds)
  return attack.scullery{ folder = folder, arguments = "script.lua " .. arguments,
    seconds = seconds }
end
assert(run("prepare", 60) == 0)

-- The bytes that a file may have: those of both versions, found by writers that nobody kills.
-- A model's text has seconds in it, so loading it is the test: a digest of all its bytes is inside.
local function check(kind, path)
  local file = io.open(path, "rb")
  if not file then return end
  local bytes = file:read("a")
  file:close()
  local whole, why = true, "it is cut off"
  if kind == "model" then whole, why = pcall(sc.load, path) end
  if kind == "codes" then whole, why = pcall(sc.codes.load, path) end
  if kind:find("npy") then whole, why = pcall(sc.data.npy, path) end
  if kind == "text" then whole = bytes == bytes:sub(1, 1):rep(3000000) end
  if kind:find("csv") then
    local _, lines = bytes:gsub("\n", "")
    whole = lines == (kind == "csv" and 20000 or 20001) or lines == 20001
    whole = whole and bytes:sub(-1) == "\n"
  end
  if not whole then finding("%s: a torn file of %d bytes: %s", kind, #bytes, tostring(why)) end
end

local random, tried, left = attack.random(attack.seed(o.seed)), 0, 0
local began = os.time()
local known = { ["script.lua"] = true, ["rows.npy"] = true, ["a.model"] = true, ["b.model"] = true }
local function others(out)
  local list = {}
  for _, name in ipairs(attack.files(folder)) do
    if not known[name] and name ~= out then list[#list + 1] = name end
  end
  return list
end

while os.difftime(os.time(), began) < o.seconds do
  local kind = kinds[random(#kinds)]
  local out = "out." .. (kind:match("said_(.*)") or kind)
  for _ = 1, 2 do
    local status, _, errors = run(kind, 0.15 + random(1000) / 1000)
    tried = tried + 1
    if status ~= 137 then finding("%s: status %d before the kill: %s", kind, status, errors) end
    check(kind, folder .. out)
  end
  left = left + #others(out)
  local status, _, errors = run(kind .. " once", 60)
  if status ~= 0 then finding("%s: the next writer: status %d: %s", kind, status, errors) end
  check(kind, folder .. out)
  for _, name in ipairs(others(out)) do
    finding("%s: %s is left after the next writer", kind, name)
    os.remove(folder .. name)
  end
  os.remove(folder .. out)
end
attack.remove(folder)
print(("%d kills left %d unfinished files; %d findings"):format(tried, left, attack.found))
os.exit(attack.found == 0)
