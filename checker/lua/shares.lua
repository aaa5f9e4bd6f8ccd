--- The test of options that are shares of the rows: k/100 of 100 rows are k rows, however doubles
--- round.
local core = require "scullery_checker.core"

local STEP <const> = 0.004 -- less than half a row
-- Places k, of which k/100 times 100 is below k, above it, or just k.
local PLAIN <const> = { 20, 30, 40 }
local ODD <const> = { 29, 57, 58, 7, 14, 28, 55, 56 }

-- Whether two outcomes are the same to the bit; nil where one is not there.
local function same(a, b) return a and b and not core.first_difference(a, b) end

-- What comes of the option as k/100, and a little above or below.
local function at(outcome, k, step) return outcome(k / 100 + step) end

-- "below" where a little less than k rows are k rows, "above" where a little more are, "near" where
-- both are; nil where each number counts, or none does.
local function rule_of(outcome)
  local above, below = true, true
  for _, k in ipairs(PLAIN) do
    local here = at(outcome, k, 0)
    above = above and same(here, at(outcome, k, STEP))
    below = below and same(here, at(outcome, k, -STEP))
    if not (above or below) or same(here, at(outcome, k, 0.012)) then return nil end
  end
  return above and below and "near" or above and "above" or "below"
end

local function check_option(t, option, outcome)
  local rule = rule_of(outcome)
  for _, k in ipairs(rule and ODD or {}) do
    local here = at(outcome, k, 0)
    for _, side in ipairs(rule == "near" and { STEP, -STEP } or { rule == "above" and STEP
      or -STEP }) do
      local there = at(outcome, k, side)
      t:expect(not (here and there) or same(here, there), "%s = %g and %g of 100 rows differ, and \z
        0.3 and %g do not: %g of 100 are not %d rows", option.name, k / 100, k / 100 + side,
        0.3 + side, k / 100, k)
    end
  end
  return rule ~= nil
end

-- shares(outcome): the test; outcome(t, component): a matrix, by which options are compared.
return function(outcome)
  local function run(t)
    local any = false
    for _, option in ipairs(t.subject.info.options) do
      if option.takes_number and option.low >= 0 and option.high <= 1 then
        any = check_option(t, option, function(value)
          local ok, made = pcall(function()
            return outcome(t, t.subject:make(t.subject:hasty{ [option.name] = value }))
          end)
          return ok and made or nil
        end) or any
      end
    end
    if not any then t:skip("no option is a share of the rows") end
  end
  return { name = "shares", about = "a share of k/100 of 100 rows is k rows", run = run }
end
