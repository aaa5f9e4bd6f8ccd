-- All pictures of the gallery, and the data behind them: build/scullery scripts/gallery/all.lua
-- [FOLDER [NAME ...]] writes FOLDER/NAME.svg and NAME.csv (docs/gallery, all names). Those of data
-- that do not ship with the project are made where SCULLERY_DATA names the folder of the data.
local folder = arg[1] or "docs/gallery"
local ending = os.getenv "GALLERY_FORMAT" or "svg"

local names = { "search_line", "search_heatmap", "search_stages", "classification", "scores",
  "regression", "stumps", "learning_curve", "number_of_features", "samplers", "embedding",
  "digits", "decision", "loss", "pruning" }
local fetched = { digits = true }

local wanted = table.move(arg, 2, #arg, 1, {})
if #wanted == 0 then wanted = names end

for _, name in ipairs(wanted) do
  if fetched[name] and not os.getenv "SCULLERY_DATA" then
    print(name, "skipped: SCULLERY_DATA names no folder of data")
  else
    local script = assert(loadfile(("scripts/gallery/%s.lua"):format(name)))
    arg = { ("%s/%s.%s"):format(folder, name, ending) } -- luacheck: ignore 121
    local fig = script()
    fig:data(("%s/%s.csv"):format(folder, name))
    print(name, arg[1])
  end
end
