-- The data of figure 1: the training and the test rows of a set; of kddcup10 50,000 and 150,000
-- drawn by the seed, normal connections against all others.
local sc = require "scullery"

return function(name, seed)
  if name == "adult" then return sc.data.load("adult"):discretize{ bins = 5 }:parts() end
  if name == "adult, numbers" then return sc.data.load("adult"):parts() end
  if name == "wdbc" then return sc.data.load("wdbc"):split{ seed = seed } end
  local train, rest = sc.data.load("kddcup10"):relabel(function(label)
    return label == "normal." and "normal" or "attack"
  end):split{ test = 494021 - 50000, seed = seed }
  return train, (rest:split{ test = #rest - 150000, seed = seed })
end
