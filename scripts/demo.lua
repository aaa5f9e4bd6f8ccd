-- The main job, on the data set that ships with the project: a random kitchen sink and an RKHS
-- weighting learn to tell malignant from benign tumours.
local sc = require "scullery"
sc.arguments{} -- it takes none

-- Breast Cancer Wisconsin (Diagnostic), UCI; W. Wolberg, N. Street, O. Mangasarian, 1995
local ds = sc.data.load("wdbc")
local train, test = ds:split{ test = 0.25, seed = 0 }
print(("%s: %d rows to learn from, %d to judge by\n"):format(tostring(ds), #train, #test))

-- Weighted sums of random kitchen sinks: f(x) = sum_t a_t phi(w_t, x), 1000 Fourier features. The
-- fit chooses the width of their kernel and lambda, as they are not given.
local sinks = sc.pipeline{ sc.standardize(), sc.features{}, sc.solver.ridge{} }
sinks:fit(train)
print(sinks)
print(("kitchen sink: test accuracy %.3f\n"):format(sinks:score(test)))

-- An RKHS weighting: f(x) = E[alpha(w) phi(w, x)], alpha in the space of K, with its guarantee
local inst = sc.instantiation{
  W = sc.space.threshold(), K = sc.kernel.gaussian{ gamma = 1 },
  p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
}
local weighting = sc.pipeline{
  sc.standardize(), sc.add_bias(), inst:features{ T = 300, seed = 0 },
  sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-3, count = 4 }, penalty = "rkhs" },
}
local best = weighting:search(train, { folds = 5, seed = 0 })
print(best.table)
local bound = best:bound{ delta = 0.05 }
print(("\nRKHS weighting: test accuracy %.3f, norm %.1f"):format(best:score(test), best:norm()))
print(("its squared loss is %.3f on the training rows, and a bound for probability 0.95 %.2f")
  :format(bound.empirical, bound.total))
print("  (not proved, because " .. table.concat(bound.unproved, "; ") .. ")")
print(sc.metrics.confusion(best:predict(test), test.y, test.classes))
