--- Tests of samplers at many columns, and with options that are lists with a number for each.
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"

local MANY <const>, T <const> = 300, 64

-- The numbers of the parameters of a draw, a row each; nil where there are none.
local function numbers(t, component, d)
  local ok, draw, layout = pcall(parameters.draw, t, component, d, T)
  if not ok or not draw or draw.state or layout.space == "structured" then return nil end
  return core.block_get(parameters.drawn(draw, layout, 0, draw.total).weights), draw, layout
end

local VARIED <const> = 16 -- rows in which a column has another number than its commonest one

-- Column j of W as a text; nil where few rows have another number than most: columns of sparse
-- parameters may have their only numbers in the same row.
local function text_of(W, j)
  local column, often, most = {}, {}, 0
  for i = 1, W:rows() do
    local x = ("%a"):format(W:get(i, j))
    column[i], often[x] = x, (often[x] or 0) + 1
    most = math.max(most, often[x])
  end
  return W:rows() - most >= VARIED and table.concat(column, " ") or nil
end

-- No column is another one again, in each parameter; where no law is declared, columns may share.
local function check_repeats(t)
  local any = false
  for component in t:variants() do
    local W, draw = numbers(t, component, MANY)
    local seen, law = {}, W and core.law(draw.sampler, MANY)
    for j = 1, W and W:rows() >= 20 and W:cols() or 0 do
      any = true
      local key = text_of(W, j)
      if key and seen[key] then
        t[law and "fail" or "warn"](t, "numbers %d and %d of each of %d parameters of %d columns \z
          are the same", seen[key] - 1, j - 1, W:rows(), MANY)
      end
      if key then seen[key] = j end
    end
  end
  if not any then t:skip("its parameters are not numbers of each column") end
end

-- ------------ lists

local WIDE <const> = 40

local function list_of(value, at, other)
  local list = {}
  for j = 1, WIDE do list[j] = j == at and other or value end
  return list
end

-- The characteristic function at a difference in one column; nil where it has none.
local function characteristic(draw, column)
  if not core.sampler_tells(draw.sampler).characteristic then return nil end
  local delta, out = core.zeros(1, WIDE), core.guarded(1, "float64")
  delta:set(1, column, 1.3)
  core.sampler_characteristic(draw, parameters.block_of(delta), out)
  return core.block_get{ memory = out, rows = 1, cols = 1 }:get(1, 1)
end

-- Whether among 5 columns another number changes one alone, as it does not where rows are scaled
-- afterwards.
local function changes_one(made, a, b)
  local plain, other, W = made(a, 5), made(b, 5), made({ a, b, a, a, a }, 5)
  for i = 1, plain and other and W and W:rows() or 0 do
    for j = 1, 5 do
      if W:get(i, j) ~= (j == 2 and other or plain):get(i, j) then return false end
    end
  end
  return plain and other and W
end

-- A list of equal numbers is the number; another number at one place changes that column alone, to
-- what it is where all have that number; and so do law and characteristic function.
local function check_option(t, option, a, b)
  local function made(value, columns)
    local ok, component = pcall(t.subject.make, t.subject, { [option.name] = value })
    if not ok then return nil end
    local W, draw = numbers(t, component, columns or WIDE)
    return W, draw
  end
  if not changes_one(made, a, b) then return false end
  local plain, plain_draw = made(a)
  local other, other_draw = made(b)
  local same = made(list_of(a))
  local longer = list_of(a)
  longer[WIDE + 1] = a
  if not plain or not other or not same or made(longer) then return false end -- of no columns
  t:expect(not core.first_difference(plain, same), "%s = %g and a list of as many %g as columns \z
    have other parameters", option.name, a, a)
  for _, at in ipairs{ 1, 9, 17, 33, WIDE } do
    local W, draw = made(list_of(a, at, b))
    if not W then return false end
    for i = 1, W:rows() do
      for j = 1, WIDE do
        local want = (j == at and other or plain):get(i, j)
        t:expect(W:get(i, j) == want, "%s = %g, and %g for column %d: column %d of parameter \z
          %d is %.17g, and %.17g is right", option.name, a, b, at - 1, j - 1, i - 1, W:get(i, j),
          want)
      end
    end
    local f, g = characteristic(draw, at), characteristic(other_draw, at)
    t:expect(not f or not g or math.abs(f - g) < 1e-12, "%s = %g, and %g for \z
      column %d: the characteristic function at a difference in that column is %.12g, and %.12g \z
      where all columns have %g", option.name, a, b, at - 1, f or 0,
      g or 0, b)
    local law, laws = core.law(draw.sampler, WIDE), core.law(other_draw.sampler, WIDE)
    local usual = core.law(plain_draw.sampler, WIDE)
    for j = 1, law and laws and usual and WIDE or 0 do
      local from = j == at and laws or usual
      t:expect(law.mean[j] == from.mean[j] and law.scale[j] == from.scale[j], "%s = %g, and %g \z
        for column %d: the law of column %d is another one", option.name, a, b, at - 1, j - 1)
    end
  end
  return true
end

local function check_lists(t)
  local any = false
  for _, option in ipairs(t.subject.info.options) do
    if option.takes_number and option.takes_list then
      any = check_option(t, option, 0.4, 0.7) or any
    end
  end
  if not any then t:skip("no option of it is a list with a number for each column") end
end

return {
  { name = "columns-differ", about = "of 300 columns none repeats another", run = check_repeats },
  { name = "lists", about = "a list with a number for each column has each in its column",
    run = check_lists },
}
