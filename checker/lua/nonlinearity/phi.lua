--- A nonlinearity under test: its slots on matrices of numbers, through guarded blocks.
local choices = require "scullery_checker.choices"
local core = require "scullery_checker.core"
local blocks = require "scullery_checker.blocks"

local phi = {}

local Phi = {}
Phi.__index = Phi

local ALL_PLANES <const> = 0xffffffff
local PLANES_OF_ALL <const> = 3 -- for one that takes all planes of the space

-- Whether phi refuses numbers below 0 alone, which is for the sampler that goes with it to see to.
local function refuses_negative(self)
  if self.shape.one_hot then return false end
  local numbers = core.randn{ 1, 4 * self.fan_in, seed = 1 }:abs()
  return not pcall(self.apply, self, -numbers) and pcall(self.apply, self, numbers)
end

--- phi.new(t, component): { instance, shape, fan_in, fan_out = numbers, dtypes = a list, domain =
--- what it declares, is_bounded = whether that ends, is_positive = whether it begins at 0 or
--- above }.
function phi.new(t, component)
  local self = setmetatable({ t = t, component = component, instance = t:instance(component) }, Phi)
  self.shape = core.shape(self.instance)
  self.takes_all = self.shape.fan_in == ALL_PLANES
  self.fan_in = self.takes_all and PLANES_OF_ALL or self.shape.fan_in
  self.fan_out = self.shape.fan_out
  self.dtypes = self.shape.float32 and { "float64", "float32" } or { "float64" }
  self.domain = core.domain(self.instance)
  self.is_bounded = self.domain ~= nil and self.domain.high < math.huge
  self.is_positive = self.domain and self.domain.low >= 0 or refuses_negative(self)
  return self
end

--- phi.each(t, f, edges): f(phi) for each variant that has features of numbers, with each number
--- of its options a few times smaller and larger, and, if edges, at its bounds with each word; the
--- test is skipped where none has.
function phi.each(t, f, edges)
  local any = false
  local function try(component)
    local one = phi.new(t, component)
    if one.shape.one_hot then return end
    any = true
    f(one)
  end
  for component in t:variants() do try(component) end
  local lists = { t.subject:far_variants(choices.scales), edges and t.subject:edge_variants() }
  for _, list in ipairs(lists) do
    for _, one in ipairs(list) do
      t.label = one.label
      try(one.component)
    end
  end
  t.label = nil
  if not any then t:skip("its outputs are categories, which the test \"categories\" looks at") end
end

--- phi.each_function(t, f, edges): the same where phi is a function of one number.
function phi.each_function(t, f, edges)
  local any = false
  phi.each(t, function(one)
    if one.fan_in > 1 then return end
    any = true
    f(one)
  end, edges)
  if not any then t:skip("it takes several numbers for each parameter") end
end

--- phi:take(matrix): the numbers, or others in the domain of phi, or their absolute values where
--- phi takes no others.
function Phi:take(matrix)
  if self.domain then return self.t.subject.into(self.domain, matrix) end
  return self.is_positive and matrix:abs() or matrix
end

--- phi:numbers(rows, cols, of): random numbers that it takes, of standard deviation 2, planes side
--- by side.
function Phi:numbers(rows, cols, of)
  return self:take(self.t:random(rows, cols * self.fan_in, of) * 2)
end

--- phi:apply(matrix[, dtype, layout, layout_out]): phi of the numbers, planes side by side; and the
--- block that it lies in.
function Phi:apply(matrix, dtype, layout, layout_out)
  local z = blocks.from(matrix, self.fan_in, dtype or "float64", layout)
  local out = blocks.new(z.rows, z.cols, self.fan_out, z.dtype, layout_out or layout)
  core.phi_apply(self.instance, z, out)
  return core.block_get(out), out
end

--- phi:at(numbers): phi of a list of numbers, for a phi of one number: a list for each output.
function Phi:at(numbers)
  local made, list = self:apply(require("scullery").matrix{ numbers }), {}
  for o = 1, self.fan_out do
    local from, values = (o - 1) * #numbers, {}
    for j = 1, #numbers do values[j] = made:get(1, from + j) end
    list[o] = values
  end
  return list
end

--- phi.columns(matrix, first, last, planes): these columns of each plane.
function phi.columns(matrix, first, last, planes)
  local parts, cols = {}, matrix:cols() // planes
  for k = 0, planes - 1 do
    parts[#parts + 1] = matrix:slice(1, matrix:rows(), k * cols + first, k * cols + last)
  end
  return require("scullery").hcat(table.unpack(parts))
end

return phi
