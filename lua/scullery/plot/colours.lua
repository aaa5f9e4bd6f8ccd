--- Colours that people with any colour vision can distinguish.
-- Series: M. Okabe and K. Ito, Color Universal Design, 2008, its yellow darkened. Heatmaps: the map
-- viridis of S. van der Walt and N. Smith, 2015, at 17 points; its lightness rises evenly, so that
-- it reads in grey too.
local colours = {}

--- colours.series: "RRGGBB" of colour 1, 2, ...; after the last, back ends begin again.
colours.series = { "0072b2", "d55e00", "009e73", "cc79a7", "e69f00", "56b4e9", "000000", "b8a800" }

--- colours.map: "RRGGBB" from the lowest value of a heatmap to its highest, evenly spaced.
colours.map = { "440154", "481769", "472a7a", "433d84", "3d4e8a", "355e8d", "2e6d8e", "297b8e",
  "23898e", "1f978b", "21a585", "2eb37c", "46c06f", "65cb5e", "89d548", "b0dd2f", "fde725" }

-- Red, green and blue of "RRGGBB", each 0 .. 255.
local function parts(hex)
  return tonumber(hex:sub(1, 2), 16), tonumber(hex:sub(3, 4), 16), tonumber(hex:sub(5, 6), 16)
end

--- colours.rgb(colour): red, green, blue, each 0 .. 255, of colour 1, 2, ...
function colours.rgb(colour) return parts(colours.series[(colour - 1) % #colours.series + 1]) end

--- colours.at(share): red, green, blue, each 0 .. 255, of the heatmap's colour at a share of 0 .. 1
--- between its lowest and its highest value.
function colours.at(share)
  local place = math.max(0, math.min(1, share)) * (#colours.map - 1)
  local first = math.min(math.floor(place), #colours.map - 2)
  local low, high = { parts(colours.map[first + 1]) }, { parts(colours.map[first + 2]) }
  local mixed = {}
  for i = 1, 3 do mixed[i] = math.floor(low[i] + (place - first) * (high[i] - low[i]) + 0.5) end
  return mixed[1], mixed[2], mixed[3]
end

--- colours.is_dark(red, green, blue): whether white reads better on it than black.
function colours.is_dark(red, green, blue)
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140
end

return colours
