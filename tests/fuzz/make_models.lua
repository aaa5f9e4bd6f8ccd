-- Small saved models of every kind, and sums over rows, into the folder of the argument: where the
-- harness read_model begins. Run by run.sh.
package.path = arg[0]:gsub("fuzz/[^/]*$", "helpers/?.lua;") .. package.path
local models = require "small_models"
local sc = require "scullery"

local seen, count = {}, 0
for _, one in ipairs(models.all()) do
  local kind = one.name:match("^(.-), [^,]*$")
  if not seen[kind] then
    count = count + 1
    seen[kind] = true
    one.fit():save(("%s/%02d"):format(arg[1], count))
  end
end

local sums = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 4,
  phi = sc.nonlinearity.fourier(), dtype = "int8" }, sc.solver.ridge{ lambda = 1e-3 } }
sums:sums(models.numbers(12)):save(arg[1] .. "/sums")
sums:sums(models.numbers(12), { folds = 2 }):save(arg[1] .. "/folds")
sums:fit(models.classes(12, 2), { sums = true }):save(arg[1] .. "/kept", { sums = true })
local texts = { "free prize", "lunch report", "a prize", "the report" }
for name, o in pairs{ hashed = { bits = 4 }, named = { vocabulary = true } } do
  sc.pipeline{ sc.text(o), sc.solver.ridge{ lambda = 1 } }:fit(texts, { "a", "b", "a", "b" })
    :save(arg[1] .. "/" .. name)
end
