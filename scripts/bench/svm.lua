-- Support vector machines beside scikit-learn's: times here, and in FOLDER rows, labels and scores
-- of rows not learnt, which `peers.py svm` reads, learns from and compares. Arguments: FOLDER
-- [SET ...]; sets: adult (8,000 rows), mnist17, letter. scripts/bench/side_by_side.sh runs both.
local core = require "scullery.core"
local sc = require "scullery"

local folder = assert(arg[1], "usage: scullery scripts/bench/svm.lua FOLDER [SET ...]")
local wanted = #arg > 1 and table.move(arg, 2, #arg, 1, {}) or { "adult", "mnist17", "letter" }

local sets = {
  adult = function()
    local train, test = sc.data.load("adult"):parts()
    return train:subset(1, 8000), test, true
  end,
  mnist17 = function()
    local train, test = sc.data.load("mnist17"):parts()
    return train, test, false, 0.02
  end,
  letter = function()
    local train, test = sc.data.load("letter"):split{ test = 0.25, seed = 0 }
    return train, test, true
  end,
}

-- Columns of mean 0 and deviation 1 over the rows learnt.
local function standardized(train, test)
  local shift, factor = sc.zeros(1, train.X:cols()), sc.zeros(1, train.X:cols())
  for j = 1, train.X:cols() do
    local column = train.X:column(j)
    local mean = column:sum() / #train
    local deviation = math.sqrt((column - mean):map(function(v) return v * v end):sum() / #train)
    shift:set(1, j, mean)
    factor:set(1, j, deviation > 0 and 1 / deviation or 1)
  end
  local function change(X)
    local Z = X:copy()
    for i = 1, Z:rows() do
      for j = 1, Z:cols() do Z:set(i, j, (X:get(i, j) - shift:get(1, j)) * factor:get(1, j)) end
    end
    return Z
  end
  return change(train.X), change(test.X)
end

local function codes(ds)
  local at, column = {}, sc.zeros(#ds, 1)
  for i, class in ipairs(ds.classes) do at[class] = i - 1 end
  for i, label in ipairs(ds:labels()) do column:set(i, 1, at[label]) end
  return column
end

for _, name in ipairs(wanted) do
  local train, test, scale, gamma = sets[name]()
  local X, Xt = train.X, test.X
  if scale then X, Xt = standardized(train, test) end
  local y, yt = codes(train), codes(test)
  gamma = gamma or 1 / X:cols()
  local data = sc.dataset{ X = X, y = y, task = "classification" }
  local p, best, processors, model = sc.pipeline{ sc.solver.svm{ gamma = gamma } }, math.huge,
    math.huge, nil
  for _ = 1, 3 do
    collectgarbage()
    local began, cpu = core.now(), os.clock()
    model = p:fit(data)
    best, processors = math.min(best, core.now() - began), math.min(processors, os.clock() - cpu)
  end
  local began = core.now()
  local scores = model:decision(Xt)
  print(("%s, %d x %d, %d classes, svm: fit %.3f s (processors %.3f s), score %.3f s, %s")
    :format(name, X:rows(), X:cols(), #train.classes, best, processors, core.now() - began,
      model:info().note))
  for part, m in pairs{ x = X, xt = Xt, y = y, yt = yt, scores = scores,
    gamma = sc.matrix{ { gamma } } } do
    m:save(("%s/%s.%s.npy"):format(folder, name, part))
  end
end
