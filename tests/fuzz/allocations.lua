--- The n-th allocation fails, for every n, over a script that reads, fits, searches, predicts and
--- saves (small_work.lua). Each run has to end: with what it was to do, or with status 1 and a
--- sentence; and a file that it wrote is whole.
---
---   scullery tests/fuzz/allocations.lua [--seed S] [--seconds T] [--first N] [--stride K | --all]
---
--- First the allocations that another call stack each makes fail, in random order; with --stride
--- every K-th from N on; --all is --stride 1. --from: all allocations behind fail as well. Under a
--- sanitizer the allocations of the engine fail, in this process.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local support = require "support"

local o = attack.options(arg, { seed = "1", seconds = 60, first = 1, stride = 0, all = false,
  from = false, child = false, shim = support.build .. "/tests/fuzz/failing_allocator.so" })

local findings, told = 0, {}
local function finding(...)
  local text = string.format(...)
  local kind = text:gsub("%d+", "N")
  findings = findings + 1
  if not told[kind] then print("finding: " .. text) end
  told[kind] = true
end

-- ------------ the engine's allocations

-- Every n until the part is done without a failure; returns how many failed.
local function fail_engine(name, f, began)
  local core = require "scullery.core"
  local failed = 0
  for n = 0, 100000 do
    core.fail_allocation_after(n)
    local ok, message = pcall(f)
    core.fail_allocation_after(-1)
    if ok then return failed, true end
    failed = failed + 1
    local fault = attack.fault(0, tostring(message))
    if fault or not tostring(message):find("memory") then
      finding("%s, allocation %d of the engine: %s", name, n, tostring(message))
    end
    if os.difftime(os.time(), began) > o.seconds then return failed, false end
  end
end

local function attack_engine()
  package.loaded.luaunit = true -- support asks for it
  local folder = attack.folder()
  local status, out, errors = attack.scullery{ folder = folder,
    arguments = ("%s --child --seconds %d"):format(support.quote(attack.source
      .. "/tests/fuzz/allocations.lua"), math.tointeger(o.seconds // 1)), variables =
      "SCULLERY_THREADS=1", seconds = o.seconds + 300 }
  attack.remove(folder)
  io.write(out)
  if status ~= 0 then finding("status %d: %s", status, errors) end
end

local function engine_child()
  local began, failed, done = os.time(), 0, 0
  local parts = require "small_work"
  for _, one in ipairs(parts) do
    local count, whole = fail_engine(one[1], one[2], began)
    failed, done = failed + count, done + (whole and 1 or 0)
    if os.difftime(os.time(), began) > o.seconds then break end
  end
  print(("%d allocations of the engine failed, %d of %d parts to their end"):format(failed, done,
    #parts))
  os.exit(findings == 0, true)
end

-- ------------ all allocations

local function run(folder, variable, value)
  local path = support.quote(attack.source .. "/tests/fuzz/small_work.lua")
  return attack.scullery{ folder = folder, arguments = path, seconds = 30,
    variables = "SCULLERY_THREADS=1",
    before = ("env LD_PRELOAD=%s %s=%s"):format(support.quote(o.shim), variable, value) }
end

-- What a run may leave: whole files, of the names that a run without failures leaves.
local function check_files(folder, wanted, n)
  for _, name in ipairs(attack.files(folder)) do
    local path = folder .. name
    if not wanted[name] then
      finding("allocation %d left the file %s", n, name)
    elseif name:find("^model") then -- its text has seconds
      local ok, message = pcall(require("scullery").load, path)
      if not ok then finding("allocation %d left half a model: %s", n, tostring(message)) end
    elseif name:find("^said") and support.read(path) ~= wanted[name] then
      finding("allocation %d left half of %s", n, name)
    end
  end
end

local function fail_one(n, wanted)
  local folder = attack.folder()
  local status, out, errors = run(folder, o.from and "FAIL_FROM" or "FAIL_AT", n)
  -- libgfortran, which OpenBLAS needs, ends the process before main, and may free memory twice then
  local by_library = errors:find("^Operating system error: ")
  local fault = not by_library and attack.fault(status, errors)
  if status == 137 then
    finding("allocation %d: it hangs\n%s", n, errors)
  elseif fault then
    finding("allocation %d: %s\n%s", n, fault, errors)
  elseif status == 0 and not out:find("done", 1, true) then
    finding("allocation %d: status 0, and it is not done: %s", n, errors)
  elseif status ~= 0 and not by_library and (status ~= 1 and status ~= 127 or errors == "") then
    finding("allocation %d: status %d: %s", n, status, errors)
  end
  check_files(folder, wanted, n)
  attack.remove(folder)
  return status
end

-- Which allocations, in which order.
local function numbers(total, firsts, random)
  if o.all or o.stride > 0 then
    local stride, at = o.all and 1 or math.tointeger(o.stride), math.tointeger(o.first)
    return function()
      local n = at
      at = at + stride
      if n <= total then return n end
    end
  end
  return function()
    if #firsts == 0 then return random(total) end
    return table.remove(firsts, random(#firsts))
  end
end

local function attack_all()
  local random = attack.random(attack.seed(o.seed))
  local folder = attack.folder()
  local list = folder .. "list"
  local status, _, errors = run(folder, "FAIL_LIST", list)
  assert(status == 0, errors)
  local total, firsts = nil, {}
  for line in io.lines(list) do
    if not total then total = tonumber(line) else firsts[#firsts + 1] = tonumber(line) end
  end
  os.remove(list)
  local wanted, stacks = {}, #firsts
  for _, name in ipairs(attack.files(folder)) do wanted[name] = support.read(folder .. name) end
  attack.remove(folder)
  local began, tried, ended = os.time(), 0, 0
  for n in numbers(total, firsts, random) do
    if os.difftime(os.time(), began) >= o.seconds then break end
    tried = tried + 1
    if fail_one(n, wanted) ~= 0 then ended = ended + 1 end
  end
  print(("%d of %d allocations (%d call stacks) failed, %d runs ended with a sentence, %d findings")
    :format(tried, total, stacks, ended, findings))
end

if o.child then
  engine_child()
elseif attack.sanitize ~= "" then
  attack_engine()
else
  attack_all()
end
os.exit(findings == 0)
