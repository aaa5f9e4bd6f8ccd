--- Pictures of a model's coefficients: the largest ones, and all of them by rank. Without features
--- they are the coefficients of the columns, by name. If each feature depends on one column, the
--- sum of the coefficients' absolute values is drawn for each column.
local core = require "scullery.core"
local figures = require "scullery.pictures.figures"
local plot = require "scullery.plot"
local component = require "scullery.compose.component"
local stages = require "scullery.compose.stages"

local coefficients = {}

local MOST_BARS, MOST_RANKS = 20, 200

--- coefficients.column_names(f): the names of the columns after the stages of the model f, which
--- are the input of its features or of its solver.
function coefficients.column_names(f)
  local names = {}
  for j = 1, f.dim do names[j] = f.names and f.names[j] or ("x%d"):format(j) end
  return stages.column_names(names, f.stages)
end

-- A list with, for each parameter, the number of the column that it depends on (an index into
-- column_names); nil if the sampler's parameters depend on several columns.
local function columns_of(f)
  if f.map_info.entries > 0 or f.map_info.parts > 0 or f.after then return nil end
  local sampler = f.features.inst.p
  local widths = component.waiting(sampler) and f.origin.widths or nil
  local instance = component.instance(sampler, {}, widths)
  local space = core.space(instance, f.map_info.dim)
  for _, one in ipairs(core.spaces()) do
    if one.name == space and one.names_columns then
      local W, list = core.map_parameters(f.map), {}
      if W:cols() ~= 2 or W:rows() ~= f.map_info.T then return nil end
      for t = 1, W:rows() do list[t] = math.tointeger(W:get(t, 1)) end
      return list
    end
  end
end

--- coefficients.sizes(p): the norm over all targets of each row a_t of the weights of a fitted
--- pipeline; for a single target also a list of the numbers a_t.
function coefficients.sizes(p)
  local weights = p:weights()
  local sizes, signed = {}, weights:cols() == 1 and {} or nil
  for t = 1, weights:rows() do
    sizes[t] = weights:row(t):norm()
    if signed then signed[t] = weights:get(t, 1) end
  end
  return sizes, signed
end

--- coefficients.of_columns(f, sizes): the names of the columns, and for each the sum of |a_t| over
--- the features that depend on it; nil if features depend on several columns.
function coefficients.of_columns(f, sizes)
  local columns = f.map and columns_of(f)
  if not columns then return nil end
  local names, sums = coefficients.column_names(f), {}
  for j in ipairs(names) do sums[j] = 0 end
  for t, size in ipairs(sizes) do
    local j = columns[(t - 1) % #columns + 1]
    sums[j] = sums[j] + size
  end
  return names, sums
end

-- ------------ drawing

-- The indices of the sizes in descending order.
local function ranking(sizes)
  local order = {}
  for t = 1, #sizes do order[t] = t end
  table.sort(order, function(a, b)
    if sizes[a] ~= sizes[b] then return sizes[a] > sizes[b] end
    return a < b
  end)
  return order
end

-- A figure with a bar, values[k] high and named names[k], for each of the MOST_BARS largest sizes
-- that are not 0. labels: of the two axes.
local function bars(title, names, values, sizes, labels)
  local order, shown, heights, notes = ranking(sizes), {}, {}, {}
  for k = 1, math.min(#order, MOST_BARS) do
    if sizes[order[k]] > 0 then shown[k], heights[k] = names[order[k]], values[order[k]] end
  end
  if #order > #shown then
    notes[1] = #shown < MOST_BARS and ("%d of %d are 0 and are not drawn"):format(#order - #shown,
      #order) or ("the largest %d of %d are drawn"):format(#shown, #order)
  end
  return figures.noted(plot.bars{ names = shown, values = heights, title = title,
    x_label = labels[1], y_label = labels[2] }, notes)
end

-- The ranks that are drawn: all if they are few, otherwise MOST_RANKS at equal distances on a log
-- axis.
local function ranks_of(count)
  local list, last = {}, 0
  for k = 0, MOST_RANKS do
    local rank = count <= MOST_RANKS and k or math.floor(count ^ (k / MOST_RANKS) + 0.5)
    if rank > last and rank <= count then list[#list + 1], last = rank, rank end
  end
  return list
end

-- A figure of the sizes that are not 0 against their rank, on log axes.
local function decay(sizes)
  local order, sorted, zeros = ranking(sizes), {}, 0
  for _, t in ipairs(order) do
    if sizes[t] > 0 then sorted[#sorted + 1] = sizes[t] else zeros = zeros + 1 end
  end
  local x, y, notes = ranks_of(#sorted), {}, {}
  for i, rank in ipairs(x) do y[i] = sorted[rank] end
  if zeros > 0 then notes[1] = ("%d of %d are 0 and are not drawn"):format(zeros, #sizes) end
  return figures.noted(plot.line{ x = x, y = y, x_log = true, y_log = true,
    title = "Decay of the coefficients", x_label = "rank", y_label = "|coefficient|",
    marks = #x <= 30 }, notes)
end

--- coefficients.figures(about): a list with the most informative figure, and a list of further
--- ones. about: { model, pipeline }.
function coefficients.figures(about)
  local f = about.model
  local sizes, signed = coefficients.sizes(about.pipeline)
  local value = signed and "coefficient" or "norm of the coefficients of all targets"
  if not f.map then
    return { bars("Coefficients", coefficients.column_names(f), signed or sizes, sizes,
      { "column", value }) }, {}
  end
  local names, sums = coefficients.of_columns(f, sizes)
  if names then
    return { bars("Weight of the columns", names, sums, sums,
      { "column", "sum of |coefficient|" }) }, { decay(sizes) }
  end
  names = {}
  for t = 1, #sizes do names[t] = ("%d"):format(t) end
  return { decay(sizes) }, { bars("Largest coefficients", names, signed or sizes, sizes,
    { "feature, by number", value }) }
end

return coefficients
