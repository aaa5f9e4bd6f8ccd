-- The rows of table 3: rows(name, seed, weighting) returns { training rows, test rows } and the
-- folds of a data set. adult and mnist17 have their own test rows, skin is split for each seed.
-- wdbc (breast cancer) has the authors' split and folds, of breast_cancer_split.csv: they shuffle
-- those of kernel weightings, and stratify those of the other methods.
local sc = require "scullery"

local function breast_cancer(weighting)
  local test_rows, folds = {}, {}
  for line in io.lines((arg[0]:gsub("[^/]*$", "breast_cancer_split.csv"))) do
    local row, part, shuffled, stratified = line:match("^(%d+),(%a+),(%d),(%d)$")
    if part == "test" then test_rows[#test_rows + 1] = math.tointeger(row) end
    local fold = weighting and shuffled or stratified
    if part == "train" then folds[#folds + 1] = math.tointeger(fold) end
  end
  return { sc.data.load("wdbc"):split{ rows = test_rows } }, folds
end

return function(name, seed, weighting)
  if name == "wdbc" then return breast_cancer(weighting) end
  local ds = sc.data.load(name)
  if name ~= "skin" then return { ds:parts() }, 5 end
  return { ds:split{ test = 0.25, seed = seed, stratify = false } }, 5
end
