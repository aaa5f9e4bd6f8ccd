--- The streams of random numbers that Lua modules take permutations from: each use has its own, so
-- that with one seed no two of them share numbers. The engine's own are in core/base/random.h.
return {
  split = 32, folds = 33, groups = 34, -- data/folds.lua
  points = 48,         -- rows that a picture draws
  learning_curve = 49, -- the order of the rows of a learning curve
  intervals = 50,      -- groups of the jackknife
  permutations = 51,   -- tests by permutation
  importance = 1024,   -- and following: of column c, importance + c
}
