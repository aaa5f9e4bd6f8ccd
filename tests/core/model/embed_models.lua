--- Saved models with rows and what Lua predicts of them, into the folder of the argument, for
--- embed_test.c and embed_python.py: NAME.safetensors; NAME.rows, NAME.scores and NAME.predictions
--- are rows and columns as 64-bit whole numbers, then float64 numbers.
package.path = arg[0]:gsub("core/model/[^/]*$", "helpers/?.lua;") .. package.path
local sc = require "scullery"
local models = require "small_models"
local support = require "support"

local folder = arg[1]

local function write_matrix(name, X)
  local parts = { ("<i8i8"):pack(X:rows(), X:cols()) }
  for i = 1, X:rows() do
    for j = 1, X:cols() do parts[#parts + 1] = ("<d"):pack(X:get(i, j)) end
  end
  support.write(("%s/%s"):format(folder, name), table.concat(parts))
end

-- Places of classes from 0, as other languages count.
local function write_model(name, p, X)
  p:save(("%s/%s.safetensors"):format(folder, name))
  write_matrix(name .. ".rows", X)
  write_matrix(name .. ".scores", p:decision(X))
  local classes = p.fitted.task == "classification"
  write_matrix(name .. ".predictions", classes and p:predict(X) - 1 or p:predict(X))
  if classes then write_matrix(name .. ".probabilities", p:probabilities(X)) end
end

local three, two, numbers = models.classes(300, 3), models.classes(300, 2), models.numbers(300)
local many = models.classes(1000, 2)
local fourier = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), T = 50 }

write_model("linear", sc.pipeline{ sc.standardize(), fourier, sc.solver.ridge() }:fit(three)
  :calibrate{ folds = 3 }, three.X)
write_model("logistic", sc.pipeline{ sc.pca{ k = 2 }, sc.solver.logistic() }:fit(two), two.X)
write_model("regression", sc.pipeline{ sc.minmax(), sc.features{ p = sc.sampler.gaussian(),
  phi = sc.nonlinearity.relu(), K = sc.kernel.gaussian{ width = 2 }, T = 20 },
  sc.solver.ridge{ penalty = "rkhs" } }:fit(numbers), numbers.X)
write_model("neighbours", sc.pipeline{ sc.standardize(), sc.solver.knn() }:fit(three)
  :calibrate{ folds = 3 }, three.X)
write_model("cells", sc.pipeline{ sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(),
  T = 8 }, sc.solver.ridge() }:fit(many):calibrate{ folds = 3, method = "isotonic" }, many.X)
write_model("sections", sc.pipeline{ sc.features{ p = sc.sampler.landmarks(),
  phi = sc.kernel.gaussian{ gamma = "median" }, T = 30, dtype = "float32" }, sc.solver.ridge() }
  :fit(numbers), numbers.X)
write_model("whole", sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian(),
  phi = sc.nonlinearity.relu(), T = 30, dtype = "int16" }, sc.solver.ridge() }:fit(numbers),
  numbers.X)
write_model("bytes", sc.pipeline{ sc.features{ p = sc.sampler.gaussian(),
  phi = sc.nonlinearity.fourier(), T = 30, dtype = "int8" }, sc.standardize(), sc.solver.ridge() }
  :fit(three):calibrate{ folds = 3 }, three.X)

local sets = models.classes(60, 3)
write_model("labels", sc.pipeline{ sc.solver.ridge() }:fit(sc.dataset{ X = sets.X, y = sets.X:map(
  function(v) return v > 0 and 1 or 0 end), task = "multilabel", classes = { "a", "b", "c" } }),
  sets.X)

-- with standard deviations and intervals: the bounds of the level 0.7 and deviations of a row
local sections = sc.features{ p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{ gamma = 0.1 },
  T = 20, dtype = "float32" }
for i, method in ipairs{ "loo", "folds", "split", "loo", "split" } do
  local name = "sure_" .. (({ [4] = "far", [5] = "sections" })[i] or method)
  local X = numbers.X + (i == 4 and 1e4 or 0)
  for row = 1, X:rows() do X:set(row, 2, row % 3) end
  local stages = { sc.minmax(), i == 5 and sections or fourier,
    sc.solver.ridge{ lambda = 1e-2, penalty = i == 5 and "rkhs" or nil },
    target = i < 3 and "standardize" or nil }
  if i == 4 then stages = { stages[3] } end
  local p = sc.pipeline(stages):fit(sc.dataset{ X = X, y = numbers.y,
      weights = i == 1 and X:column(1):map(math.abs) or nil },
    { interval = { method, by = i ~= 2 and 2 or nil, scale = i ~= 2 and "std" or nil } })
  p:save(("%s/%s.safetensors"):format(folder, name), { std = true })
  local some = X:slice(1, 20)
  local low, high = p:interval(some, { level = 0.7 })
  write_matrix(name .. ".rows", some)
  write_matrix(name .. ".sure", sc.hcat(low, high, (select(2, p:predict(some, { std = "row" })))))
end

-- label sets of the level 0.8, 0 and 1, by scores and by the probabilities of a loss
for method, solver in pairs{ folds = sc.solver.logistic{ lambda = 1e-3 },
  split = sc.solver.ridge{ lambda = 1e-2 } } do
  local p = sc.pipeline{ fourier, solver }:fit(three, { interval = method })
  if method == "folds" then p:calibrate{ folds = 3 } end -- which does not count
  p:save(("%s/sets_%s.safetensors"):format(folder, method))
  local some, list = three.X:slice(1, 40), {}
  for i, set in ipairs(p:label_sets(some, { level = 0.8 })) do
    list[i] = { 0, 0, 0 }
    for _, label in ipairs(set) do
      for k, class in ipairs(p.classes) do list[i][k] = class == label and 1 or list[i][k] end
    end
  end
  write_matrix("sets_" .. method .. ".rows", some)
  write_matrix("sets_" .. method .. ".sets", sc.matrix(list))
end

-- of a table
local csv = support.write(nil, "size,colour,y\n" .. ("1,red,a\n2,blue,b\n3,red,b\n"):rep(5))
sc.pipeline{ sc.solver.ridge() }:fit(sc.data.csv(csv, { target = "y", quiet = true }))
  :save(folder .. "/table.safetensors")
os.remove(csv)

-- of texts: 40 of them, a line each in texts.txt, and two that end in no line
local lines, labels = {}, {}
for i = 1, 40 do
  lines[i] = (i % 2 == 0 and "free prize %d" or "lunch Café report %d"):format(i % 7)
  labels[i] = i % 2 == 0 and "spam" or "ham"
end
for name, stage in pairs{ hashed = sc.text{ ngrams = { 1, 2 }, bits = 8 },
  named = sc.text{ vocabulary = true, weight = "tf", sublinear = true } } do
  local p = sc.pipeline{ stage, sc.normalize(), sc.solver.logistic{ lambda = 1e-3 } }
    :fit(lines, labels)
  p:save(("%s/%s.safetensors"):format(folder, name))
  write_matrix(name .. ".scores", p:decision(lines))
  write_matrix(name .. ".predictions", p:predict(lines) - 1)
  write_matrix(name .. ".probabilities", p:probabilities(lines))
end
support.write(folder .. "/texts.txt", table.concat(lines, "\n"))

-- what no predictor is made of
sc.pipeline{ fourier, sc.solver.ridge() }:save(folder .. "/unfitted.safetensors")
sc.pipeline{ fourier, sc.pca{ k = 2 } }:fit(two.X):save(folder .. "/components.safetensors")
fourier:fit(two.X):save(folder .. "/features.safetensors")
