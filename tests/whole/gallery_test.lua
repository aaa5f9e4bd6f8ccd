-- The scripts of the gallery make the pictures that docs/gallery holds: the data behind agree.
-- (Their bytes depend on the version of gnuplot.)
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")

local committed = "docs/gallery/"

local function has_gnuplot() return (sc.plot.line{ y = { 1, 2 } }:svg()) ~= nil end

-- The scripts, run once into a folder of their own, from another folder than that of the tree.
local made
local function folder()
  if made then return made end
  made = os.tmpname()
  os.remove(made)
  lu.assertEquals(support.shell("mkdir " .. support.quote(made)), 0)
  local run = "all=$(realpath scripts/gallery/all.lua) && binary=$(realpath %s) && cd %s && \z
    GALLERY_FORMAT=%s SCULLERY_DATA=%s \"$binary\" \"$all\" ."
  local status, out, err = support.shell(run:format(support.quote(support.binary),
    support.quote(made), has_gnuplot() and "svg" or "txt",
    support.quote(os.getenv "SCULLERY_DATA" or "")))
  lu.assertEquals(status, 0, err)
  io.stdout:write(out:match("[^\n]*skipped[^\n]*") or "", "\n")
  return made
end

local function names()
  local list, pipe = {}, assert(io.popen("ls " .. committed))
  for name in pipe:lines() do list[#list + 1] = name:match("^(.*)%.svg$") end
  pipe:close()
  return list
end

local function exists(path)
  local file = io.open(path)
  return file ~= nil and file:close()
end

local function cells_of(path)
  local rows = {}
  for line in core.read_text(path):gmatch("[^\n]+") do
    local row = {}
    for cell in (line .. ","):gmatch("([^,]*),") do row[#row + 1] = cell end
    rows[#rows + 1] = row
  end
  return rows
end

-- Share of the numbers that differ by more than rounding to four digits; texts must be equal.
local function share_of_others(name)
  local ours, theirs = cells_of(folder() .. "/" .. name .. ".csv"),
    cells_of(committed .. name .. ".csv.gz")
  lu.assertEquals(#ours, #theirs, name)
  local count, others = 0, 0
  for i, row in ipairs(ours) do
    lu.assertEquals(#row, #theirs[i], name)
    for j, cell in ipairs(row) do
      local a, b = tonumber(cell), tonumber(theirs[i][j])
      if a and b then
        count = count + 1
        if math.abs(a - b) > 1e-3 * math.max(math.abs(a), 1e-2) then others = others + 1 end
      else
        lu.assertEquals(cell, theirs[i][j], name)
      end
    end
  end
  return others / count
end

-- One label that another processor's rounding turns around changes some numbers, not many.
function TestTheCommittedPicturesAreThoseOfTheScripts()
  local compared = 0
  for _, name in ipairs(names()) do
    if exists(folder() .. "/" .. name .. ".csv") then
      lu.assertTrue(share_of_others(name) < 0.05, name)
      compared = compared + 1
    end
  end
  lu.assertTrue(compared >= 13)
end

function TestEveryScriptHasItsPicture()
  local pipe, known = assert(io.popen("ls scripts/gallery")), table.concat(names(), " ") .. " "
  for file in pipe:lines() do
    local name = file:match("^(.*)%.lua$")
    if name ~= "all" then lu.assertStrContains(known, name .. " ") end
  end
  pipe:close()
end

function TestThePicturesAreWhole()
  lu.skipIf(not has_gnuplot(), "there is no gnuplot")
  for _, name in ipairs(names()) do
    for _, where in ipairs{ committed, folder() .. "/" } do
      local path = where .. name .. ".svg"
      if where == committed or exists(path) then
        local svg = support.read(path)
        lu.assertStrContains(svg, "<svg")
        lu.assertStrContains(svg, "</svg>")
      end
    end
  end
end

-- README's picture.
function TestThePictureOfKernelErrorsIsMadeByItsScript()
  local ending = has_gnuplot() and ".svg" or ".txt"
  local path = os.tmpname()
  local status, out = support.shell(("%s scripts/kernel_error.lua %s%s"):format(
    support.quote(support.binary), path, ending))
  lu.assertEquals(status, 0)
  lu.assertStrContains(out, "16384")
  for _, label in ipairs{ "Fourier, Gaussian kernel", "sign, angle kernel",
    "stumps, threshold kernel", "slope -1/2" } do
    lu.assertStrContains(support.read("docs/kernel_error.svg"), label)
    lu.assertStrContains(support.read(path .. ending), label)
  end
  os.remove(path)
  os.remove(path .. ending)
end

local status = lu.LuaUnit.run()
if made then support.shell("rm -r " .. support.quote(made)) end
os.exit(status, true)
