--- All named data sets for scripts that compare on each of them: which are here, their training and
--- test rows for a seed, and means with standard errors over seeds. A script loads it with
---
---   local named_sets = dofile((arg[0]:gsub("[^/]*$", "named_sets.lua")))
local sc = require "scullery"

local named_sets = {}

--- named_sets.names: small ones first.
named_sets.names = {
  "salsa_housing", "salsa_forestfires", "salsa_insulin", "wdbc",
  "salsa_speech", "salsa_blog", "salsa_blog_comments", "salsa_airfoil", "salsa_music",
  "salsa_skillcraft", "salsa_galaxy", "salsa_telemonitoring", "spambase", "salsa_ccpp", "cpu_act",
  "salsa_propulsion", "california_housing", "house_16h", "covtype10k", "skin", "letter", "adult",
  "mnist", "kddcup10" }

--- named_sets.here(): the names of those that are on this machine.
function named_sets.here()
  local list = {}
  for _, name in ipairs(named_sets.names) do
    if sc.data.path(name) then list[#list + 1] = name end
  end
  return list
end

--- named_sets.rows(name, seed): training rows and a quarter of test rows. Sets of more than 20,000
--- rows are samples of 20,000 rows, MNIST of 10,000, drawn anew for each seed.
function named_sets.rows(name, seed)
  local ds, most = sc.data.load(name), name == "mnist" and 10000 or 20000
  if #ds > most then
    local _, sample = ds:split{ test = most, seed = seed }
    ds = sample
  end
  return ds:split{ test = 0.25, seed = seed }
end

--- named_sets.mean(values): mean and standard error; NaN for the error of one value.
function named_sets.mean(values)
  local sum, squares, n = 0, 0, #values
  for _, v in ipairs(values) do sum = sum + v end
  for _, v in ipairs(values) do squares = squares + (v - sum / n) ^ 2 end
  return sum / n, n > 1 and math.sqrt(squares / (n - 1) / n) or 0 / 0
end

return named_sets
