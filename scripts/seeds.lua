-- The numbers of docs/seeds.md, computed again from the recorded cells.
--
--     scullery scripts/seeds.lua [--page docs/seeds.md] [--cells scripts/cells] [--write]
--
-- A number of the page is followed by a comment that says what it is,
--
--     0.1504 ± 0.0008<!--rks_figure1; data = adult; T = 1024; method = stumps: error-->
--
-- the mean of the result `error` over those cells of the experiment rks_figure1 that have these
-- options, and its standard error over seeds (`image = *`: over that option). Numbers that do not
-- agree are listed, and are an error; --write puts the right ones into the page. A row without a
-- verdict, and a script or test that is not there, is an error too.
local sc = require "scullery"
local source = arg[0]:match("^(.*)/[^/]*$") or "."
local args = sc.arguments{ page = source .. "/../docs/seeds.md", cells = source .. "/cells",
  write = false }

local opened = {}
local function cells(name)
  opened[name] = opened[name] or sc.experiment.open(name, { folder = args.cells })
  return opened[name]
end

-- "0.1504 ± 0.0008" of a description, with the digits that the standard error allows.
local function number(text)
  local options, value = text:match("^(.*): ([^:]+)$")
  local name, where, over = nil, {}, { "seed", "draw_seed" }
  for part in options:gmatch("[^;]+") do
    local key, is = part:match("^%s*(%S+) = (.-)%s*$")
    if not key then name = part:match("%S+")
    elseif is == "*" then over[#over + 1] = key
    else where[key] = is:match('^"(.*)"$') or tonumber(is) or is end
  end
  local rows, exp = {}, cells(name)
  for key in pairs(where) do rows[#rows + 1] = key end
  for k = #over, 1, -1 do
    if not pcall(exp.values, exp, over[k]) then table.remove(over, k) end
  end
  local found = exp:table{ value = value, rows = rows, over = over, where = where }
  if #found.rows ~= 1 then error(("%s: %d means"):format(text, #found.rows), 0) end
  local mean, error_of = found.rows[1].means[1], found.rows[1].errors[1]
  if (error_of or 0) <= 1e-9 * math.abs(mean) then return ("%.4g"):format(mean) end
  local digits = math.max(0, 1 - math.floor(math.log(error_of, 10)))
  return ("%." .. digits .. "f ± %." .. digits .. "f"):format(mean, error_of)
end
local file = assert(io.open(args.page))
local page = file:read "a"
file:close()
local wrong, count = {}, 0
local fresh = page:gsub("(%-?[%d.]+[ ±%d.e+-]*)<!%-%-(.-)%-%->", function(said, text)
  local now = number(text)
  count = count + 1
  if now ~= said then
    wrong[#wrong + 1] = ("%s: the page has %s, and the cells %s"):format(text, said, now)
  end
  return ("%s<!--%s-->"):format(now, text)
end)
if args.write then
  assert(assert(io.open(args.page, "w")):write(fresh)):close()
  wrong = {}
end
local items, verdicts = 0, "repeated, holds, differs, wrong, not repeated, built, no claim"
for line in fresh:gmatch("\n(| [^\n]+ |)") do
  local fields = {}
  for field in line:gsub("\\|", "/"):gmatch("| ([^|]*)") do
    fields[#fields + 1] = field:match("^(.-)%s*$")
  end
  if #fields == 5 and fields[1] ~= "item" then
    items = items + 1
    local verdict = fields[5]:match "%*%*(.-)%*%*" or "none"
    if not verdicts:find(verdict, 1, true) then wrong[#wrong + 1] = fields[1] .. ": no verdict" end
    for path in fields[2]:gmatch("%(([^ )]+/[^)]+)%)") do
      local there = io.open(path:find "^/" and path or args.page:gsub("[^/]*$", "") .. path)
      if there then there:close() else wrong[#wrong + 1] = path .. " is not there" end
    end
  end
end
print(("%d items, %d numbers from the cells"):format(items, count))
if #wrong > 0 then error(table.concat(wrong, "\n"), 0) end
