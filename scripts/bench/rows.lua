-- The rows that scripts/bench/peers.py learns from, as NAME.PART.npy in FOLDER; written once.
--
--   build/scullery scripts/bench/rows.lua FOLDER SET ...
--
-- Sets: adult, kddcup10, skin (x, y: codes of classes from 0; adult also xt, yt: rows to score on),
-- stumps (adult: 1000 features as the row `hinge` of the bench makes them), and for svm_adult,
-- svm_mnist17, svm_letter also gamma and the scores of svm on the rows that it did not learn; texts
-- (texts.txt: those of the rows words and word_pairs), sparse (sparse.svm: those of sparse_hinge).
local sc = require "scullery"
local bits = require "scullery.bench.bits"

local folder = assert(arg[1], "usage: scullery scripts/bench/rows.lua FOLDER SET ...")

local function path(name, part) return ("%s/%s.%s.npy"):format(folder, name, part) end

local function write(name, parts)
  for part, m in pairs(parts) do m:save(path(name, part)) end
end

local function codes(ds)
  local at, column = {}, sc.zeros(#ds, 1)
  for i, class in ipairs(ds.classes) do at[class] = i - 1 end
  for i, label in ipairs(ds:labels()) do column:set(i, 1, at[label]) end
  return column
end

-- Columns of mean 0 and deviation 1 over the rows learnt.
local function standardized(train, test)
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge() }:fit(train)
  return p:transform(train.X), p:transform(test.X)
end

local function whole(name)
  return function()
    local ds = sc.data.load(name, { dtype = "float32" })
    return { x = ds.X, y = codes(ds) }
  end
end

-- A support vector machine of these rows, and its scores.
local function machine(train, test, scale, gamma)
  local x, xt = train.X, test.X
  if scale then x, xt = standardized(train, test) end
  local y = codes(train)
  gamma = gamma or 1 / x:cols()
  local model = sc.pipeline{ sc.solver.svm{ gamma = gamma } }:fit(sc.dataset{ X = x, y = y,
    task = "classification" })
  return { x = x, xt = xt, y = y, yt = codes(test), scores = model:decision(xt),
    gamma = sc.matrix{ { gamma } } }
end

local sets = { kddcup10 = whole "kddcup10", skin = whole "skin" }

function sets.adult()
  local train, test = sc.data.load("adult"):parts()
  return { x = train.X, y = codes(train), xt = test.X, yt = codes(test) }
end

function sets.stumps()
  local train = bits.rows "adult"
  local p = bits.stumps(1000, sc.solver.ridge()):fit(train)
  return { x = p:transform(train.X), y = codes(train) }
end

function sets.svm_adult()
  local train, test = sc.data.load("adult"):parts()
  return machine(train:subset(1, 8000), test, true)
end

function sets.svm_mnist17()
  local train, test = sc.data.load("mnist17"):parts()
  return machine(train, test, false, 0.02)
end

function sets.svm_letter()
  local train, test = sc.data.load("letter"):split{ test = 0.25, seed = 0 }
  return machine(train, test, true)
end

-- Texts, a line each, in FOLDER/texts.txt.
function sets.texts()
  local file <close> = assert(io.open(folder .. "/texts.txt", "w"))
  file:write(table.concat(require("scullery.bench.data").texts(20000), "\n"))
  return { x = sc.zeros(1, 1) }
end

function sets.sparse()
  require("scullery.bench.solvers").sparse_rows():save(folder .. "/sparse.svm")
  return { x = sc.zeros(1, 1) }
end

for i = 2, #arg do
  local name = arg[i]
  local made = sets[name] or error(("rows.lua: there is no set '%s'"):format(name), 0)
  local file = io.open(path(name, "x"))
  if file then file:close() else write(name, made()) end
end
