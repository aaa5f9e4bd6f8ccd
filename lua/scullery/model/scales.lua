--- Learns the scales of the parts of a union of features, and lambda, by the gradient of the
--- squared leave-one-out error of ridge regression: multiple kernel learning, as the kernel of the
--- union is the sum of s_k^2 K_k.
---
--- With R = I - H - 1/n, where H_ij = (phi_i - mean)'A^-1 (phi_j - mean) and A = Phi'Phi + n lambda
--- I (centred), residuals are r = R y, and without row i they are e_i = r_i / R_ii. Phi_k: the
--- features of part k with their scale.
---
---   dR / dlog s_k = -2 / (n lambda) R Phi_k Phi_k' R,   dR / dlog lambda = R - R R
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local features = require "scullery.compose.features"
local options = require "scullery.base.options"
local objects = require "scullery.base.objects"
local posterior = require "scullery.model.posterior"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"

local Pipeline, scales = recipe.class, {}

local rules = options.declare("pipeline:learn_scales", {
  steps = { type = "integer", low = 1, default = 30 },
  rows = { type = "integer", low = 10, default = 1000 }, widths = { type = "boolean" },
  seed = { type = "integer", default = 0 } })

-- The number of features of each part, on the rows of ds.
local function sizes_of(p, ds)
  local list = {}
  for k, part in ipairs(p.features.parts) do
    local alone = p:clone()
    alone.features, alone.solver, alone.after = part, nil, {}
    list[k] = alone:fit(ds).fitted.map_info.features
  end
  return list
end

