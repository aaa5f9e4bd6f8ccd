-- Paths of SVG in steps: the same points, in fewer bytes.
local lu = require "luaunit"
local paths = require "scullery.plot.paths"

-- The points of a path, in tenths, with its commands: "M10 20 L30 20 z".
local function points(d)
  local list, x, y, first_x, first_y = {}, 0, 0, 0, 0
  for letter, text in d:gmatch "(%a)([^%a]*)" do
    local numbers, axes = {}, letter:find "[Hh]" and "x" or letter:find "[Vv]" and "y" or "xy"
    for number in text:gmatch "%-?[%d.]+" do numbers[#numbers + 1] = tonumber(number) * 10 end
    local base = letter:find "%l" ~= nil
    for i = 1, #numbers, #axes do
      local last_x, last_y = base and x or 0, base and y or 0
      if axes ~= "y" then x = last_x + numbers[i] end
      if axes ~= "x" then y = last_y + numbers[i + #axes - 1] end
      local is_move = letter:find "[Mm]" and i == 1
      if is_move then first_x, first_y = x, y end
      list[#list + 1] = ("%s%.0f %.0f"):format(is_move and "M" or "L", x, y)
    end
    if letter == "z" then
      list[#list + 1], x, y = "z", first_x, first_y
    end
  end
  return table.concat(list, " ")
end

function TestStepsLeadToTheSamePoints()
  math.randomseed(1)
  local function number()
    return (("%.1f"):format((math.random(0, 9999) - 100) / 10):gsub("%.0$", ""))
  end
  local before, after = 0, 0
  for _ = 1, 300 do
    local parts = {}
    for _ = 1, math.random(1, 5) do
      parts[#parts + 1] = "M" .. number() .. "," .. number()
      for _ = 1, math.random(0, 6) do
        parts[#parts + 1] = ({ " " .. number() .. "," .. number(), "" })[math.random(2)]
      end
      for _ = 1, math.random(0, 3) do
        parts[#parts + 1] = ({ "H", "V" })[math.random(2)] .. number()
      end
      parts[#parts + 1] = ({ "z", "" })[math.random(2)]
    end
    local d = table.concat(parts)
    local short = paths.relative(d)
    lu.assertEquals(points(short), points(d), d)
    before, after = before + #d, after + #short
  end
  lu.assertTrue(after < before)
end

function TestHowPathsAreShort()
  lu.assertEquals(paths.relative "M106.5,332.3 430.9,332.3", "M106.5 332.3h324.4")
  lu.assertEquals(paths.relative "M101,202H103V204H101zM103,202H105V204H103z",
    "M101 202h2v2h-2zm2 0h2v2h-2z")
  lu.assertEquals(paths.relative "M10.5,20zM11,19.7z", "M10.5 20zm.5-.3z")
  lu.assertEquals(paths.relative("M10.5,20.4 10.9,20.1 12.4,23.6 12,7.5z", true),
    "M11 20l1 4 0-16z", "whole pixels, and no step of none")
end

function TestOtherPathsStayAsTheyAre()
  for _, d in ipairs{ "", "M1,2", "M1.25,2.5 30.75,40.5", "M100,100A5,5 0 0 1 110,110",
    "M100,100 110", "M100,100Q110,110 120,120", "H100", "M100,100l5 5M200,200 210,210" } do
    lu.assertEquals(paths.relative(d), d)
  end
end

os.exit(lu.LuaUnit.run())
