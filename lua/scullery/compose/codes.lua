--- sc.codes(matrix[, levels]): packed hash codes, for nearest neighbours by Hamming distance.
--- matrix: n x T whole numbers 0 .. levels-1, one code in each row. levels: by default the largest
--- number plus 1, at least 2. sc.codes.load(path) reads saved codes.
---
--- feats:codes(X) gives the codes of features. Those of maxout are q-ary, C_t(x) = the position of
--- the largest of q projections (Mroueh, Rennie and Goel 2015, remark 1), and have
---
---   E hamming(C(x), C(y)) = 1 - kappa_q(x, y)
---
--- where hamming is the share of places that differ and kappa_q is the probability that both
--- positions agree (q = 2: 1 - angle/pi). A number takes ceil(log2 levels) bits.
local core = require "scullery.core"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"

local codes = {}

local Codes = objects.class("codes", { fields = "packed levels" })

-- Packed codes of the engine as an object with methods.
local function wrap(packed)
  local _, _, levels = core.codes_info(packed)
  return setmetatable({ packed = packed, levels = levels }, Codes)
end

local function is_whole(value, low, high)
  return type(value) == "number" and math.tointeger(value) ~= nil and value >= low and value <= high
end

-- sc.codes(matrix, levels). `_` is the module, which is called.
local function pack(_, numbers, levels)
  if type(numbers) == "table" and not getmetatable(numbers) then numbers = core.matrix(numbers) end
  if not core.is_matrix(numbers) then
    error("takes an n x T matrix of whole numbers, and got " .. options.show(numbers), 0)
  end
  if levels ~= nil and not is_whole(levels, 1, 65536) then
    error(("'levels' got %s; it takes a whole number from 1 to 65536"):format(
      options.show(levels)), 0)
  end
  return wrap(core.codes_pack(numbers, levels))
end

--- sc.codes.load(path): the codes that codes:save(path) wrote.
function codes.load(path)
  if type(path) ~= "string" then
    error("takes the path of a file, and got " .. options.show(path), 0)
  end
  return wrap(core.codes_read(path))
end

-- The value; raises an error unless it is an object of packed codes.
local function check(value, what)
  if getmetatable(value) == Codes then return value end
  error(("%s codes, as sc.codes(matrix) or feats:codes(X) makes them, and got %s"):format(what,
    options.show(value)), 0)
end

-- Returns rows, T, levels, bits of a number, bytes.
local function size(self) return core.codes_info(self.packed) end

-- The matrix of the shares of places that differ, or that agree if `agree` is true, between these
-- codes and other ones (nil: these codes).
local function compare(self, other, agree)
  return core.codes_compare(self.packed, check(other == nil and self or other, "takes").packed,
    agree)
end

--- codes:rows() or #codes: the number of codes.
function Codes:rows() return (size(self)) end

--- codes:cols(): T, the number of places of a code.
function Codes:cols() return select(2, size(self)) end

--- codes:bits(): the number of bits of a code, T ceil(log2 levels).
function Codes:bits() return select(2, size(self)) * select(4, size(self)) end

--- codes:bytes(): the memory of all codes in bytes. The number of codes is rounded up to a multiple
--- of 8, the bits of a plane to a multiple of 64.
function Codes:bytes() return select(5, size(self)) end

--- codes:unpack(): the codes as an n x T matrix of numbers 0 .. levels-1.
function Codes:unpack() return core.codes_unpack(self.packed) end

--- codes:hamming([other]): the matrix of normalised Hamming distances, a row for each code and a
--- column for each code of other (without it, of these codes): the share of places that differ. It
--- estimates 1 - kappa_q.
function Codes:hamming(other) return compare(self, other, false) end

--- codes:kernel([other]): 1 - codes:hamming(other): the share of places that agree. It estimates
--- kappa_q.
function Codes:kernel(other) return compare(self, other, true) end

--- codes:nearest(queries[, k = 1]): the k nearest of these codes for each code of queries, by an
--- exhaustive scan on all threads. Returns two matrices, #queries x k: the row numbers, nearest
--- first, and the normalised Hamming distances. Of equal distances the earlier row comes first.
function Codes:nearest(queries, k)
  return core.codes_nearest(self.packed, check(queries, "takes").packed, k == nil and 1 or k)
end

--- codes:select(places): the codes of the rows with these numbers, in this order. places: a list or
--- an n x 1 matrix.
function Codes:select(places)
  if type(places) == "table" and not getmetatable(places) then
    places = #places == 0 and core.zeros(0, 1) or core.matrix(places)
  end
  if not core.is_matrix(places) then
    error("takes a list or an n x 1 matrix of row numbers, and got " .. options.show(places), 0)
  end
  return wrap(core.codes_select(self.packed, places))
end

--- codes:slice(i1, i2): a copy of the codes of rows i1 to i2, both included.
function Codes:slice(first, last)
  local n = size(self)
  for _, row in ipairs{ first or "nothing", last or "nothing" } do
    if not is_whole(row, 1, n) then
      error(("takes the first and the last row, whole numbers from 1 to %d, and got %s"):format(n,
        options.show(row)), 0)
    end
  end
  if last < first then error("the end lies before the beginning", 0) end
  local places = core.zeros(last - first + 1, 1)
  for i = 1, places:rows() do places:set(i, 1, first + i - 1) end
  return wrap(core.codes_select(self.packed, places))
end

--- codes:save(path): writes the codes to a file, complete or not at all; sc.codes.load(path) reads
--- it.
function Codes:save(path)
  if type(path) ~= "string" then
    error("takes the path of a file, and got " .. options.show(path), 0)
  end
  core.codes_write(self.packed, path)
end

Codes.__len = Codes.rows

function Codes:__eq(other)
  if getmetatable(other) ~= Codes or #self ~= #other or self:cols() ~= other:cols()
    or self.levels ~= other.levels then
    return false
  end
  return self:unpack() == other:unpack()
end

function Codes:__tostring()
  return ("codes %d x %d, %d levels, %d bits each"):format(#self, self:cols(), self.levels,
    self:bits())
end

return setmetatable(codes, { __call = pack })