-- The mean squared leave-one-out error at these logarithms of scales and lambda (the last), its
-- gradient, and the pipeline with them.
local function evaluate(p, ds, at, sizes)
  local changes = { ["solver.lambda"] = math.exp(at[#at]) }
  for k = 1, #at - 1 do changes[k .. ".features.scale"] = math.exp(at[k]) end
  local q = p:clone(changes):fit(ds)
  local f, source = q.fitted, dataset.source_of_rows(ds)
  local found, n, c = posterior.of(q, "pipeline:learn_scales"), #ds, f.targets
  local U = core.posterior_project(found.handle, source, f.stages, found.map)
  local V = core.posterior_project(found.handle, source, f.stages, found.map, true)
  local constant = found.info.constant and 1 / n or 0
  local R = U * V:t() * -1 - core.ones(n, n) * constant
  for i = 1, n do R:set(i, i, R:get(i, i) + 1) end
  local r, e, diagonal = R * target_form.apply(f.form, ds):targets(), core.zeros(n, c), {}
  local slopes, first = {}, 1
  for i = 1, n do
    diagonal[i] = math.max(R:get(i, i), 1e-12)
    for j = 1, c do e:set(i, j, r:get(i, j) / diagonal[i]) end
  end
  local loss = e:dot(e) / n
  -- the slope of the loss where r moves by dr (n x c) and the diagonal of R by dR (n x 1)
  local function slope(dr, dR, factor)
    local sum = 0
    for i = 1, n do
      for j = 1, c do
        sum = sum + e:get(i, j) * (dr:get(i, j) - e:get(i, j) * dR:get(i, 1)) / diagonal[i]
      end
    end
    return 2 * factor * sum / n
  end
  local Phi = q:transform(ds.X)
  for k, size in ipairs(sizes) do
    local part = Phi:slice(1, n, first, first + size - 1):copy()
    local moved = R * part
    slopes[k] = slope(moved * (part:t() * r), moved:mul(moved):sum(2), -2 / found.info.weight)
    first = first + size
  end
  local own = core.zeros(n, 1)
  for i = 1, n do own:set(i, 1, R:get(i, i)) end
  slopes[#at] = slope(r - R * r, own - R:mul(R):sum(2), 1)
  return loss, slopes, q
end

-- ------------ widths of the parts

local STEP = 1e-3 -- of a difference quotient, in the logarithm of a width

-- The widths of the parts of a fitted union that are numbers, or follow from the rows: a list of
-- { part =, at = "p" or "phi", name =, value = }.
local function widths_of(f)
  local list = {}
  for k, part in ipairs(f.features.parts) do
    for _, at in ipairs{ "p", "phi" } do
      local inside = part.inst[at]
      local settings = core.settings(component.instance(inside, {}, f.origin.parts[k].widths))
      for _, option in ipairs(core.plugin_info(inside.kind, inside.name).options) do
        local value = settings[option.name]
        if option.takes:find('"median"', 1, true) and type(value) == "number" and value > 0 then
          list[#list + 1] = { part = k, at = at, name = option.name, value = value }
        end
      end
    end
  end
  return list
end

-- A copy of the pipeline with the widths exp(at[first + j]); moved: the one of them that is STEP
-- larger, or nil.
local function with_widths(p, widths, at, first, moved)
  if #widths == 0 then return p end
  local q = p:clone()
  q.features = features.copied(q.features)
  q.features.parts = table.move(q.features.parts, 1, #q.features.parts, 1, {})
  for j, one in ipairs(widths) do
    local part = q.features.parts[one.part]
    local value = math.exp(at[first + j] + (j == moved and STEP or 0))
    q.features.parts[one.part] = features.with_part(part, one.at,
      component.with(part.inst[one.at], one.name, value))
  end
  return q
end

-- evaluate, where the logarithms of widths follow that of lambda. Their slopes are difference
-- quotients: a width changes each number of its features in a way of its own.
local function evaluate_all(p, ds, at, sizes, widths)
  local first = #sizes + 1
  local scales_at = table.move(at, 1, first, 1, {})
  local loss, slopes = evaluate(with_widths(p, widths, at, first), ds, scales_at, sizes)
  for j = 1, #widths do
    local other = evaluate(with_widths(p, widths, at, first, j), ds, scales_at, sizes)
    slopes[first + j] = (other - loss) / STEP
  end
  return loss, slopes
end

-- Steps down the gradient, the largest coordinate by `step`, which grows by a fifth after a smaller
-- loss, and is halved after a larger one.
local function descend(p, ds, at, sizes, widths, steps)
  local loss, slopes = evaluate_all(p, ds, at, sizes, widths)
  local begun, step = loss, 0.7
  for _ = 1, steps do
    local most = 0
    for _, slope in ipairs(slopes) do most = math.max(most, math.abs(slope)) end
    if most == 0 or step < 1e-3 then break end
    local tried = {}
    for k, value in ipairs(at) do tried[k] = value - step * slopes[k] / most end
    local own, its = evaluate_all(p, ds, tried, sizes, widths)
    if own < loss then
      at, loss, slopes, step = tried, own, its, step * 1.2
    else
      step = step / 2
    end
  end
  return at, loss, begun
end

-- A part of no use may lie behind a rise of the loss: each is also tried at a twentieth of its
-- scale, and where the loss is smaller the descent goes on from there.
local function without_useless(p, ds, at, loss, sizes, widths, steps)
  for k = 1, #sizes do
    local tried = table.move(at, 1, #at, 1, {})
    tried[k] = tried[k] - 3
    local own = evaluate(with_widths(p, widths, at, #sizes + 1), ds,
      table.move(tried, 1, #sizes + 1, 1, {}), sizes)
    if own < loss then
      at, loss = descend(p, ds, tried, sizes, widths, steps)
    end
  end
  return at, loss
end

--- scales.evaluate: for tests of the gradient.
scales.evaluate, scales.sizes = evaluate, sizes_of

-- p:learn_scales without its title.
local function learn(p, ds, given)
  local title = "pipeline:learn_scales"
  local o = options.check(title, given or {}, rules, 0)
  if not (p.features and p.features.parts) then
    error(title .. ": it takes a union of features, sc.features{...} + sc.features{...}", 0)
  end
  if #p.after > 0 then error(title .. ": it takes a union without row stages after it", 0) end
  posterior.check({ solver = p.solver }, title)
  if not (dataset.is(ds) and ds.X and ds.y) or ds.weights then
    error(title .. ": it takes a data set in memory, of rows of one weight", 0)
  end
  if #ds > o.rows then ds = ds:sample{ rows = o.rows, seed = o.seed } end
  local settled = p:clone():fit(ds)
  local q = p:clone()
  q.features, q.solver = settled.fitted.features, settled.fitted.solver
  local at = {}
  for k, part in ipairs(q.features.parts) do at[k] = math.log(part.scale or 1) end
  at[#at + 1] = math.log(math.max(core.settings(settled.fitted:solver_instance()).lambda, 1e-12))
  local begun, loss
  local sizes, widths = sizes_of(q, ds), o.widths and widths_of(settled.fitted) or {}
  for _, one in ipairs(widths) do at[#at + 1] = math.log(one.value) end
  at, loss, begun = descend(q, ds, at, sizes, widths, o.steps)
  at, loss = without_useless(q, ds, at, loss, sizes, widths, o.steps)
  -- scales times c and lambda times c^2 are the same model: the largest scale becomes 1
  local last = #sizes + 1
  local most = math.max(table.unpack(at, 1, last - 1))
  local lambda = math.exp(at[last] - 2 * most)
  local changes, found = { ["solver.lambda"] = lambda }, { lambda = lambda, loss = loss,
    before = begun }
  for k = 1, last - 1 do
    found[k] = math.exp(at[k] - most)
    changes[k .. ".features.scale"] = found[k]
  end
  if o.widths then found.widths = {} end
  for j, one in ipairs(widths) do found.widths[one.part] = math.exp(at[last + j]) end
  return with_widths(q, widths, at, last):clone(changes), found
end

--- p:learn_scales(ds[, { steps = 30, rows = 1000, widths = false, seed = 0 }]): multiple kernel
--- learning: a new pipeline, not fitted, with the scales of the parts of its union of features, and
--- lambda, that have the least leave-one-out error of ridge regression, by its gradient, from those
--- of p (or 1) on. Second: { scale of each part, the largest 1, lambda =, loss = the mean squared
--- leave-one-out error of the targets as they are learnt, before = that at the first scales }. A
--- part of no use gets a scale near 0. Of more than `rows` rows a sample is used.
---
--- Widths that are not given are those that p:fit takes. widths = true: the widths of the parts are
--- learnt too, by the same error (a part for each column: a width for each); .widths of the second
--- result has them, by part.
function Pipeline:learn_scales(ds, given)
  return objects.call("pipeline:learn_scales", learn, self, ds, given)
end

return scales
