--- Parameters and blocks in guarded memory, for checks of samplers and kernels.
local core = require "scullery_checker.core"
local subject = require "scullery_checker.subject"
local components = require "scullery.compose.component"
local options = require "scullery.base.options"

local parameters = {}

--- parameters.block(rows, cols[, { dtype = "float64", gap = 0, at_start }]): a block between pages
--- that nobody may touch. gap: columns between its rows that are not its own. at_start: it begins
--- behind a page, else it ends at one.
function parameters.block(rows, cols, how)
  how = how or {}
  local stride = cols + (how.gap or 0)
  local count = rows == 0 and 0 or (rows - 1) * stride + cols
  return { memory = core.guarded(count, how.dtype or "float64", how.at_start), rows = rows,
    cols = cols, row_stride = stride }
end

--- parameters.block_of(matrix[, how]): the same, with the numbers of the matrix, and read-only.
function parameters.block_of(matrix, how)
  local made = parameters.block(matrix:rows(), matrix:cols(), how)
  core.block_put(made, matrix)
  core.guarded_lock(made.memory)
  return made
end

--- parameters.room(layout, dim, first, count[, how]): room for parameters of a sampler's layout
--- (core.layout), as the functions of scullery.core take it.
function parameters.room(layout, dim, first, count, how)
  how = how or {}
  local integers = { dtype = "int32", gap = how.gap, at_start = how.at_start }
  return { space = layout.space, dim = dim, first = first, count = count,
    weights = parameters.block(count, layout.reals, how),
    support = layout.integers > 0 and parameters.block(count, layout.integers, integers) or nil,
    bias = layout.has_bias and core.guarded(count, "float64", how.at_start) or nil }
end

--- parameters.dense(matrix[, how]): rows of data as parameters.
function parameters.dense(matrix, how)
  return { space = "dense", dim = matrix:cols(), first = 0, count = matrix:rows(),
    weights = parameters.block_of(matrix, how) }
end

local function bias_block(room)
  return { memory = room.bias, rows = room.count, cols = 1 }
end

--- parameters.fill(room, value): every number of it.
function parameters.fill(room, value)
  local function fill(block)
    core.block_put(block, core.zeros(block.rows, block.cols):map(function() return value end))
  end
  fill(room.weights)
  if room.support then fill(room.support) end
  if room.bias then fill(bias_block(room)) end
end

--- parameters.matrix(room): a row for each parameter: support (columns from 0), weights, bias.
function parameters.matrix(room)
  local made = core.block_get(room.weights)
  if room.support then made = core.hcat(core.block_get(room.support), made) end
  if room.bias then made = core.hcat(made, core.block_get(bias_block(room))) end
  return made
end

--- parameters.gaps(room): how many bytes between its rows were written.
function parameters.gaps(room)
  return core.block_gaps(room.weights) + (room.support and core.block_gaps(room.support) or 0)
end

--- parameters.lock(room): from now on they are read alone.
function parameters.lock(room)
  core.guarded_lock(room.weights.memory)
  if room.support then core.guarded_lock(room.support.memory) end
  if room.bias then core.guarded_lock(room.bias) end
  return room
end

--- parameters.part(room, from, count): parameters from .. from+count-1 of it, in place.
function parameters.part(room, from, count)
  local function part(block)
    return { memory = block.memory, rows = count, cols = block.cols, row_stride = block.row_stride,
      offset = count > 0 and from * block.row_stride or 0 }
  end
  return { space = room.space, dim = room.dim, first = room.first + from, count = count,
    weights = part(room.weights), support = room.support and part(room.support) }
end

-- ------------ draws of a sampler

--- parameters.state(t, sampler, dim, T, seed[, block]): what a sampler learns from 60 seeded rows,
--- in blocks of so many, and T; nothing where it does not learn.
function parameters.state(t, sampler, dim, T, seed, block)
  local kernel = t:instance(require("scullery").kernel.gaussian())
  return core.learn_state(core.source(t:random(60, dim)), {}, sampler, kernel, T, seed, block)
end

--- parameters.draw(t, component, dim, T): the draw of T parameters that the functions of
--- scullery.core take, and the layout; nil and the sentence where the sampler refuses such data.
function parameters.draw(t, component, dim, T)
  local sampler = t:instance(component)
  local ok, layout = pcall(core.layout, sampler, dim)
  if not ok then return nil, layout end
  if layout.count > 0 then T = layout.count end
  if core.learns(sampler) then T = math.min(T, 40) end
  ok, layout = pcall(core.layout, sampler, dim, T)
  if not ok then return nil, layout end
  local draw = { sampler = sampler, dim = dim, total = T, seed = t.seed }
  if core.learns(sampler) then draw.state = parameters.state(t, sampler, dim, T, t.seed) end
  if t.subject.in_lua then -- its draw alone can refuse
    local taken, said = pcall(parameters.drawn, draw, layout, 0, math.min(2, T))
    if not taken then return nil, said end
  end
  return draw, layout
end

--- parameters.with(draw, changes): the draw with other fields.
function parameters.with(draw, changes)
  local copy = {}
  for key, value in pairs(draw) do copy[key] = value end
  for key, value in pairs(changes) do copy[key] = value end
  return copy
end

