--- A fuzzer of all that scripts can call. Cases are texts of Lua (cases.lua), run in child
--- processes of so many cases each; a child that crashes, hangs, leaks or shows our insides in a
--- message is a finding, and the text of its case is cut down as far as it goes.
---
---   scullery tests/fuzz/api.lua [--seed S | fresh] [--first N] [--count M] [--seconds T]
---
--- --text FILE runs one text; --show writes the texts of the cases and runs nothing.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;"
  .. (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local support = require "support"

local o = attack.options(arg, { seed = "1", first = 1, count = 1e9, seconds = 60, batch = 1000,
  child = false, show = false, text = "", limit = 10, memory = 6e9, keep = "" })

local here = attack.source .. "/tests/fuzz/"

-- ------------ the child

local function environment(w)
  return { v = w.v, w = w, sc = w.sc, core = w.core, setmetatable = setmetatable, math = math,
    getmetatable = getmetatable, collectgarbage = collectgarbage, error = error, next = next,
    coroutine = coroutine, tostring = tostring, pairs = pairs, rawset = rawset, rawlen = rawlen,
    io = { stdout = io.stdout }, print = print, select = select }
end

local function run_text(text)
  local w = require "world"
  w.v = {}
  local of = environment(w)
  for line in text:gmatch("[^\n]+") do
    local f, wrong = load(line, "=case", "t", of)
    if not f then error("a case that is no Lua: " .. wrong .. "\n" .. line, 0) end
    w.call("arguments", f)
  end
  for key in pairs(w.v) do w.v[key] = nil end
  w.clean()
end

local function child()
  local w = require "world"
  local at, found = assert(io.open("case", "w")), assert(io.open("findings", "a"))
  at:setvbuf("no")
  found:setvbuf("no")
  local number
  w.report = function(text) found:write(number, "\t", (text:gsub("\n", " ")), "\n") end
  w.on_interrupt = function() -- of watch.sh, not of the case
    local told = io.open "interrupted"
    if told then os.exit(130, false) end
  end
  if o.text ~= "" then
    number = 0
    run_text(support.read(o.text))
    collectgarbage()
    return
  end
  local cases = require "cases"
  for i = math.tointeger(o.first), math.tointeger(o.first + o.count - 1) do
    number = i
    local text = cases.text(math.tointeger(tonumber(o.seed)), i)
    at:seek("set", 0)
    at:write(i, "\n")
    run_text(text)
    if i % 50 == 0 then collectgarbage() end
  end
  collectgarbage()
end

-- ------------ the parent

local folder
local variables = "ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:\z
hard_rss_limit_mb=6000:max_allocation_size_mb=4000:allow_addr2line=1 LSAN_OPTIONS=suppressions="
  .. support.quote(attack.source .. "/tests/helpers/lsan.supp") .. ":print_suppressions=0 \z
SCULLERY_THREADS=2"

-- Run a child; returns status and what it wrote, its standard output cut off.
local function run(arguments)
  if folder then attack.remove(folder) end
  folder = attack.folder()
  local status, _, errors = attack.scullery{ folder = folder,
    memory = math.tointeger(o.memory // 1), variables = variables,
    before = ("sh %s case %d"):format(support.quote(here .. "watch.sh"),
      math.tointeger(o.limit)),
    arguments = ("%sapi.lua --child %s"):format(here, arguments), seconds = 900 }
  return status, errors
end

local function contents(name)
  local file = io.open(folder .. name)
  local text = file and file:read("a") or ""
  if file then file:close() end
  return text
end

-- One word for a way to fail: a sanitizer's with the first function of ours.
local function signature(status, errors)
  local kind = errors:match("Sanitizer: ([%w-]+)") or errors:match("runtime error: ([^\n]*)")
  if not kind then
    if status == 137 then return "a hang that Ctrl-C does not end" end
    return attack.fault(status, errors) or ("status %d: %s"):format(status, errors:sub(-300))
  end
  local frames = {}
  for name, file in errors:gmatch("#%d+ 0x%x+ in ([%w_]+) (%S+)") do
    if file:find("/core/") or file:find("/plugins/") then frames[#frames + 1] = name end
    if #frames == 3 then break end
  end
  return kind:gsub("%d+", "N") .. " in " .. table.concat(frames, " < ")
end

local function run_case(text)
  local path = support.write(nil, text)
  local status, errors = run("--text " .. support.quote(path))
  os.remove(path)
  if status ~= 0 and status ~= 130 then return signature(status, errors), errors end
  local first = contents("findings"):match("^%d+\t([^\n]*)")
  return first and first:gsub("%d+", "N"), errors
end

-- The shortest text of the same finding that leaving out lines gives.
local function shorten(text, wanted)
  local lines = {}
  for line in text:gmatch("[^\n]+") do lines[#lines + 1] = line end
  for i = #lines, 1, -1 do
    local fewer = { table.unpack(lines) }
    table.remove(fewer, i)
    if #fewer > 0 and run_case(table.concat(fewer, "\n") .. "\n") == wanted then lines = fewer end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- The text of a case; catalogues of objects write files, so a child makes it.
local function text_of(number)
  local _, text = attack.scullery{ folder = folder, seconds = 60, variables = variables,
    arguments = ("%sapi.lua --show --seed %s --first %d --count 1"):format(here, o.seed, number) }
  return text
end

local findings, known = 0, {}

local function tell(number, what, text, errors)
  findings = findings + 1
  print(("\nfinding %d, seed %s, case %s: %s\n%s"):format(findings, o.seed, number, what, text))
  if errors ~= "" then print(errors:sub(1, 3000)) end
  if o.keep ~= "" then
    support.write(("%s/%s_%03d.txt"):format(o.keep, o.seed, findings),
      ("-- case %s: %s\n%s\n--[==[\n%s\n]==]\n"):format(number, what, text, errors:sub(1, 6000)))
  end
end

local function examine(number, status, errors)
  local first = signature(status, errors)
  if known[first] then return end
  known[first] = true
  local text = text_of(number)
  local what, alone = run_case(text)
  if not what then
    if status == 137 then return end -- it is slow with others only
    tell(number, first, "-- only with the cases before it; --first and --count run them\n" .. text,
      errors)
    return
  end
  known[what] = true
  tell(number, what, shorten(text, what), alone)
end

-- Findings in words, which end no child.
local function messages()
  for number, text in contents("findings"):gmatch("(%d+)\t([^\n]*)\n") do
    local title, said = text:match("^(%w+: [^:]*)"), text:match("attempt to %w+")
    local kind = said and title .. said or text:gsub("%d+", "N"):sub(1, 160)
    if not known[kind] then
      known[kind] = true
      tell(number, text, text_of(number), "")
    end
  end
end

-- A leak shows at the end alone: half of the cases, and half of these again.
local function narrow(first, count, errors)
  local what = signature(1, errors)
  if known[what] then return end
  known[what] = true
  local told = errors
  while count > 1 do
    local half = count // 2
    local status, left = run(("--seed %s --first %d --count %d"):format(o.seed, first, half))
    if status ~= 0 and left:find("LeakSanitizer", 1, true) then
      count, told = half, left
    else
      local more, right = run(("--seed %s --first %d --count %d"):format(o.seed, first + half,
        count - half))
      if more == 0 or not right:find("LeakSanitizer", 1, true) then break end
      first, count, told = first + half, count - half, right
    end
  end
  local text = text_of(first)
  if count == 1 then text = shorten(text, what) end
  tell(("%d to %d"):format(first, first + count - 1), what, text, told)
end

local function attack_all()
  o.seed = tostring(attack.seed(o.seed))
  local began, tried, first, slow = os.time(), 0, math.tointeger(o.first), 0
  local last = math.tointeger(o.first + o.count - 1)
  while first <= last and os.difftime(os.time(), began) < o.seconds do
    local count = math.min(math.tointeger(o.batch), last - first + 1)
    local status, errors = run(("--seed %s --first %d --count %d"):format(o.seed, first, count))
    local at = tonumber(contents("case"):match("%d+"))
    messages()
    if status == 0 then
      tried, first = tried + count, first + count
    elseif errors:find("LeakSanitizer", 1, true) then
      narrow(first, count, errors)
      tried, first = tried + count, first + count
    elseif at == nil then
      tell(first, signature(status, errors), "-- before the first case", errors)
      break
    else
      at = math.tointeger(at)
      if status == 130 then slow = slow + 1 else examine(at, status, errors) end
      tried, first = tried + at - first + 1, at + 1
    end
  end
  attack.remove(folder)
  print(("%d cases, %d interrupted after %d seconds, %d findings"):format(tried, slow,
    math.tointeger(o.limit), findings))
  os.exit(findings == 0)
end

if o.child then
  child()
elseif o.show then
  for i = math.tointeger(o.first), math.tointeger(o.first + o.count - 1) do
    print("-- " .. i)
    print((require("cases").text(math.tointeger(tonumber(o.seed)), i)))
  end
else
  attack_all()
end
