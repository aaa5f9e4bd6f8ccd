--- Tests of solvers: what a change of a problem leaves of its solution, for rows of many forms and
--- random options. What a solver keeps of a plain problem, it keeps of the others.
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"
local settings = require "scullery_checker.settings"

-- ------------ relations

local function places_of(n, place)
  local list = {}
  for i = 1, n do list[i] = place(i) end
  return list
end

-- The problem with these rows, a list of places.
local function rows(p, places)
  return { X = p.X:select(places), Y = p.Y:select(places),
    weights = p.weights and p.weights:select(places) }
end

local function backwards(n) return places_of(n, function(i) return n + 1 - i end) end

-- One target, or one class against all others.
local function alone(p, k)
  return { Y = problems.columns(p.Y, { k }), classes = p.classes > 0 and 2 or 0 },
    function(A) return problems.columns(A, { k }) end
end

local function is_numbers(p) return p.classes == 0 and not p.positive end

local function same(A) return A end

-- Each { text, f }: f(p): changes of the problem, and what of its predictions is then which
-- function of the others; nil where it does not apply. count: number or order of rows change;
-- models: asked of what makes models alone; apart: what is true with default options must be true
-- with all; scale: not asked where something bounds the solution; sign: asked where there is an
-- objective, as others may choose between equal constants; columns: not asked where the penalty
-- depends on their order; bits: rounds nothing.
local relations = {
  { "rows in another order", order = true, count = true, function(p)
    return rows(p, backwards(p.X:rows()))
  end },
  { "columns in another order", order = true, ties = true, columns = true, function(p)
    local places = backwards(p.X:cols())
    return { X = problems.columns(p.X, places), Z = problems.columns(p.Z, places) }
  end },
  { "targets in another order", apart = true, function(p)
    local c = p.Y:cols()
    if c == 1 then return nil end
    local places = places_of(c, function(k) return k % c + 1 end)
    return { Y = problems.columns(p.Y, places) },
      function(A) return problems.columns(A, places) end
  end },
  { "its first target alone", apart = true, function(p)
    if p.Y:cols() > 1 then return alone(p, 1) end
  end },
  { "its last target alone", apart = true, function(p)
    if p.Y:cols() > 1 then return alone(p, p.Y:cols()) end
  end },
  { "targets times -1", sign = true, function(p)
    if p.positive or p.classes > 2 then return nil end
    return { Y = p.Y * -1 }, same, function(A) return A * -1 end
  end },
  { "targets times 8", scale = true, bits = true, function(p)
    if not is_numbers(p) then return nil end
    return { Y = p.Y * 8 }, same, function(A) return A * 0.125 end
  end },
  { "targets + 3", function(p)
    if not is_numbers(p) then return nil end
    return { Y = p.Y + 3 }, same, function(A) return A + -3 end
  end },
  { "columns + 2", function(p) return { X = p.X + 2, Z = p.Z + 2 } end },
  { "columns times 4", models = true, function(p) return { X = p.X * 4, Z = p.Z * 4 } end },
  { "all rows twice", count = true, function(p)
    local n = p.X:rows()
    return rows(p, places_of(2 * n, function(i) return (i - 1) % n + 1 end))
  end },
  { "copies of rows in place of weights", count = true, function(p)
    local places = {}
    for i = 1, p.weights and p.X:rows() or 0 do
      for _ = 1, p.weights:get(i, 1) do places[#places + 1] = i end
    end
    if #places > 0 then
      local changes = rows(p, places)
      changes.weights = false
      return changes
    end
  end },
  { "weights times 4", exact = true, function(p)
    return p.weights and { weights = p.weights * 4 }
  end },
  { "weights 1", function(p)
    return not p.weights and { weights = core.zeros(p.X:rows(), 1) + 1 } or nil
  end },
  { "rows of weight 0 more", count = true, function(p)
    local n = p.X:rows()
    local wider = rows(p, places_of(n + 5, function(i) return i <= n and i or i - n end))
    local weights = core.zeros(n + 5, 1)
    for i = 1, n do weights:set(i, 1, p.weights and p.weights:get(i, 1) or 1) end
    for i = n + 1, n + 5 do
      for j = 1, p.Y:cols() do wider.Y:set(i, j, wider.Y:get(n + 6 - i, j)) end
    end
    wider.weights = weights
    return wider
  end },
  { "a column of zeros more", columns = true, function(p)
    local function wider(A) return core.hcat(A, core.zeros(A:rows(), 1)) end
    return { X = wider(p.X), Z = wider(p.Z) }
  end },
  { "compressed sparse rows", function(_, facts) return facts.csr and { csr = true } or nil end },
  { "blocks of 7 rows", function() return { block = 7, allowance = 0 } end },
}

-- ------------ problems

local function sparse(X, share)
  local thin = X:copy()
  for i = 1, X:rows() do
    for j = 1, X:cols() do
      if (i * 31 + j * 17 + i * j) % 100 >= share then thin:set(i, j, 0) end
    end
  end
  return thin
end

local function by_column(X, f)
  local made = X:copy()
  for i = 1, X:rows() do
    for j = 1, X:cols() do made:set(i, j, f(X:get(i, j), j)) end
  end
  return made
end

-- Each { label, n, d, change = of rows }, the plain ones first; ties: rows or columns may be as
-- good as each other; linear: not for what makes models; many: of which models may keep a share.
local forms = {
  { "plain rows", 24, 4 },
  { "wide rows", 9, 16, ties = true },
  { "whole numbers", 30, 3, ties = true, change = function(X)
    return X:map(function(x) return (x * 1.5 + 0.5) // 1 end)
  end },
  { "sparse rows", 40, 60, ties = true, change = function(X) return sparse(X, 12) end },
  { "many rows", 300, 3, many = true },
  { "wide sparse rows", 20, 250, ties = true, change = function(X) return sparse(X, 5) end },
  { "columns of unlike sizes", 24, 5, ties = true, linear = true, change = function(X)
    return by_column(X, function(x, j)
      return j == 4 and 3 or j == 5 and 0 or x * 20.0 ^ (j - 2)
    end)
  end },
}

local tasks = { { "1 target", classes = 0 }, { "4 targets", classes = 0, targets = 4 },
  { "2 classes", classes = 2 }, { "4 classes", classes = 4 },
  { "a target above 0", classes = 0, positive = true } }

-- Targets of unlike sizes, of which the first, or the last, is 0; few rows in the first class.
local function uneven(p, last)
  if p.Y:cols() < 2 or p.positive then return p end
  local Y = p.Y:copy()
  for i = 1, Y:rows() do
    if p.classes == 0 then
      Y:set(i, last and 4 or 1, 0)
      Y:set(i, 2, Y:get(i, 2) * 30)
      Y:set(i, last and 1 or 4, Y:get(i, last and 1 or 4) ^ 3 * 0.01)
    elseif Y:get(i, 1) > 0 and i % 3 > 0 and i > 3 then
      Y:set(i, 1, -1)
      Y:set(i, 2, 1)
    end
  end
  return problems.with(p, { Y = Y })
end

local function make(t, form, task, weighted, of, last)
  local label, n, d = table.unpack(form)
  local p = problems.make(t, { n = n, d = d, classes = task.classes, targets = task.targets,
    positive = task.positive, T = task.T })
  p.Z = p.Z:slice(1, 9)
  p.ties, p.many = form.ties, form.many
  if form.change then p.X, p.Z = form.change(p.X), form.change(p.Z) end
  if of > 1 then p = uneven(p, last) end
  p.label = ("%s, %s%s"):format(label, task[1], weighted and ", weights" or "")
  if weighted then
    p.weights = p.X:column(1):map(function(x) return math.abs(x * 1000) // 1 % 4 end)
    if p.weights:sum() == 0 then p.weights = nil end
  end
  return p
end

-- ------------ compared

-- Whether two fits have the same objective, each on its own problem: there may be several least
-- points.
local function equally_good(component, facts, fit, p, other, changed)
  if not facts.objective or fit.status ~= "converged" then return false end
  local b = facts.intercept
  local here = problems.objective(component, p)(fit.weights, b and fit.intercept or nil)
  local there = problems.objective(component, changed)(other.weights, b and other.intercept or nil)
  local zero = problems.objective(component, p)(fit.weights * 0, b and fit.intercept * 0 or nil)

  return math.abs(here - there) <= 1e-6 * math.max(math.abs(here), math.abs(zero))
end

-- How far apart predictions are but for one row, which may lie where votes of a model change.
local function apart_but_one(a, b, scale)
  local least, where = math.huge, nil
  for i = 1, a:rows() do
    local others = {}
    for k = 1, a:rows() do others[#others + 1] = k ~= i and k or nil end
    local apart, place = problems.apart(a:select(others), b:select(others), scale)
    if apart < least then least, where = apart, place end
  end
  return least, where
end

-- How far apart the solutions of a problem and its changed one are, what is allowed, and where.
local function distance(component, facts, p, relation, fit)
  local changes, of, back = relation[2](p, facts)
  if not changes then return nil end
  local changed = problems.with(p, changes)
  local told = problems.solve(component, changed)
  local other = told.status == "ok" and told.fits[1]
  if not other or other.status ~= fit.status then return nil end
  local a, b = (of or same)(fit.predictions), (back or same)(other.predictions)
  local apart, place = problems.apart(a, b, 1e-6 * p.Y:abs():max())
  local allowed = math.max(1e-6, 0.03 * problems.slack(fit, other))
  if facts.models and p.many then allowed = math.max(allowed, 0.01) end -- rounding decides ties
  if apart > allowed and equally_good(component, facts, fit, p, other, changed) then
    apart = 0
  elseif apart > allowed and p.ties and facts.models then
    apart, place = apart_but_one(a, b, 1e-6 * p.Y:abs():max())
  end
  return apart, allowed, place
end

local KEPT <const> = 1e-7

-- What changes by a power of two and leaves the objective leaves the steps to its least too, of
-- methods that stop before as well.
local function expect_exact(t, component, facts, p, relation, fit, apart)
  if not relation.exact or not apart or not facts.objective or not fit.weights then return end
  local b = facts.intercept and fit.intercept or nil
  local here = problems.objective(component, p)(fit.weights, b)
  local there = problems.objective(component, problems.with(p, relation[2](p)))(fit.weights, b)
  t:expect(apart <= 1e-3 or math.abs(here - there) > 1e-9 * math.abs(here), "%s: the objective is \z
    the same, and the predictions differ by %.3g of the largest", relation[1], apart)
end

-- What it keeps of plain problems of the task, with weights and without: by relation, the largest
-- distance; nil where it refuses them all.
local function learnt(t, component, facts, task)
  local kept
  for _, weighted in ipairs{ false, true } do
    local p = make(t, forms[1], task, weighted, 1)
    local told = problems.solve(component, p)
    local fit = told.status == "ok" and told.fits[1]
    for k, relation in ipairs(fit and relations or {}) do
      local apart = distance(component, facts, p, relation, fit)
      expect_exact(t, component, facts, p, relation, fit, apart)
      kept = kept or {}
      if apart then kept[k] = math.max(kept[k] or 0, apart) end
    end
  end
  return kept
end

-- Whether a relation of plain rows says something of others: what makes models may choose between
-- equal columns or rows by their order, and what draws rows, or takes a share of them, takes others
-- of more rows. So do greedy methods that claim no least point, where columns tie but for rounding.
local function is_asked(relation, form, facts, fit)
  local is_greedy = fit.status == "stopped" and not facts.objective and not facts.models
  if fit.status == "iterations exhausted" or relation.models and not facts.models
    or relation.scale and facts.capacity or relation.columns and facts.penalty == "other"
    or relation.sign and (not facts.objective or facts.penalty == "signs")
    or form.ties and is_greedy and not (relation.exact or relation.bits) then
    return false
  elseif relation.count and not (facts.objective and fit.status == "converged") then
    return facts.is_variant and not facts.seed and not form.ties
      and not (facts.models and form.many)
  elseif relation.apart and not facts.models and not facts.objective then
    return not facts.seed and not form.ties
  end
  return not (relation.order and facts.models and form.ties)
end

-- Whether there is no class of less than two rows that count: its constant has no bound.
local function has_all_classes(p)
  for j = 1, p.classes do
    local count, column, side = 0, p.classes == 2 and 1 or j, p.classes == 2 and j == 2 and -1 or 1
    for i = 1, p.Y:rows() do
      local counts = not p.weights or p.weights:get(i, 1) > 0
      if counts and p.Y:get(i, column) * side > 0 then count = count + 1 end
    end
    if count < 2 then return false end
  end
  return true
end

-- No step from the solution, of the constant or of all numbers, lowers the objective.
local function expect_least(t, component, facts, p, fit)
  if not facts.objective or fit.status ~= "converged" then return end
  local value = problems.objective(component, p)
  local a, b = fit.weights, facts.intercept and fit.intercept or nil
  local here, zero = value(a, b), value(a * 0, b and b * 0)
  local allowed = math.max(1e-7, 10 * (fit.tolerance or 0)) * math.abs(zero) + 1e-12
  local size = math.max(a:abs():max(), 1e-3)
  for of = 1, 4 do
    local line = of > 1 and t:random(a:rows(), a:cols(), 90 + of) or a * 0
    local constant = b and t:random(1, a:cols(), 95 + of)
    for _, step in ipairs{ 0.1, -0.1, 0.01, -0.01, 1e-3, -1e-3 } do
      local by = step * size
      local other = value(a + line * by, b and b + constant * by)
      t:expect(other >= here - allowed or other ~= other, "%s: says converged, with an objective \z
        of %.12g; a step of %.3g %s gives %.12g (at 0 it is %.6g)", p.label, here, by,
        of > 1 and "along a random line" or "of the constant", other, zero)
    end
  end
end

local function compare(t, component, facts, form, p, kept)
  local told = problems.solve(component, p)
  local fit = told.status == "ok" and told.fits[1]
  if fit then expect_least(t, component, facts, p, fit) end
  for k, relation in ipairs(fit and relations or {}) do
    if kept[k] and is_asked(relation, form, facts, fit) then
      local apart, allowed, place = distance(component, facts, p, relation, fit)
      t.compared = (t.compared or 0) + (apart and 1 or 0)
      t:expect(not apart or apart <= allowed, "%s: %s: predictions differ by %.3g of the largest, \z
        where %.3g is allowed (%s), and by %.3g for plain rows", p.label, relation[1], apart,
        allowed, place, kept[k])
    end
  end
end

-- Two targets that are the same have the same predictions, with one between them.
local function expect_equal_targets(t, component, facts)
  if facts.seed then return end
  local p = make(t, forms[1], { "1 target", classes = 0, targets = 2 }, false, 1)
  p.Y = core.hcat(p.Y, p.Y:column(1))
  local told = problems.solve(component, p)
  local fit = told.status == "ok" and told.fits[1]
  if not fit then return end
  local A = fit.predictions
  local off = (A:column(1) - A:column(3)):abs():max() / math.max(A:abs():max(), 1e-300)
  if off > 1e-3 then
    t:warn("targets 1 and 3 are the same, and their predictions differ by %.3g of the largest", off)
  end
end

-- Seconds of the processor, after which no other setting is begun.
local SECONDS <const> = 0.5

-- broken: by relation, whether it was broken by plain problems before: what an option makes of no
-- account, as a bound that is not reached, is no rule.
local function check_setting(t, one, turn, is_default, broken)
  local component = problems.settled(t, one.component, 0.1)
  local facts = problems.facts(component)
  facts.is_variant = one.far == 1
  facts.seed = problems.option(t, "name", "seed")
  facts.capacity = problems.option(t, "role", "capacity")
  if is_default then expect_equal_targets(t, component, facts) end
  local of_one, of_two = {}, {}
  for of, task in ipairs(tasks) do
    if is_default or (of + turn) % 3 == 0 then
      local kept = not broken.T and learnt(t, component, facts, task)
      if not kept then -- features of a map alone, it may be
        task = problems.with(task, { T = 24 })
        kept = learnt(t, component, facts, task)
        broken.T = kept and true
      end
      for k, apart in pairs(kept or {}) do
        if task.targets and relations[k].apart then
          broken.apart = broken.apart or is_default and apart > KEPT
          t:expect(broken.apart or facts.seed and not (facts.objective or facts.models)
            or apart <= 1e-3, "%s: %s: predictions differ by %.3g of the largest, and by nothing \z
            for its defaults", task[1], relations[k][1], apart)
        end
        -- what it keeps of one target, or of two classes, it keeps of several
        local few = task.classes > 0 and of_two or of_one
        few[k] = few[k] or apart
        local asked = is_default and is_asked(relations[k], forms[1], facts, {})
        t:expect(not asked or relations[k].ties and facts.models or few[k] > 1e-9
          or apart <= 1e-3, "%s: %s: predictions differ by \z
          %.3g of the largest, and by %.3g for one target or two classes", task[1],
          relations[k][1], apart, few[k] or 0)
        broken[k] = broken[k] or apart > KEPT
        if broken[k] then kept[k] = nil end
      end
      for k = 1, kept and 3 or 0 do
        local form = forms[(turn * 3 + of + k) % #forms + 1]
        local p = make(t, form, task, (turn + k) % 2 == 0, 2, (turn + k) % 4 < 2)
        if has_all_classes(p) and not (form.linear and facts.models) then
          compare(t, component, facts, form, p, kept)
        end
      end
    end
  end
end

local function run(t)
  local list = settings.list(t)
  local began, broken = os.clock(), {}
  for k, one in ipairs(list) do
    if one.far <= 40 and os.clock() - began < SECONDS then
      t.label = one.label
      check_setting(t, one, t.seed + k, k == 1, broken)
    end
  end
  t.label = nil
  if not t.compared then t:skip("it keeps nothing of plain problems") end
end

return {
  { name = "relations", about = "what changes of plain problems leave, they leave of others, \z
    whatever the options", run = run, seconds = 60 },
}
