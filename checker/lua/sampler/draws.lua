--- Tests of samplers: layout, and draws by their address.
local choices = require "scullery_checker.choices"
local components = require "scullery.compose.component"
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"

local dims = { 1, 2, 4, 9 }

local function label_of(room, i, j)
  local integers = room.support and room.support.cols or 0
  if j <= integers then return ("place %d of the support of parameter %d"):format(j,
    room.first + i - 1) end
  if j <= integers + room.weights.cols then
    return ("weight %d of parameter %d"):format(j - integers - 1, room.first + i - 1)
  end
  return ("the bias of parameter %d"):format(room.first + i - 1)
end

-- The first place where two matrices differ in a bit.
local function difference(a, b)
  for i = 1, a:rows() do
    for j = 1, a:cols() do
      local x, y = a:get(i, j), b:get(i, j)
      local same = x == y or x ~= x and y ~= y
      if not same then return i, j, x, y end
    end
  end
end

local function expect_same(t, room, made, wanted, format, ...)
  if made == wanted then return end
  local i, j, x, y = difference(made, wanted)
  if i then
    t:fail("%s: %s is %.17g, and was %.17g (parameters count from 0)", format:format(...),
      label_of(room, i, j), x, y)
  end
end

-- ------------ layout

local function check_layout(t, component)
  local sampler = t:instance(component)
  local any, refusal
  for _, dim in ipairs{ 0, 1, 2, 3, 4, 9, 64, 1000 } do
    local ok, layout = pcall(core.layout, sampler, dim)
    if ok then
      any = true
      local again = core.layout(sampler, dim)
      for key, value in pairs(layout) do
        t:expect(again[key] == value, "%d columns: the layout says %s = %s, and asked again \z
          %s", dim,
          key, tostring(value), tostring(again[key]))
      end
      if layout.count > 0 then
        ok = pcall(core.layout, sampler, dim, layout.count)
        t:expect(ok, "%d columns: the layout says that there are %d parameters, and refuses as \z
          many",
          dim, layout.count)
        local other, said = pcall(core.layout, sampler, dim, layout.count + 1)
        t:expect(not other, "%d columns: there are %d parameters, and the layout takes %d", dim,
          layout.count, layout.count + 1)
        t:expect(#tostring(said) > 0, "%d columns: %d parameters are refused without a sentence",
          dim, layout.count + 1)
      elseif not core.learns(sampler) then
        local given
        ok, given = pcall(core.layout, sampler, dim, 500)
        t:expect(not ok or given.count == 500, "%d columns: T = 500 was asked for, and the layout \z
          says %d", dim, ok and given.count or 0)
        t:expect(not ok or given.space == layout.space and given.reals == layout.reals
          and given.integers == layout.integers and given.has_bias == layout.has_bias,
          "%d columns: the form of a parameter depends on T", dim)
      end
    else
      refusal = layout
    end
  end
  t:expect(any, "no number of columns is taken: %s", tostring(refusal))
end

-- ------------ batches

-- Pairs first, count within so many parameters, at and around the edges of blocks.
local function batches_of(block, total)
  local list = { { 0, 1 }, { 0, total }, { 1, total - 1 }, { total - 1, 1 }, { 3, 4 }, { 5, 17 },
    { block - 1, 2 }, { block, 1 }, { block, block }, { block + 1, block }, { total // 2, 7 },
    { 2, 0 } }
  local fitting = {}
  for _, one in ipairs(list) do
    if one[1] >= 0 and one[2] >= 0 and one[1] + one[2] <= total then fitting[#fitting + 1] = one end
  end
  return fitting
end

local function check_batches(t, draw, layout)
  for _, plane in ipairs{ 0, 1 } do
    local asked = parameters.with(draw, { plane = plane, planes = 2 })
    local whole = parameters.drawn(asked, layout, 0, draw.total)
    local wanted = parameters.matrix(whole)
    local list = batches_of(layout.block, draw.total)
    for i = #list, 1, -1 do
      local first, count = table.unpack(list[i])
      local part = parameters.drawn(asked, layout, first, count)
      if count > 0 then
        expect_same(t, part, parameters.matrix(part), wanted:slice(first + 1, first + count),
          "%d parameters from %d on, of %d, scalar %d of 2, differ from the same of the whole \z
          draw", count, first, draw.total, plane)
      end
    end
  end
end

-- As in check_batches where `first` is large: what is far away is asked for once as a batch, once
-- one by one.
local function check_far_batches(t, draw, layout)
  local first = 3000 * layout.block - 2
  if draw.state or layout.count > 0 and core.layout(draw.sampler,
    draw.dim).count > 0 then return end
  local far = parameters.with(draw, { total = first + 10 })
  local ok, other = pcall(core.layout, draw.sampler, draw.dim, far.total)
  if not ok or other.block ~= layout.block then return end
  local whole = parameters.drawn(far, other, first, 6)
  local wanted = parameters.matrix(whole)
  for i = 5, 0, -1 do
    local one = parameters.drawn(far, other, first + i, 1)
    expect_same(t, one, parameters.matrix(one), wanted:slice(i + 1, i + 1),
      "parameter %d alone differs from the same of a batch that begins at %d", first + i, first)
  end
end

-- ------------ the same again

local function check_repeated(t, draw, layout, component)
  local whole = parameters.drawn(draw, layout, 0, draw.total)
  local wanted = parameters.matrix(whole)
  parameters.drawn(parameters.with(draw, { seed = draw.seed + 1 }), layout, 0, draw.total)
  local again = parameters.drawn(draw, layout, 0, draw.total)
  expect_same(t, again, parameters.matrix(again), wanted, "the same draw, asked for again")
  local twin = parameters.draw(t, parameters.twin(t, component), draw.dim, draw.total)
  again = parameters.drawn(twin, layout, 0, draw.total)
  expect_same(t, again, parameters.matrix(again), wanted, "the same draw of another instance")
end

local function check_threads(t, component)
  local sc = require "scullery"
  local function features()
    local X = t:random(8, 4)
    local phi = parameters.subject.partner(component)
    if not phi then return nil end
    return sc.features{ p = component, phi = phi, T = parameters.subject.T(component, 300),
      seed = t.seed }:fit(parameters.subject.rows(function(rows)
        sc.features{ p = component, phi = phi, T = parameters.subject.T(component, 6),
          seed = 1 }:fit(rows):transform(rows)
      end, X)):transform(X:abs())
  end
  local before, wanted = core.threads(), nil
  for _, threads in ipairs{ 1, 4 } do
    core.threads(threads)
    local ok, made = pcall(features)
    core.threads(before)
    if not ok then return end -- its partner refuses such rows
    if not made then return end
    wanted = wanted or made
    t:expect(made == wanted, "features drawn on %d threads differ from those drawn on 1", threads)
  end
end

-- ------------ seeds, streams, scalars

-- What is drawn, and of structured parameters what they make of rows: they may keep nothing.
local function whole_draw(t, draw, layout)
  local count = parameters.whole_blocks(layout, draw.total)
  local room = parameters.drawn(draw, layout, 0, count)
  if layout.space ~= "structured" then return parameters.matrix(room) end
  return (parameters.apply(draw, room, t:random(9, draw.dim):abs()))
end

local function check_seeds(t, draw, layout)
  if draw.state or core.layout(draw.sampler, draw.dim).count > 0 then return false end
  local wanted = whole_draw(t, draw, layout)
  for _, other in ipairs{ { "seed", draw.seed + 1 }, { "seed", draw.seed + (1 << 33) },
    { "stream", 16 }, { "plane", 1 } } do
    local change = parameters.with(draw, { [other[1]] = other[2], planes = 2 })
    t:expect(whole_draw(t, change, layout) ~= wanted, "%d parameters with %s %d are those with \z
      %s %d: %s",
      draw.total, other[1], other[2], other[1], draw[other[1]] or 0,
      other[1] == "plane" and "the scalars of one feature have to be independent"
        or "draws have to depend on it")
  end
  return true
end

-- ------------ memory

-- The first number that differs between what was written over two fillings.
local function check_written(t, draw, layout, how)
  local count = math.min(draw.total, layout.block + 17)
  local first = math.min(3, draw.total - count)
  local room = parameters.drawn(draw, layout, first, count, how)
  t:expect(parameters.gaps(room) == 0, "draw writes %d bytes between the rows of its memory, \z
    whose \z
    stride is %d", parameters.gaps(room), room.weights.row_stride)
  local over = parameters.room(layout, draw.dim, first, count)
  parameters.fill(over, 77777)
  core.sampler_draw(draw, over)
  local made, again = parameters.matrix(room), parameters.matrix(over)
  local i, j, x, y = difference(made, again)
  if not i then return end
  t:fail("%s is left as it was: %g in memory of NaN (support: -1), %g in memory of 77777",
    label_of(room, i, j), x, y)
end

local function check_guard_pages(t, draw, layout)
  for _, how in ipairs{ {}, { at_start = true }, { gap = 3 }, { gap = 1, at_start = true } } do
    check_written(t, draw, layout, how)
  end
end

-- ------------ the space

local ranges = {}

function ranges.dense() end
function ranges.structured() end

function ranges.sparse(t, room)
  local support, weights = core.block_get(room.support), core.block_get(room.weights)
  for i = 1, room.count do
    local last, ended = -1, false
    for j = 1, support:cols() do
      local column = support:get(i, j)
      if column < 0 then
        ended = true
        t:expect(column == -1 and weights:get(i, j) == 0, "parameter %d: place %d of its support \z
          is \z
          %d with the weight %g; past the in-degree it takes -1 and 0", i - 1, j, column,
          weights:get(i, j))
      else
        t:expect(not ended and column > last and column < room.dim, "parameter %d: place %d of \z
          its \z
          support is column %d of %d, after %s; columns ascend", i - 1, j, column, room.dim,
          ended and "a -1" or tostring(last))
        last = column
      end
    end
  end
end

function ranges.threshold(t, room)
  local support = core.block_get(room.support)
  for i = 1, room.count do
    local column = support:get(i, 1)
    t:expect(column >= 0 and column < room.dim, "parameter %d: column %d of %d", i - 1, column,
      room.dim)
  end
end

function ranges.grid(t, room)
  local weights = core.block_get(room.weights)
  for i = 1, room.count do
    for j = 1, room.dim do
      local pitch, shift = weights:get(i, j), weights:get(i, room.dim + j)
      t:expect(pitch > 0 and shift >= 0 and shift <= pitch, "parameter %d: pitch %g and shift %g \z
        in \z
        column %d; a shift lies in [0, pitch]", i - 1, pitch, shift, j - 1)
    end
  end
end

local function check_range(t, draw, layout)
  local room = parameters.many(draw, layout, 1000)
  local made = parameters.matrix(room)
  for i = 1, made:rows() do
    for j = 1, made:cols() do
      local x = made:get(i, j)
      if x - x ~= 0 then t:fail("%s is %g", label_of(room, i, j), x) end
    end
  end
  ranges[layout.space](t, room)
end

-- f(component, label): numbers of options that count, with each word or truth value of another.
local function each_count(t, f)
  local info = t.subject.info
  for _, option in ipairs(info.options) do
    local counts = option.takes_integer and not option.takes_number and option.name ~= "seed"
    for _, value in ipairs(counts and choices.whole_numbers(option) or {}) do
      local words = choices.words(info)
      for k = 0, #words do
        local given = { [option.name] = value }
        for name, word in pairs(words[k] or {}) do given[name] = given[name] or word end
        local ok, made = pcall(t.subject.make, t.subject, given)
        if ok and pcall(components.instance, made) and not t.subject.learns(made) then
          f(made, require("scullery.base.options").show(given))
        end
      end
    end
  end
end

local function check_counts(t)
  each_count(t, function(component, label)
    for _, dim in ipairs{ 7, 8 } do
      local draw, layout = parameters.draw(t, component, dim, 60)
      t.label = ("%s, %d columns"):format(label, dim)
      if draw then check_range(t, draw, layout) end
    end
  end)
  t.label = nil
end

-- ------------ the simple form

local function check_make(t, sampler)
  local normals = core.sampler_make(sampler, 0)
  if not normals then return false end
  local most, each = 9000, math.max(normals, 1)
  local numbers = t:random(most, each)
  if normals == 0 then numbers = core.rand{ most, 1, seed = t.seed } end
  local function make(from, count, at_start)
    local given = core.guarded(count * each, "float64", at_start)
    if count > 0 then
      core.block_put({ memory = given, rows = count, cols = each },
        numbers:slice(from + 1, from + count))
    end
    core.guarded_lock(given)
    local out = { memory = core.guarded(count, "float64", at_start), rows = count, cols = 1 }
    core.sampler_make(sampler, count, given, out.memory)
    return core.block_get(out)
  end
  local wanted = make(0, most)
  for i = 1, most do
    t:expect(wanted:get(i, 1) - wanted:get(i, 1) == 0, "make: e[%d] of %d is %g", i - 1, most,
      wanted:get(i, 1))
  end
  for _, count in ipairs{ 0, 1, 3, 17, 256, 5000 } do
    for _, at_start in ipairs{ false, true } do
      for _, from in ipairs{ 0, 3995 } do
        local made = make(from, count, at_start)
        local i, _, x, y
        if count > 0 then i, _, x, y = difference(made, wanted:slice(from + 1, from + count)) end
        t:expect(not i, "make: e[%d] of %d numbers is %.17g, and %.17g for the same number among \z
          %d",
          i and i - 1 or 0, count, x or 0, y or 0, most)
      end
    end
  end
  return true
end

return {
  { name = "layout", about = "the layout is the same when asked again, and T is what it says",
    run = function(t)
      for component in t:variants() do check_layout(t, component) end
    end },
  { name = "batches", about = "any batch, whatever it begins with, is a part of the whole draw",
    seconds = 60,
    run = function(t)
      parameters.each(t, dims, 150, function(...) check_batches(t, ...) end)
      parameters.each(t, { 4 }, 150, function(...) check_far_batches(t, ...) end)
    end },
  { name = "repeated", about = "the same draw gives the same bits, on any number of threads",
    seconds = 60,
    run = function(t)
      parameters.each(t, { 2, 4 }, 150, function(...) check_repeated(t, ...) end)
      for component in t:variants() do check_threads(t, component) end
    end },
  { name = "seeds", about = "another seed, stream or scalar of a feature gives other parameters",
    run = function(t)
      local any = false
      parameters.each(t, { 1, 4 }, 64, function(...) any = check_seeds(t, ...) or any end)
      if not any then t:skip("its parameters are fixed by the columns, or learnt from rows") end
    end },
  { name = "guard-pages", about = "a draw writes all of its numbers and nothing else", seconds = 60,
    run = function(t) parameters.each(t, dims, 150, function(...) check_guard_pages(t,
      ...) end) end },
  { name = "range", about = "numbers are finite and lie in the space", seconds = 60,
    run = function(t)
      parameters.each(t, dims, 150, function(...) check_range(t, ...) end)
      check_counts(t)
    end },
  { name = "simple-form", about = "make gives the same e for a number at any place",
    run = function(t)
      local any = false
      for component in t:variants() do any = check_make(t, t:instance(component)) or any end
      if not any then t:skip("it has the general form") end
    end },
}
