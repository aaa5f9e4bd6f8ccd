--- Unions of features, and features with a scale: feats + other, 2 * feats. Their map is
--- core/map/kind_union.c.
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local features = require "scullery.compose.features"
local options = require "scullery.base.options"

local Features = features.features_class
local union = {}

-- A part with the width by the "median" rule if none was given: p:fit chooses no widths of unions.
local function with_width(part)
  if part.inst.K then return part end
  for _, name in ipairs{ "p", "phi" } do
    local inside = part.inst[name]
    local option = component.open_width(inside)
    if option then
      return features.with_part(part, name, component.with(inside, option, "median"))
    end
  end
  return part
end

--- union.of(list): the union of features, some of which may be unions.
function union.of(list)
  local self = { parts = {}, seed = 0 }
  for _, one in ipairs(list) do
    for _, part in ipairs(features.parts(one)) do
      part = features.copied(with_width(part))
      self.parts[#self.parts + 1] = part
      if part.unseeded then part.seed = part.unseeded + #self.parts - 1 end
      if part.T == "auto" then
        error("a union takes a number of parameters for each part, and T = \"auto\" is chosen \z
          for features alone", 0)
      end
      if choose.is(part.dtype) or part.dtype ~= self.parts[1].dtype then
        error(("the parts of a union have one number type, and got dtype = %s and %s: give all \z
          the same"):format(options.show(self.parts[1].dtype), options.show(part.dtype)), 0)
      end
    end
  end
  self.dtype = self.parts[1].dtype
  return setmetatable(self, Features)
end

--- feats + other: the union: the features of both side by side, so that its kernel is the sum of
--- their kernels. Any number can be added; each part has its own sampler, phi, K, T, seed, columns
--- (`of`) and scale, and all have one dtype. Part i without a seed gets the default plus i - 1, and
--- a width that was not given is that of the "median" rule. The list of parts is feats.parts. The
--- penalty of a solver is a'a, also for parts with a K; kernel sections are whitened. Features with
--- two values, and one-hot ones, are numbers in a union.
function Features.__add(a, b)
  for _, one in ipairs{ a, b } do
    if getmetatable(one) ~= Features then
      error(("features: + takes features on both sides, and got %s%s"):format(options.show(one),
        choose.is(one) and ": choose among whole unions, as sc.choose{ a + b, a + c }" or ""), 2)
    end
  end
  return options.guard("features", 1, union.of, { a, b })
end

--- c * feats: features times a number above 0, so that their kernel is multiplied by c^2; of a
--- union each part. c may be sc.choose{...}, which a search tries, for features that are no union:
--- the option `scale`.
function Features.__mul(a, b)
  local self, factor = a, b
  if getmetatable(b) == Features then self, factor = b, a end
  local number = type(factor) == "number" and factor > 0 and factor < math.huge
  if not number and (not choose.is(factor) or self.parts or self.scale) then
    error("features: * takes a number above 0, or for one part without a scale sc.choose{...}, \z
      and got " .. options.show(factor), 2)
  end
  local copy = features.copied(self)
  if self.parts then
    copy.parts = {}
    for i, part in ipairs(self.parts) do
      copy.parts[i] = options.guard("features", 2, Features.__mul, part, factor)
    end
  elseif choose.is(self.scale) then
    error("features: the scale is an sc.choose already: multiply its values", 2)
  else
    copy.scale = self.scale and self.scale * factor or factor
    options.guard("features", 2, options.check, "features", { scale = copy.scale },
      { scale = features.rules.scale }, 0)
  end
  return copy
end

return union
