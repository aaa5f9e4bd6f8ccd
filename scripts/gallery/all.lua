-- All pictures of the gallery, and the data behind them: build/scullery scripts/gallery/all.lua
-- [FOLDER [NAME ...]] writes FOLDER/NAME.svg and NAME.csv (docs/gallery of the tree, all names).
-- Each script also runs alone, from any folder: it writes NAME.svg there, or the path that it is
-- given. A picture of a data set that is not on this machine is skipped. GALLERY_FORMAT=png writes
-- PNG. In the tree the data are packed: build/scullery scripts/pack.lua docs/gallery/*.csv.
local scripts = arg[0]:match("^(.*)/[^/]*$") or "."
local folder = arg[1] or scripts .. "/../../docs/gallery"
local ending = os.getenv "GALLERY_FORMAT" or "svg"

local names = { "search_line", "search_heatmap", "search_stages", "classification", "scores",
  "regression", "stumps", "learning_curve", "number_of_features", "samplers", "embedding",
  "digits", "decision", "loss", "drift", "uncertainty" }

-- A set that is not here is told apart from other errors by the value that is raised.
local sc = require "scullery"
local load_set = sc.data.load
function sc.data.load(name, ...)
  local known, missing = sc.data.path(name)
  if not known then error({ missing = missing, set = name }, 0) end
  return load_set(name, ...)
end

local wanted = table.move(arg, 2, #arg, 1, {})
if #wanted == 0 then wanted = names end

for _, name in ipairs(wanted) do
  local script = assert(loadfile(("%s/%s.lua"):format(scripts, name)))
  arg = { ("%s/%s.%s"):format(folder, name, ending) } -- luacheck: ignore 121
  local made, fig = pcall(script)
  if made then
    fig:data(("%s/%s.csv"):format(folder, name))
    print(name, arg[1])
  elseif type(fig) == "table" and fig.missing then
    print(name, ("skipped: the set '%s' is not on this machine (%s is missing)"):format(fig.set,
      fig.missing))
  else
    error(fig, 0)
  end
end
