--- Pictures of a model's coefficients: the largest, and how they fall off. Without features they
--- are those of the columns, by name; where each feature looks at one column, the columns' weights
--- are drawn.
local core = require "scullery.core"
local figures = require "scullery.pictures.figures"
local plot = require "scullery.plot"
local component = require "scullery.compose.component"

local coefficients = {}

local MOST_BARS, MOST_RANKS = 20, 200

--- coefficients.column_names(f): the names of the columns that reach the features or the solver of
--- the model f: those of the data, through the stages.
function coefficients.column_names(f)
  local names = {}
  for j = 1, f.dim do names[j] = f.names and f.names[j] or ("x%d"):format(j) end
  for _, stage in ipairs(f.stages) do
    local saved, info = core.stage_save(stage), core.stage_info(stage)
    if saved.kind == "pca" then
      names = {}
      for k = 1, info.cols_out do names[k] = ("component %d"):format(k) end
    elseif saved.kind == "add_bias" then
      names[#names + 1] = "bias"
    end
  end
  return names
end

-- The column that each parameter looks at, where each looks at one: its place in column_names.
local function columns_of(f)
  local sampler = f.features.inst.p
  if f.map_info.entries > 0 then return nil end
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

--- coefficients.sizes(p): |a_t| of each feature or column of a fitted pipeline, over all targets;
--- and a_t itself where there is one.
function coefficients.sizes(p)
  local weights = p:weights()
  local sizes, signed = {}, weights:cols() == 1 and {} or nil
  for t = 1, weights:rows() do
    sizes[t] = weights:row(t):norm()
    if signed then signed[t] = weights:get(t, 1) end
  end
  return sizes, signed
end

--- coefficients.of_columns(f, sizes): names of columns, and for each the sum of |a_t| over the
--- features that look at it; nil where features are no functions of one column each.
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

-- ------------------------------------------------------------ drawing

-- The places of the largest, largest first.
local function ranking(sizes)
  local order = {}
  for t = 1, #sizes do order[t] = t end
  table.sort(order, function(a, b)
    if sizes[a] ~= sizes[b] then return sizes[a] > sizes[b] end
    return a < b
  end)
  return order
end

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

-- Ranks that are drawn: all where there are few, else at equal distances on a log axis.
local function ranks_of(count)
  local list, last = {}, 0
  for k = 0, MOST_RANKS do
    local rank = count <= MOST_RANKS and k or math.floor(count ^ (k / MOST_RANKS) + 0.5)
    if rank > last and rank <= count then list[#list + 1], last = rank, rank end
  end
  return list
end

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

local function numbered(count)
  local names = {}
  for t = 1, count do names[t] = ("%d"):format(t) end
  return names
end

--- coefficients.figures(about): the most telling picture; and, for who wants more, another.
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
  return { decay(sizes) }, { bars("Largest coefficients", numbered(#sizes), signed or sizes, sizes,
    { "feature, by number", value }) }
end

return coefficients
