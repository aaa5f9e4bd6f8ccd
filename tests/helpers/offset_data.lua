--- Data sets whose columns lie far from 0 and have very different scales, for
--- offsets_slow_test.lua.
local sc = require "scullery"

local offset_data = { d = 3, fresh = 20 }

--- The axes. offset: the columns' mean over their standard deviation. scale: their standard
--- deviations; unit is the one that penalties are chosen for where they differ.
offset_data.offsets = { 0, 1e3, 1e6, 1e9 }
offset_data.scales = {
  { name = "1e-9", by = { 1e-9, 1e-9, 1e-9 }, least = 1e-9, most = 1e-9, middle = 1e-9 },
  { name = "1", by = { 1, 1, 1 }, least = 1, most = 1, middle = 1 },
  { name = "1e9", by = { 1e9, 1e9, 1e9 }, least = 1e9, most = 1e9, middle = 1e9 },
  { name = "mixed", by = { 1e-9, 1, 1e9 }, least = 1e-9, most = 1e9, middle = 1 },
}

--- The scale of the rows that `outlier` changes: reach says of what size inner products are.
offset_data.with_outlier = { name = "1", by = { 1, 1, 1 }, least = 1, most = 1, middle = 1,
  reach = 1e3 }

-- (n + fresh) x d, of mean 0 and standard deviation 1, correlated.
local function plain_rows(n)
  local Z = sc.randn{ n + offset_data.fresh, offset_data.d, seed = 3 }
  return sc.hcat(Z:column(1), Z:column(1) * 0.6 + Z:column(2) * 0.8,
    Z:column(3) * 0.8 - Z:column(2) * 0.6)
end

local function numbers_of(Z, noise)
  local y = Z:column(1) - Z:column(2) * 0.7 + Z:column(3) * 0.5 + noise:column(1) * 0.3 + 0.5
  for i = 7, Z:rows(), 15 do y:set(i, 1, y:get(i, 1) + 4) end -- for robust losses
  return y
end

local function two_classes(Z, noise)
  local labels = {}
  for i = 1, Z:rows() do
    labels[i] = Z:get(i, 1) + Z:get(i, 3) / 2 + noise:get(i, 1) * 0.7 > 0.2 and "b" or "a"
  end
  return labels
end

local function three_classes(Z, noise)
  local labels = {}
  for i = 1, Z:rows() do
    local f = { Z:get(i, 1) + noise:get(i, 1), Z:get(i, 2) + noise:get(i, 2),
      Z:get(i, 3) + noise:get(i, 3) }
    labels[i] = f[1] > math.max(f[2], f[3]) and "a" or f[2] > f[3] and "b" or "c"
  end
  return labels
end

local makers = { regression = numbers_of, two = two_classes, three = three_classes }

local function moved(Z, offset, scale)
  local columns = {}
  for j = 1, offset_data.d do columns[j] = (Z:column(j) + offset) * scale.by[j] end
  return sc.hcat(table.unpack(columns))
end

-- The rows to learn from as a data set, all rows, and the numeric targets.
local function made(X, n, labels, task)
  if type(labels) == "table" then
    labels = table.move(labels, 1, n, 1, {})
  else
    labels = labels:slice(1, n)
  end
  local ds = sc.dataset{ X = X:slice(1, n), y = labels,
    task = task == "regression" and "regression" or "classification" }
  return { ds = ds, X = X, n = n, targets = ds:targets(), labels = labels }
end

--- offset_data.get(task, n, offset, scale, change): n rows to learn from and `fresh` more. task:
--- "regression", "two" or "three". change(X): puts something else into the rows. The same data for
--- the same arguments, kept: { ds, X (all rows), n, targets (n x c), labels }.
local kept = {}
function offset_data.get(task, n, offset, scale, change)
  local key = ("%s %d %g %s %s"):format(task, n, offset, scale.name, tostring(change or ""))
  if not kept[key] then
    local Z = plain_rows(n)
    local X = moved(Z, offset, scale)
    if change then X = change(X:copy()) end
    kept[key] = made(X, n, makers[task](Z, sc.randn{ Z:rows(), 3, seed = 4 }), task)
  end
  return kept[key]
end

--- Changes: the second column is constant; one row is far from all others.
function offset_data.constant_column(X)
  for i = 1, X:rows() do X:set(i, 2, X:get(1, 2)) end
  return X
end
function offset_data.outlier(X)
  for j = 1, X:cols() do X:set(7, j, 1e8) end
  return X
end

return offset_data
