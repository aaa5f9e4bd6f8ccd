--- The test that each bit of an option 'seed' counts, where seeds matter at all.
local core = require "scullery_checker.core"

local ROWS <const> = 400 -- of which a sample may be taken
local FEW <const> = 20 -- what larger whole numbers are set to: the size of a sample
local OTHERS <const> = 5
local FIRST <const>, BITS <const> = 3, { 8, 16, 31, 32, 40, 52 }

-- Options to try seeds beside: those of the variants, and with other whole numbers small.
local function settings(t)
  local list = {}
  for _, variant in ipairs(t.subject:variants()) do
    list[#list + 1] = t.subject:hasty(variant.given)
    for _, option in ipairs(t.subject.info.options) do
      local default = tonumber(option.default)
      if option.takes_integer and default and default > FEW and #list < 12 then
        local given = { [option.name] = FEW }
        for key, value in pairs(variant.given) do given[key] = given[key] or value end
        list[#list + 1] = given
      end
    end
  end
  return list
end

-- Whether several seeds have results of their own: some make few choices, which may be the same.
local function all_differ(want, with)
  local list = { want }
  for k = 1, OTHERS do
    local made = with(FIRST + k)
    for _, other in ipairs(made and list or {}) do
      if not core.first_difference(made, other) then return false end
    end
    list[#list + 1] = made
  end
  return #list == OTHERS + 1
end

-- Whether this bit of a seed changes nothing, by each of several seeds: two may have one result.
local function is_idle(want, with, bit)
  for k = 0, OTHERS do
    local made = with(FIRST + k + (1 << bit))
    if not made or core.first_difference(made, k == 0 and want or with(FIRST + k)) then
      return false
    end
  end
  return true
end

-- Large seeds fit as well as small ones: of RANKED of each, not all are worse, or all better, which
-- happens by chance once in 2 x 10^7.
local RANKED <const>, LARGE <const> = 14, 1 << 40

local function expect_alike(t, label, losses)
  local small, large = { table.unpack(losses, 1, RANKED) }, { table.unpack(losses, RANKED + 1) }
  local least, most = math.min(table.unpack(small)), math.max(table.unpack(small))
  local low, high = math.min(table.unpack(large)), math.max(table.unpack(large))
  t:expect(most >= low and high >= least, "%s: seeds 1 to %d have squared errors of the rows of \z
    the fit from %.6g to %.6g, and seeds from 2^40 + 1 on from %.6g to %.6g", label, RANKED, least,
    most, low, high)
end

local function check_fits(t)
  local problems = require "scullery_checker.solver.problems"
  for one in problems.variants(t) do
    local case, losses = one.cases[1], {}
    for k = 1, 2 * RANKED do
      local seed = k <= RANKED and k or k - RANKED + LARGE
      local told = problems.solve(t.subject:make(problems.with(t.subject:hasty(one.given),
        { seed = seed })),
        problems.with(case.problem, { Z = case.problem.X }))
      if told.status ~= "ok" then break end
      local off = told.fits[1].predictions - case.problem.Y
      losses[k] = off:mul(off):sum()
      if k == 2 and math.abs(losses[1] - losses[2]) <= 1e-6 * losses[1] then break end
    end
    if #losses == 2 * RANKED then expect_alike(t, case.label, losses) end
  end
end

local function run(t)
  local has, any, tried = false, false, 0
  for _, option in ipairs(t.subject.info.options) do has = has or option.name == "seed" end
  for _, given in ipairs(has and settings(t) or {}) do
    local function with(seed)
      local all = { seed = seed }
      for key, value in pairs(given) do all[key] = all[key] or value end
      local ok, made = pcall(function()
        return t.subject.use(t.subject:make(all), t.seed, ROWS)
      end)
      return ok and made or nil
    end
    local want = tried < 2 and with(FIRST)
    if want and all_differ(want, with) then
      any, tried = true, tried + 1
      for _, bit in ipairs(BITS) do
        t:expect(not is_idle(want, with, bit), "seeds s and s + 2^%d give the same result, as \z
          s = %d to %d do", bit, FIRST, FIRST + OTHERS)
      end
    end
  end
  if any and t.kind == "solver" then check_fits(t) end
  if not any then
    t:skip(has and "seeds have no results of their own" or "it has no option 'seed'")
  end
end

-- A list of its own for each kind that has the test, so that each lists it.
return function()
  return { { name = "seeds", about = "each bit of the seed counts", run = run } }
end
