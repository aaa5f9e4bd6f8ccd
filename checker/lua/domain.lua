--- The test of a declared domain, of samplers, nonlinearities and kernels: within it nothing is
--- refused, and all results are finite. What lies outside is refused by the host.
local core = require "scullery_checker.core"
local blocks = require "scullery_checker.blocks"
local parameters = require "scullery_checker.parameters"
local phi = require "scullery_checker.nonlinearity.phi"
local subject = require "scullery_checker.subject"

-- Of rows X: K between them, features with any partner, or phi of the numbers.
local results = {
  kernel = function(t, component, X)
    local u, out = parameters.dense(X), parameters.block(X:rows(), X:rows())
    core.kernel_gram(t:instance(component), u, u, out)
    return core.block_get(out)
  end,
  sampler = function(_, component, X)
    local partner = subject.partner(component)
    return require("scullery").features{ p = component, phi = partner, seed = 1,
      T = subject.T(component, 20) }:fit(X):transform(X)
  end,
  nonlinearity = function(t, component, X)
    local p = phi.new(t, component)
    local cols = X:cols() // p.fan_in
    local out = blocks.new(X:rows(), cols, p.fan_out, "float64")
    core.phi_apply(p.instance, blocks.from(X:slice(1, X:rows(), 1, cols * p.fan_in), p.fan_in,
      "float64"), out)
    return core.block_get(out)
  end,
}

-- Rows in the domain: random ones, near its bounds (at them, where they belong to it), large ones.
local function rows_of(t, domain)
  local list = {}
  for k, scale in ipairs{ 1, 1e-3, 30 } do
    list[k] = subject.into(domain, t:random(20, 12, k) * scale)
  end
  if domain.unit then return list end
  for _, at in ipairs{ domain.low, domain.high } do
    local open = at == domain.low and domain.low_open or at == domain.high and domain.high_open
    if math.abs(at) < math.huge then
      local step = (at == domain.low and 1 or -1) * math.max(math.abs(at), 1) * 1e-12
      list[#list + 1] = core.zeros(4, 12) + (open and at + step or at)
    end
  end
  return list
end

local function run(t)
  local any = false
  for component in t:variants() do
    local domain = core.domain(t:instance(component))
    for _, X in ipairs(domain and rows_of(t, domain) or {}) do
      any = true
      local ok, made = pcall(results[t.kind], t, component, X)
      t:expect(ok, "numbers from %.9g to %.9g are in its domain, and refused: %s", X:min(), X:max(),
        tostring(made))
      t:expect(not core.find_nonfinite(made), "numbers from %.9g to %.9g are in its domain, and a \z
        result is not finite", X:min(), X:max())
    end
  end
  if not any then t:skip("it takes any numbers") end
end

-- A list of its own for each kind that has the test, so that each lists it.
return function()
  return { { name = "domain", about = "in the domain that it declares all results are finite",
    seconds = 60, run = run } }
end
