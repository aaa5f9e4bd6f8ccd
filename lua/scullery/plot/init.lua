--- Pictures: lines, scatters, heatmaps, histograms and bars, one or several in a figure.
--- sc.plot.line{ x = { 1, 2, 3 }, y = { 2, 4, 9 }, title = "Squares" }:show()
--- Each function returns a figure. fig:show() draws it in the terminal; fig:save("f.svg") saves it
--- as .svg, .png or .pdf (by gnuplot) or as .txt (in Unicode); fig:data("f.csv") saves the data.
local plot = {}

for _, name in ipairs{ "line", "scatter", "heatmap", "hist", "bars", "panels" } do
  plot[name] = require("scullery.plot." .. name).new
end

return plot
