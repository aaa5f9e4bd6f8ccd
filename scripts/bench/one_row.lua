--- One row a call through scullery.h, beside one gemv of W, the cosines and a dot product.
---
---     scullery scripts/bench/one_row.lua [FOLDER of libscullery.so]
---
--- Needs a C compiler and OpenBLAS's headers; the folder is that of an installation, or build. The
--- last number of a line is the share of the least time: .9 and more on one machine with AVX-512.
local sc = require "scullery"

local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir '%s'"):format(folder)))
local binary, library = arg[-1] or "scullery", arg[1] or "build"
local program, source = folder .. "/one_row", arg[0]:gsub("%.lua$", ".c")
assert(os.execute(("gcc -Ofast -march=native $('%s' --cflags) -o '%s' '%s' \z
  $(pkg-config --cflags --libs openblas) -L'%s' -Wl,-rpath,'%s' -lscullery -lm"):format(binary,
  program, source, library, library)), "it cannot be compiled")

for _, d in ipairs{ 20, 100, 784 } do
  local X = sc.randn{ 500, d, seed = 1 }
  for _, T in ipairs{ 500, 1000, 5000 } do
    for _, dtype in ipairs{ "float64", "float32" } do
      local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ gamma = 1 / d },
        phi = sc.nonlinearity.fourier(), T = T, seed = 1, dtype = dtype },
        sc.solver.ridge{ lambda = 1e-3 } }
      p:fit(X, X:column(1), { task = "regression" })
      p:save(folder .. "/model.safetensors")
      assert(os.execute(("OPENBLAS_NUM_THREADS=1 '%s' %d %s '%s/model.safetensors'"):format(
        program, T, dtype, folder)))
    end
  end
end
os.execute(("rm -r '%s'"):format(folder))
