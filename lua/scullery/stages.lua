--- Stages that map rows to rows.
local stages = {}

local Stage = { __name = "stage" }
Stage.__index = Stage
function Stage:__tostring() return self.kind .. "()" end

local function maker(kind)
  return function(given)
    if given ~= nil and (type(given) ~= "table" or next(given) ~= nil) then error(kind .. ": takes no options", 2) end
    return setmetatable({ kind = kind }, Stage)
  end
end

--- stages.is(value)
function stages.is(value) return getmetatable(value) == Stage end

--- sc.standardize(): (x - mean)/standard deviation of each column, learnt from the training rows; a constant column becomes 0.
stages.standardize = maker("standardize")
--- sc.minmax(): each column to [0, 1] by the training rows' smallest and largest; a constant column becomes 0.
stages.minmax = maker("minmax")
--- sc.normalize(): each row to unit Euclidean norm; a row of zeros stays.
stages.normalize = maker("normalize")
--- sc.add_bias(): one more column of ones.
stages.add_bias = maker("add_bias")

return stages
