--- Bayesian optimisation of the score, the way of p:search through its combinations that method =
--- "bayes" names.
local choose = require "scullery.compose.choose"
local optimize = require "scullery.model.optimize"
local recipe = require "scullery.model.recipe"
local search_runs = require "scullery.model.search_runs"

local bayes = {}

-- The side of the box for a searched option, and a function from a number of it to a value: ranges
-- without a count are sides, lists are sides of places in them, numbers in ascending order. No
-- side, for one value.
local function side_of(one)
  local range, values = one.choose, table.move(one.values, 1, #one.values, 1, {})
  if choose.continuous(range) then
    local low, high = math.min(range.low, range.high), math.max(range.low, range.high)
    return low < high and { low, high, log = range.law == "log",
      integer = math.type(low) == "integer" and math.type(high) == "integer" } or nil,
      function(x) return x or low end
  end
  local numbers = true
  for _, value in ipairs(values) do numbers = numbers and type(value) == "number" end
  if numbers then table.sort(values) end
  return #values > 1 and { 1, #values, integer = true } or nil,
    function(k) return values[k or 1] end
end

-- The number of values of the score, if none is given a fifth of the grid and at least ten; second:
-- whether the combinations are finitely many.
local function rounds_of(searched, o)
  local size, finite = 1, true
  for _, one in ipairs(searched) do
    size, finite = size * #one.values, finite and not choose.continuous(one.choose)
  end
  local count = o.draws or math.max(10, math.ceil(size / 5))
  return finite and math.min(count, size) or count, finite
end

--- bayes.run(work, runs, cells): sc.optimize on the score, of which it computes `draws` values. It
--- takes and returns what search_runs.run_all does.
function bayes.run(work, runs, cells)
  local p, o, kept = runs[1].pipeline, work.o, {}
  for _, run in ipairs(runs) do
    if run.pipeline ~= p then
      error("method = \"bayes\" chooses values of options, and a stage is sc.choose: method = \z
        \"halving\" compares stages too", 0)
    end
  end
  local searched, box, value_at, known = recipe.searched(p), {}, {}, {}
  for _, one in ipairs(searched) do box[one.path], value_at[one.path] = side_of(one) end
  local rounds, finite = rounds_of(searched, o)
  local worst
  local function score(x)
    local choices, parts = {}, {}
    for i, one in ipairs(searched) do
      choices[one.path] = value_at[one.path](x[one.path])
      parts[i] = tostring(choices[one.path])
    end
    local key = table.concat(parts, "\0")
    -- of places in lists it may ask for one again, and its first points may be more than `rounds`
    if known[key] or #cells >= rounds then return known[key] or worst end
    search_runs.run_next(work, { pipeline = p, stages = runs[1].stages, choices = choices,
      chosen = runs[1].chosen }, #cells + 1, cells, kept)
    local mean = cells[#cells].mean
    -- a fit that failed is as good as the worst one
    if math.abs(mean) == math.huge then mean = worst or cells.larger and -1e9 or 1e9 end
    if not worst or cells:better(worst, mean) then worst = mean end
    known[key] = mean
    return mean
  end
  if next(box) == nil then score{} else
    optimize.run{ f = score, box = box, rounds = finite and 4 * rounds or rounds,
      maximize = cells.larger, seed = math.abs(o.seed),
      enough = function() return #cells >= rounds end,
      -- of ranges: the mean of lists could choose one place again and again
      settles = not finite and rounds - rounds // 4 or nil }
  end
  cells.how = ("Bayesian optimisation: %d values of the score"):format(#cells)
  return kept
end

return bayes