--- parameters.drawn(draw, layout, first, count[, how]): room, filled by the sampler.
function parameters.drawn(draw, layout, first, count, how)
  local room = parameters.room(layout, draw.dim, first, count, how)
  core.sampler_draw(draw, room)
  return room
end

--- parameters.whole_blocks(layout, count): count, rounded up to whole blocks.
function parameters.whole_blocks(layout, count)
  return (count + layout.block - 1) // layout.block * layout.block
end

--- parameters.many(draw, layout, count): the first parameters of a draw of so many, in whole
--- blocks, or all where their number is fixed, learnt or one block.
function parameters.many(draw, layout, count)
  local fixed = draw.state or layout.block >= draw.total
    or core.layout(draw.sampler, draw.dim).count > 0
  local total = fixed and draw.total or count
  if not fixed or layout.space == "structured" then
    total = parameters.whole_blocks(layout, total)
  end
  draw = parameters.with(draw, { total = fixed and draw.total or total })
  return parameters.drawn(draw, layout, 0, total)
end

-- Dense rows of sparse parameters.
local function spelled_out(room)
  local made = core.zeros(room.count, room.dim)
  local weights = core.block_get(room.weights):totable()
  for i, support in ipairs(core.block_get(room.support):totable()) do
    for j, column in ipairs(support) do
      if column >= 0 then made:set(i, column + 1, weights[i][j]) end
    end
  end
  return made
end

--- parameters.rows(draw, room): the rows w_t in R^d, count x d; nil where there are none.
function parameters.rows(draw, room)
  if room.space == "dense" then return core.block_get(room.weights) end
  if room.space == "sparse" then return spelled_out(room) end
  if room.space == "structured" and core.sampler_has_rows(draw.sampler) then
    local out = parameters.block(room.count, room.dim)
    core.sampler_rows(draw, room, out)
    return core.block_get(out)
  end
end

--- parameters.apply(draw, room, X[, how]): what structured parameters, whole blocks of them, make
--- of the rows of X. how: of the blocks; dtype of both.
function parameters.apply(draw, room, X, how)
  local z = parameters.block(X:rows(), room.count, how)
  core.sampler_apply(draw, room, parameters.block_of(X, how), z)
  return core.block_get(z), z
end

--- parameters.twin(t, component): another instance with the options of a variant.
function parameters.twin(t, component)
  for _, one in ipairs(t.subject:variants()) do
    if one.component == component then return t.subject:make(one.given) end
  end
end

--- parameters.each(t, dims, T, f): f(draw, layout, component) for each variant of a sampler and
--- each of these numbers of columns that it takes.
function parameters.each(t, dims, T, f)
  local refusal, any
  for component in t:variants() do
    local label = t.label
    for _, dim in ipairs(dims) do
      local draw, layout = parameters.draw(t, component, dim, T)
      if draw then
        any = true
        t.label = (label and label .. ", " or "") .. ("%d \z
          column%s"):format(dim, dim == 1 and "" or "s")
        f(draw, layout, component)
      else
        refusal = layout
      end
    end
    t.label = label
  end
  if not any then
    t:skip("it takes none of %s columns: %s", table.concat(dims, ", "), tostring(refusal))
  end
end

--- parameters.offers(draw, id): whether the sampler of a draw has the ability.
function parameters.offers(draw, id)
  for _, one in ipairs(core.abilities(draw.sampler)) do
    if one == id then return true end
  end
  return false
end

--- parameters.is_independent(draw, layout): whether parameters are independent of each other.
function parameters.is_independent(draw, layout)
  return layout.block == 1 and not layout.dependent and not draw.state
    and not parameters.offers(draw, "scullery.pool/1")
end

--- parameters.slack_of(layout): how far, over its largest value, a law may be off: products of
--- structured matrices have theirs only nearly.
function parameters.slack_of(layout) return layout.space == "structured" and 0.03 or 0 end

--- parameters.but_for_bias(t, component, dim, value): what was given for an earlier variant that
--- differs from this one in its bias alone: the test "bias" sees that a bias leaves the weights, so
--- that these are looked at once. Otherwise nil, and `value` is kept for later variants.
function parameters.but_for_bias(t, component, dim, value)
  local bias, seen = components.role(component, "bias"), t.but_for_bias or {}
  local plain = bias and components.with(component, bias, nil) or component
  local key = ("%d %s %s"):format(dim, plain:label(true), options.show(plain.given))
  local known = seen[key]
  seen[key], t.but_for_bias = known or value, seen
  return known
end

--- parameters.numbers_of(rows, j, mean, scale): column j of a matrix as a list of (w - mean)/scale.
function parameters.numbers_of(rows, j, mean, scale)
  local list = {}
  for i = 1, rows:rows() do list[i] = (rows:get(i, j) - mean) / scale end
  return list
end

--- parameters.test(name, about, dims, missing, f, finish): a test that calls f for each variant
--- and number of columns, then finish(t) if given, and is skipped with the text `missing` where
--- none had what it tests.
function parameters.test(name, about, dims, missing, f, finish)
  return { name = name, about = about, seconds = 60, run = function(t)
    local any = false
    parameters.each(t, dims, 150, function(...) any = f(t, ...) or any end)
    if finish then finish(t) end
    if not any then t:skip(missing) end
  end }
end

parameters.subject = subject
return parameters
