-- How fast random features find their kernel: rms error against T, as a table and as a picture
-- (docs/kernel_error.svg or the path given).
local sc = require "scullery"
local core = require "scullery.core"

local X = sc.randn{ 40, 5, seed = 11 }
local maps = {
  { "Fourier, Gaussian kernel", "#0072b2", sc.sampler.gaussian{ gamma = 0.3 },
    sc.nonlinearity.fourier() },
  { "sign, angle kernel", "#d55e00", sc.sampler.gaussian{ sigma = 1 }, sc.nonlinearity.sign() },
  { "stumps, threshold kernel", "#009e73", sc.sampler.threshold{ sigma = 1 },
    sc.nonlinearity.sign() },
}
local sizes = { 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384 }

local function rms(inst, T)
  local exact, sum = inst:kernel(X, X), 0
  for seed = 1, 8 do
    sum = sum + (inst:features{ T = T, seed = seed }:fit(X):kernel(X, X) - exact):norm() ^ 2
  end
  return math.sqrt(sum / 8) / 40
end

local function x_of(T) return 70 + 560 * math.log(T / 64) / math.log(16384 / 64) end
local function y_of(e)
  return 30 + 300 * (math.log(0.2, 10) - math.log(e, 10)) / (math.log(0.2, 10) - math.log(0.004,
    10))
end

local svg =
  { '<svg xmlns="http://www.w3.org/2000/svg" width="660" height="390" font-family="sans-serif" \z
    font-size="13">',
              '<rect width="660" height="390" fill="white"/>' }
local function add(...) svg[#svg + 1] = string.format(...) end
for _, T in ipairs(sizes) do
  add('<line x1="%.1f" y1="30" x2="%.1f" y2="330" stroke="#eeeeee"/><text x="%.1f" y="348" \z
    text-anchor="middle">%d</text>', x_of(T), x_of(T), x_of(T), T)
end
for _, e in ipairs{ 0.005, 0.01, 0.02, 0.05, 0.1, 0.2 } do
  add('<line x1="70" y1="%.1f" x2="630" y2="%.1f" stroke="#eeeeee"/><text x="62" y="%.1f" \z
    text-anchor="end">%g</text>', y_of(e), y_of(e), y_of(e) + 4, e)
end
add('<text x="350" y="375" text-anchor="middle">number of features T</text>')
add('<text x="18" y="180" text-anchor="middle" transform="rotate(-90 18 180)">rms error of the \z
  kernel</text>')
print(("%-28s %s"):format("map", "rms error at T = " .. table.concat(sizes, ", ")))
for k, map in ipairs(maps) do
  local points, cells = {}, {}
  for i, T in ipairs(sizes) do
    local e = rms(sc.instantiation{ p = map[3], phi = map[4] }, T)
    points[i], cells[i] = ("%.1f,%.1f"):format(x_of(T), y_of(e)), ("%.4f"):format(e)
  end
  add('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>', table.concat(points, " "),
    map[2])
  add('<line x1="420" y1="%d" x2="445" y2="%d" stroke="%s" stroke-width="2"/><text x="452" \z
    y="%d">%s</text>', 28 + 20 * k, 28 + 20 * k, map[2], 32 + 20 * k, map[1])
  print(("%-28s %s"):format(map[1], table.concat(cells, " ")))
end
add('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#888888" \z
  stroke-dasharray="5,4"/><text x="452" y="112">dashed: slope of T^(-1/2)</text>',
  x_of(64), y_of(0.16), x_of(16384), y_of(0.01))
add("</svg>")
local path = arg[1] or "docs/kernel_error.svg"
core.write_text(path, table.concat(svg, "\n") .. "\n") -- whole or not at all
