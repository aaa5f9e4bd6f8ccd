-- The rows of table 3: rows(name, seed, weighting) returns { training rows, test rows } and the
-- folds of a data set. adult and mnist17 have their own test rows, skin is split for each seed.
-- wdbc (breast cancer) has the authors' split and folds, of breast_cancer_split.csv (test rows: 0):
-- they shuffle those of kernel weightings, and stratify those of the other methods.
local sc = require "scullery"

local function breast_cancer(weighting)
  local test_rows, folds, row = {}, {}, 0
  for line in io.lines((arg[0]:gsub("[^/]*$", "breast_cancer_split.csv"))) do
    local shuffled, stratified = line:match("^(%d),(%d)$")
    local fold = math.tointeger(weighting and shuffled or stratified) -- nil: the names of columns
    row = fold and row + 1 or row
    if fold == 0 then test_rows[#test_rows + 1] = row elseif fold then folds[#folds + 1] = fold end
  end
  return { sc.data.load("wdbc"):split{ rows = test_rows } }, folds
end

return function(name, seed, weighting)
  if name == "wdbc" then return breast_cancer(weighting) end
  local ds = sc.data.load(name)
  if name ~= "skin" then return { ds:parts() }, 5 end
  return { ds:split{ test = 0.25, seed = seed, stratify = false } }, 5
end
