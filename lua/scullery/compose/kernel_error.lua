--- sc.kernel_error: the error of a random feature map against its kernel as a function of T, by
--- which T and the sampler can be chosen.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local fail = require "scullery.base.fail"
local instantiation = require "scullery.compose.instantiation"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local progress = require "scullery.base.progress"
local text_table = require "scullery.base.text_table"

local SIZES = { 64, 256, 1024, 4096 } -- T by default
local BLOCK_ROWS = 512  -- rows whose features are in memory at once
local DENSE = 2 ^ 23    -- numbers of sparse rows that are made dense at a time
local FALLS = -0.1      -- with a slope above this, the error counts as not falling with T

-- ------------ options

-- Whether the value is a list of whole numbers of at least 1, ascending.
local function is_sizes(value)
  if type(value) ~= "table" or #value == 0 then return false end
  local last = 0
  for _, T in ipairs(value) do
    if type(T) ~= "number" or math.tointeger(T) == nil or T <= last then return false end
    last = T
  end
  return true
end

local function is_points(value) return core.is_matrix(value) or core.is_sparse(value) end

local rules = options.declare("kernel_error", {
  progress = progress.rule,
  p = component.rule "sampler", phi = component.rule("nonlinearity", "kernel"),
  K = component.rule "kernel",
  inst = { test = function(v)
    return (getmetatable(v) or {}).__name == "instantiation"
  end, takes = "an instantiation, as sc.instantiation{...}" },
  samplers = { test = function(value)
    if type(value) ~= "table" or #value == 0 then return false end
    for _, p in ipairs(value) do if not component.is(p, "sampler") then return false end end
    return true
  end, takes = "a list of samplers, as { sc.sampler.NAME{...}, ... }" },
  kernel = { test = function(value)
    return type(value) == "function" or core.is_matrix(value) or component.is(value, "kernel")
  end, takes = "a kernel, as sc.kernel.NAME{...}, a function of X and Y that gives a matrix, or \z
      the matrix itself" },
  X = { test = is_points, takes = "a matrix of points, dense or sparse", required = true },
  Y = { test = is_points, takes = "a matrix of points, dense or sparse" },
  T = { test = is_sizes, takes = "a list of whole numbers of at least 1, ascending",
    default = SIZES },
  seeds = { type = "integer", low = 1, default = 4 },
  target = { type = "number", above = 0, default = 0.01 },
  dtype = { choices = { "float64", "float32" }, default = "float64" },
})

-- The default list of T for a sampler. One that learns from rows: those of SIZES that are at most
-- the number of rows; if these are fewer than two, an eighth, a quarter and a half of that number.
-- Others: the T that the sampler determines, or SIZES if it determines none.
local function default_sizes(o, p)
  local features = instantiation.new{ p = p, phi = o.phi, K = o.K }:features{}
  if instantiation.learns(features) then
    local rows, sizes, seen = o.X:rows(), {}, {}
    for _, T in ipairs(SIZES) do if T <= rows then sizes[#sizes + 1] = T end end
    if #sizes > 1 then return sizes end
    sizes = {}
    for _, share in ipairs{ 8, 4, 2 } do
      local T = math.max(1, rows // share)
      if not seen[T] then sizes[#sizes + 1], seen[T] = T, true end
    end
    return sizes
  end
  local ok, info = options.attempt(function() return features:fit(o.X):info() end)
  return ok and { info.T } or SIZES -- without T, only samplers that determine T can be fitted
end

-- The checked options, with the parts of `inst` as p, phi and K. Raises an error for options that
-- do not go together.
local function check(given)
  local o = options.check("kernel_error", given, rules, 0)
  if o.inst then
    for _, name in ipairs{ "p", "phi", "K" } do
      if o[name] then
        fail("option '%s' is part of the instantiation already: give inst, or p and phi", name)
      end
    end
    o.p, o.phi, o.K = o.inst.p, o.inst.phi, o.inst.K
  end
  if not o.phi then fail("option 'phi' is missing; it takes %s", rules.phi.takes) end
  if not o.p and not o.samplers then
    fail("option 'p' is missing; it takes %s; or give 'samplers', a list of them", rules.p.takes)
  end
  if o.X:rows() == 0 or (o.Y and o.Y:rows() == 0) then
    fail("there are no points: X and Y have at least one row")
  end
  if o.Y and o.Y:cols() ~= o.X:cols() then
    fail("X and Y have %d and %d columns", o.X:cols(), o.Y:cols())
  end
  if given.T == nil then o.T = nil end -- the samplers determine it
  return o
end

-- One name for each sampler: the plugin's if it is unique, else with the options.
local function names_of(list)
  local times, names = {}, {}
  for _, p in ipairs(list) do times[p.name] = (times[p.name] or 0) + 1 end
  for i, p in ipairs(list) do
    names[i] = times[p.name] == 1 and p.name or tostring(p):gsub("^sampler%.", "")
  end
  return names
end

-- ------------ the exact kernel

-- inst:kernel of rows of which some are sparse: as dense ones, some at a time.
local function kernel_of_sparse(inst, X, Y)
  local step, strips = math.max(1, math.floor(DENSE / X:cols())), {}
  local function some(A, i)
    local rows = A:slice(i, math.min(i + step - 1, A:rows()))
    return core.is_sparse(rows) and rows:dense() or rows
  end
  for i = 1, X:rows(), step do
    local x, parts = some(X, i), {}
    for j = 1, Y:rows(), step do parts[#parts + 1] = inst:kernel(x, some(Y, j)) end
    strips[#strips + 1] = core.hcat(table.unpack(parts))
  end
  return core.vcat(table.unpack(strips))
end

-- The matrix of k(x, y), a row for each x of X and a column for each y of Y (or X): the closed
-- form, or from the option `kernel`.
local function exact_kernel(o, inst)
  local X, Y, k = o.X, o.Y or o.X, o.kernel
  if k == nil then
    local sparse = core.is_sparse(X) or core.is_sparse(Y)
    k = sparse and kernel_of_sparse(inst, X, Y) or inst:kernel(X, Y)
  elseif component.is(k) then
    if type(k.gram) ~= "function" then fail("%s has no gram(X, Y)", tostring(k)) end
    k = k:gram(X, Y)
  elseif type(k) == "function" then
    k = k(X, Y)
    if not core.is_matrix(k) then
      fail("the function 'kernel' gave %s; it must give the matrix of k(x, y)", options.show(k))
    end
  end
  if k:rows() ~= X:rows() or k:cols() ~= Y:rows() then
    fail("the exact kernel is %d x %d where there are %d and %d points", k:rows(), k:cols(),
      X:rows(), Y:rows())
  end
  local row, col = core.find_nonfinite(k)
  if row then fail("the exact kernel is not finite in row %d, column %d", row, col) end
  return k
end

-- ------------ one map against the kernel

-- Mean square and largest |estimate - exact| of one map. It goes through pairs of blocks of rows,
-- so that only two blocks of features are in memory. Without Y the matrix is symmetric and only its
-- upper half is computed.
local function errors_of(features, exact, X, Y)
  local square, most, map, other = 0, 0, features.fitted, Y or X
  -- a kernel as phi: L^-1 k(W, x) with k(W, W) = L L', as in features:kernel
  if core.map_info(map).section then map = core.map_whitened(map, true) end
  for i1 = 1, X:rows(), BLOCK_ROWS do
    local i2 = math.min(i1 + BLOCK_ROWS - 1, X:rows())
    local Z = core.transform(core.source(X:slice(i1, i2)), {}, map)
    for j1 = Y and 1 or i1, other:rows(), BLOCK_ROWS do
      local j2 = math.min(j1 + BLOCK_ROWS - 1, other:rows())
      local V = not Y and j1 == i1 and Z
        or core.transform(core.source(other:slice(j1, j2)), {}, map)
      local gap = (Z * V:t() - exact:slice(i1, i2, j1, j2)):astype("float64")
      square = square + (not Y and j1 > i1 and 2 or 1) * gap:dot(gap)
      most = math.max(most, gap:max(), -gap:min())
    end
  end
  return square / (exact:rows() * exact:cols()), most
end

-- The row { T, D, rms, max, constant, stderr } of one T: the rms error is over all pairs of points
-- and all seeds. Its standard error comes from the spread of the mean squares m of the seeds, by
-- d sqrt(m) = dm / (2 sqrt(m)).
local function row_of(o, inst, exact, T, level)
  local sum, squares, most, D = 0, 0, 0, nil
  for seed = 1, o.seeds do
    local features = inst:features{ T = T, seed = seed, dtype = o.dtype }:fit(o.X)
    local square, largest = errors_of(features, exact, o.X, o.Y)
    sum, squares, most, D = sum + square, squares + square ^ 2, math.max(most, largest),
      features:info().features
    level:step()
  end
  local mean = sum / o.seeds
  local row = { T = T, D = D, rms = math.sqrt(mean), max = most, constant = T * mean }
  if o.seeds > 1 then
    local spread = math.sqrt(math.max(squares / o.seeds - mean ^ 2, 0) / (o.seeds - 1))
    row.stderr = mean > 0 and spread / (2 * row.rms) or 0
  end
  return row
end

-- Least squares line of log rms over log T: slope, its standard error (with three sizes or more),
-- value at T = 1. nil if an error is 0 or if there is one size.
local function fit_line(rows)
  local n, sx, sy, sxx, sxy, syy = #rows, 0, 0, 0, 0, 0
  for _, row in ipairs(rows) do
    if row.rms == 0 then return nil end
    local x, y = math.log(row.T), math.log(row.rms)
    sx, sy, sxx, sxy, syy = sx + x, sy + y, sxx + x * x, sxy + x * y, syy + y * y
  end
  if n < 2 then return nil end
  local vxx, vxy, vyy = sxx - sx * sx / n, sxy - sx * sy / n, syy - sy * sy / n
  local slope = vxy / vxx
  local stderr = n > 2 and math.sqrt(math.max(vyy - slope * vxy, 0) / (n - 2) / vxx) or nil
  return slope, stderr, (sy - slope * sx) / n
end

-- ------------ what comes out

local Curve = objects.class("kernel_error curve", {
  fields = "name p rows scale slope slope_stderr height constant" })

-- The T at which the rms error is `goal`, by the fitted line; without a line by rms =
-- sqrt(constant / T). nil and a sentence if there is no such T.
local function needed(curve, goal)
  local last = curve.rows[#curve.rows]
  if last.rms == 0 then return curve.rows[1].T end
  local T
  if curve.slope then
    if curve.slope > FALLS then
      return nil, ("the error does not fall with T: its slope is %.2f"):format(curve.slope)
    end
    T = math.exp((math.log(goal) - curve.height) / curve.slope)
  else
    T = last.constant / goal ^ 2
  end
  if T ~= T or T >= 2 ^ 53 then return nil, "more features than can be counted" end
  return math.max(1, math.tointeger(math.ceil(T)))
end

-- The errors of one sampler at each T, and the line through them.
local function new_curve(o, name, p, level)
  local inst = instantiation.new{ p = p, phi = o.phi, K = o.K }
  local curve = setmetatable({ name = name, p = p, rows = {} }, Curve)
  local exact = exact_kernel(o, inst)
  curve.scale = math.max(exact:max(), -exact:min())
  for i, T in ipairs(o.T) do curve.rows[i] = row_of(o, inst, exact, math.tointeger(T), level) end
  curve.slope, curve.slope_stderr, curve.height = fit_line(curve.rows)
  return curve
end

local KernelError = objects.class("kernel_error", { example = "result",
  fields = "curves phi seeds target scale points rows slope slope_stderr constant" })

--- result:needed(error[, which]): the T at which the rms error falls to `error`, by the fitted
--- line; nil and a sentence if the error does not fall with T. which: the sampler, by name or
--- position (by default the first).
function KernelError:needed(goal, which)
  if type(goal) ~= "number" or goal ~= goal or goal <= 0 or goal == math.huge then
    fail("takes an error, a number above 0, and got %s", options.show(goal))
  end
  for i, curve in ipairs(self.curves) do
    if which == nil or which == i or which == curve.name then return needed(curve, goal) end
  end
  local names = {}
  for i, curve in ipairs(self.curves) do names[i] = curve.name end
  fail("there is no sampler %s; there are %s", options.show(which), table.concat(names, ", "))
end

-- "value +- standard error", both in the number format `form`.
local function with_error(value, stderr, form)
  return form:format(value) .. (stderr and " +- " .. form:format(stderr) or "")
end

-- The cells of the left columns: T and the labels of the last lines.
local function label_cells(self)
  local cells = { "", "T" }
  for _, row in ipairs(self.rows) do
    local several = row.D ~= row.T and row.D % row.T == 0 -- several features from each parameter
    cells[#cells + 1] = several and ("%d (D = %d)"):format(row.T, row.D) or ("%d"):format(row.T)
  end
  for _, label in ipairs{ "slope", "T rms^2", ("T for %.3g"):format(self.target) } do
    cells[#cells + 1] = label
  end
  return cells
end

-- The columns of one sampler.
local function curve_cells(self, curve)
  local cells = { curve.name, ("%-20s  %s"):format("rms error", "largest") }
  for _, row in ipairs(curve.rows) do
    cells[#cells + 1] = ("%-20s  %.3g"):format(with_error(row.rms, row.stderr, "%.3g"), row.max)
  end
  local T = needed(curve, self.target)
  cells[#cells + 1] = curve.slope and with_error(curve.slope, curve.slope_stderr, "%.2f") or "-"
  cells[#cells + 1] = ("%.3g"):format(curve.constant)
  cells[#cells + 1] = T and ("%d"):format(T) or "-"
  return cells
end

function KernelError:__tostring()
  local columns, rows, sides = { label_cells(self) }, {}, { "right" }
  for k, curve in ipairs(self.curves) do
    columns[k + 1], sides[k + 1] = curve_cells(self, curve), "left"
  end
  for i = 1, #columns[1] do
    rows[i] = {}
    for k, column in ipairs(columns) do rows[i][k] = column[i] end
  end
  return ("error of %s%s against the kernel, %d x %d points, %d seed%s, |k| up to %.3g\n"):format(
    component.is(self.phi, "kernel") and "the Nystrom approximation of " or "",
    tostring(self.phi), self.points[1], self.points[2], self.seeds,
    self.seeds == 1 and "" or "s", self.scale) .. text_table.text(rows, { gap = 3, sides = sides })
end

-- The result for checked options: the curve of each sampler.
local function measure(o)
  local self = setmetatable({ curves = {}, phi = o.phi, seeds = o.seeds, target = o.target,
    scale = 0,
    points = { o.X:rows(), (o.Y or o.X):rows() } }, KernelError)
  local list = { o.p } -- and the further samplers, each once
  for _, p in ipairs(o.samplers or {}) do
    if p ~= o.p then list[#list + 1] = p end
  end
  local names = names_of(list)
  if not o.T then -- one list of sizes for all samplers, because they share a table
    o.T = SIZES
    for _, p in ipairs(list) do
      local own = default_sizes(o, p)
      if own ~= SIZES and (o.T == SIZES or own[#own] < o.T[#o.T]) then o.T = own end
    end
  end
  local level <close> = progress.level{ name = "map", total = #list * #o.T * o.seeds }
  for i, p in ipairs(list) do
    local curve = options.guard("kernel_error (" .. names[i] .. ")", 0, new_curve, o, names[i], p,
      level)
    local sum = 0
    for _, row in ipairs(curve.rows) do sum = sum + row.constant end
    curve.constant = sum / #curve.rows
    self.scale = math.max(self.scale, curve.scale)
    self.curves[i] = curve
  end
  local one = self.curves[1]
  self.rows, self.slope, self.slope_stderr, self.constant = one.rows, one.slope, one.slope_stderr,
    one.constant
  return self
end

local kernel_error = { class = KernelError }

--- sc.kernel_error{ p =, phi =, X =, Y =, T = { 64, 256, 1024, 4096 }, seeds = 4, samplers =,
--- kernel =, K =, target = 0.01, dtype = "float64" }, or with inst = in place of p, phi and K: for
--- each T, the error of the estimate <Phi(x), Phi(y)> against the kernel k(x, y), over all rows x
--- of X and y of Y (by default X).
---
--- It prints as a table: the rms error +- its standard error over the seeds, and the largest error;
--- below them the slope of log rms over log T (-0.5 for Monte Carlo), the mean of T rms^2, and the
--- T at which the rms error reaches target.
---
--- samplers: a list, to compare samplers with one phi. kernel: the exact kernel: a kernel, a
--- function of X and Y, or a matrix; by default the closed form (inst:kernel). For a kernel as phi,
--- the estimate is that of Nystrom, k(x, W) k(W, W)^-1 k(W, y). A sampler that learns from rows
--- has T up to their number. progress = f: as in p:fit.
---
--- The result has .rows[i] with T, D, rms, stderr, max and constant; .slope, .slope_stderr,
--- .constant; and .curves[k] with name, rows, slope and so on, for each sampler.
function kernel_error.run(given)
  local o = check(given)
  return progress.watched("kernel_error", o.progress, measure, o)
end

return kernel_error
