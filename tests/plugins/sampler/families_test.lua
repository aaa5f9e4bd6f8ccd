-- The laws of families that learn from rows or are no phi(<w, x>): how landmarks are chosen,
-- against probabilities computed here; sketches of polynomial kernels; Nystrom by Falkon. What
-- holds for every sampler and pair is in sampler_test.lua and properties_test.lua, kernels are in
-- kernel_test.lua. Random, but seeded; frequencies and means carry their standard errors.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local fails = dofile("tests/helpers/support.lua").fails

local sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""
local methods = { "uniform", "kmeans", "leverage", "pivoted" }

local function landmarks(options, T, seed, phi)
  return sc.features{ p = sc.sampler.landmarks(options), phi = phi or sc.kernel.gaussian(), T = T,
    seed = seed }
end

-- ------------ the law of a choice

-- Which rows of X the landmarks are, "3 1 5".
local function places(feats, X)
  local W, list = feats:parameters(), {}
  for t = 1, W:rows() do
    for i = 1, X:rows() do
      if (W:row(t) - X:row(i)):abs():max() == 0 then list[t] = i end
    end
  end
  lu.assertEquals(#list, W:rows(), "a landmark is no row of the data")
  return table.concat(list, " ")
end

-- Probabilities of all ordered choices of T of n rows: scores(chosen) -> n scores, of which those
-- of rows that were not chosen count.
local function choices(n, T, scores, chosen, p, all)
  chosen, p, all = chosen or {}, p or 1, all or {}
  if #chosen == T then
    all[table.concat(chosen, " ")] = p
    return all
  end
  local s, total, taken = scores(chosen), 0, {}
  for _, i in ipairs(chosen) do taken[i] = true end
  for i = 1, n do total = total + (taken[i] and 0 or s[i]) end
  for i = 1, n do
    if not taken[i] then
      chosen[#chosen + 1] = i
      choices(n, T, scores, chosen, p * s[i] / total, all)
      chosen[#chosen] = nil
    end
  end
  return all
end

-- Frequencies over seeds within five standard errors of each probability.
local function check_law(label, X, T, options, phi, scores)
  local runs, seen, expected = sanitized and 500 or 5000, {}, choices(X:rows(), T, scores)
  for seed = 1, runs do
    local key = places(landmarks(options, T, seed, phi):fit(X), X)
    seen[key] = (seen[key] or 0) + 1
  end
  for key, p in pairs(expected) do
    local count, mean = seen[key] or 0, runs * p
    local off = math.abs(count - mean) / math.sqrt(mean * (1 - p) + 1)
    lu.assertTrue(off < 5, ("%s: rows %s were chosen %d times, %.1f expected"):format(label, key,
      count, mean))
    seen[key] = nil
  end
  lu.assertNil(next(seen), label .. ": rows were chosen that cannot be")
end

-- Five rows, the last far from the others: the rounds in which pivots are proposed differ.
local X = sc.vcat(sc.randn{ 4, 2, seed = 3 }, sc.matrix{ { 4, -3 } })
local polynomial = sc.kernel.polynomial{ degree = 2, scale = 0.5, offset = 1 }

-- The diagonal that elimination with pivots leaves of K.
local function residual(K, pivots)
  local n, rest, diagonal = K:rows(), K:totable(), {}
  for _, p in ipairs(pivots) do
    local row = { table.unpack(rest[p]) }
    for i = 1, n do
      local factor = rest[i][p] / row[p]
      for j = 1, n do rest[i][j] = rest[i][j] - factor * row[j] end
    end
  end
  for i = 1, n do diagonal[i] = math.max(rest[i][i], 0) end
  return diagonal
end

-- l_i = (K (K + n lambda I)^-1)_ii, by elimination with all pivots of [K + n lambda I, K].
local function leverage_scores(K, lambda)
  local n = K:rows()
  local left, right, scores = (K + sc.eye(n) * (n * lambda)):totable(), K:totable(), {}
  for k = 1, n do
    for i = 1, n do
      local factor = i ~= k and left[i][k] / left[k][k] or 0
      for j = 1, n do
        left[i][j] = left[i][j] - factor * left[k][j]
        right[i][j] = right[i][j] - factor * right[k][j]
      end
    end
  end
  for i = 1, n do scores[i] = right[i][i] / left[i][i] end
  return scores
end

local function alike() return { 1, 1, 1, 1, 1 } end

function TestUniformLandmarksAreUniform()
  check_law("uniform", X, 2, {}, nil, alike)
end

function TestKmeansIsProportionalToSquaredDistances()
  check_law("kmeans", X, 3, { method = "kmeans" }, nil, function(chosen)
    if #chosen == 0 then return alike() end
    local scores = {}
    for i = 1, X:rows() do
      scores[i] = math.huge
      for _, c in ipairs(chosen) do
        scores[i] = math.min(scores[i], (X:row(i) - X:row(c)):norm() ^ 2)
      end
    end
    return scores
  end)
end

-- Three rows share a direction, two have one each: the scores differ.
function TestLeverageScoresAreExactWhereTheSampleIsAll()
  local rows = sc.matrix{ { 0, 0 }, { 0.1, 0 }, { 0, 0.1 }, { 2, 0.5 }, { -1, 2 } }
  for _, case in ipairs{ { sc.kernel.gaussian{ gamma = 0.5 }, 0.2 }, { polynomial, 1 } } do
    local scores = leverage_scores(case[1]:gram(rows, rows), case[2])
    lu.assertTrue(math.max(table.unpack(scores)) > 1.5 * math.min(table.unpack(scores)))
    check_law("leverage", rows, 2, { method = "leverage", lambda = case[2] }, case[1],
      function() return scores end)
  end
end

function TestPivotsAreProportionalToTheDiagonalLeft()
  local K = polynomial:gram(X, X)
  check_law("pivoted", X, 3, { method = "pivoted" }, polynomial, function(chosen)
    return residual(K, chosen)
  end)
end

-- Methods see the rows through a sample, drawn uniformly: the one row of a sample of one.
function TestTheSampleIsUniform()
  local seen, runs = {}, 3000
  for seed = 1, runs do
    local key = places(landmarks({ method = "pivoted", sample = 1 }, 1, seed, polynomial):fit(X), X)
    seen[key] = (seen[key] or 0) + 1
  end
  for i = 1, 5 do
    local off = (seen[tostring(i)] - runs / 5) / math.sqrt(runs * 0.2 * 0.8)
    lu.assertTrue(math.abs(off) < 5, ("row %d was sampled %.1f standard errors off"):format(i, off))
  end
end

-- ------------ many landmarks

local many = sc.vcat(sc.randn{ 250, 3, seed = 4 }, sc.randn{ 50, 3, seed = 5 } * 0.05 + 3)
local smooth = sc.kernel.gaussian{ gamma = 0.5 }

local function error_of(method, T, seed)
  local K = smooth:gram(many, many)
  local rest = K - landmarks({ method = method }, T, seed, smooth):fit(many):kernel(many, many)
  local trace = 0
  for i = 1, many:rows() do trace = trace + rest:get(i, i) end
  return trace
end

-- E tr(K - K_T) <= (1 + e) times the sum of the eigenvalues beyond r, for
-- T >= r/e + r log(1/(e eta)), eta the share of these in tr K (Chen, Epperly, Tropp and Webber
-- 2023). The mean over seeds carries its standard error.
function TestPivotedMeetsItsBound()
  local values, tail, r, e = smooth:gram(many, many):eigvals():totable(), 0, 12, 1
  table.sort(values, function(a, b) return a[1] > b[1] end)
  for i = r + 1, #values do tail = tail + math.max(values[i][1], 0) end
  local T = math.ceil(r / e + r * math.log(many:rows() / (e * tail)))
  local runs, sum, square = sanitized and 3 or 20, 0, 0
  for seed = 1, runs do
    local off = error_of("pivoted", T, seed)
    sum, square = sum + off, square + off * off
  end
  local mean = sum / runs
  local stderr = math.sqrt(math.max(square / runs - mean * mean, 0) / (runs - 1))
  lu.assertTrue(mean - 3 * stderr < (1 + e) * tail, ("%g +- %g, bound %g"):format(mean, stderr,
    (1 + e) * tail))
end

-- Chosen with the kernel in view, landmarks approximate it better than uniform ones: a paired
-- comparison.
function TestMethodsBeatUniform()
  local runs = sanitized and 3 or 20
  for _, method in ipairs{ "leverage", "pivoted" } do
    local sum, square = 0, 0
    for seed = 1, runs do
      local gain = math.log(error_of("uniform", 60, seed) / error_of(method, 60, seed))
      sum, square = sum + gain, square + gain * gain
    end
    local mean = sum / runs
    local stderr = math.sqrt(math.max(square / runs - mean * mean, 0) / (runs - 1))
    lu.assertTrue(mean > 3 * stderr, ("%s: log error %.3f +- %.3f below uniform"):format(method,
      mean, stderr))
  end
end

-- Every row once, for any method: Nystrom is the kernel.
function TestAllRowsAreAllRows()
  local rows = sc.randn{ 130, 3, seed = 6 }
  local K = smooth:gram(rows, rows)
  for _, method in ipairs(methods) do
    local feats = landmarks({ method = method }, 130, 1, smooth):fit(rows)
    local seen = {}
    for place in places(feats, rows):gmatch("%d+") do seen[place] = true end
    for i = 1, 130 do lu.assertTrue(seen[tostring(i)], method .. " leaves row " .. i .. " out") end
    lu.assertTrue((feats:kernel(rows, rows) - K):abs():max() < 1e-6, method)
  end
end

-- Rows that repeat and kernels of low rank leave nothing to choose by: the rest is uniform.
function TestNothingLeftToChooseBy()
  local rows = sc.vcat(X, X, X, X)
  for _, method in ipairs(methods) do
    local W = landmarks({ method = method }, 18, 2, sc.kernel.linear()):fit(rows):parameters()
    lu.assertEquals(W:rows(), 18)
    -- the first landmarks of k-means++ are the five different rows, those of pivoted span both
    -- columns
    local first = { kmeans = 5, pivoted = 2 }
    local feats = landmarks({ method = method }, first[method] or 5, 2, sc.kernel.linear())
      :fit(rows)
    if method == "kmeans" then
      local _, count = places(feats, X):gsub("%d", "")
      lu.assertEquals(count, 5)
    elseif method == "pivoted" then
      lu.assertTrue((feats:kernel(X, X) - X * X:t()):abs():max() < 1e-9)
    end
  end
end

-- ------------ streams, threads, folds, files

local function with_csv(f)
  local path = os.tmpname()
  local file, lines = assert(io.open(path, "w")), { "a,b,c,y" }
  for i = 1, 5000 do
    lines[#lines + 1] = ("%.17g,%.17g,%.17g,%d"):format(math.sin(i), math.cos(3 * i),
      math.sin(i * i), i % 7)
  end
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local ok, message = pcall(f, path)
  os.remove(path)
  assert(ok, message)
end

local function pipeline(method, T)
  return sc.pipeline{ sc.standardize(), landmarks({ method = method }, T, 3),
    sc.solver.ridge{ lambda = 1e-4, penalty = "rkhs" } }
end

function TestStreamedRowsAndThreadsChooseTheSame()
  with_csv(function(path)
    local given = { target = "y", task = "regression" }
    local memory = sc.data.csv(path, given)
    given.stream = true
    local stream, before = sc.data.csv(path, given), core.threads()
    for _, method in ipairs(methods) do
      core.threads(1)
      local one = core.map_parameters(pipeline(method, 90):fit(memory).fitted.map)
      core.threads(2)
      local two = core.map_parameters(pipeline(method, 90):fit(memory).fitted.map)
      local streamed = core.map_parameters(pipeline(method, 90):fit(stream).fitted.map)
      core.threads(before)
      lu.assertTrue(one == two, method .. ": threads change the landmarks")
      lu.assertTrue(one == streamed, method .. ": a stream changes the landmarks")
    end
  end)
end

-- Landmarks stand in the order of the draw: fewer are the first ones.
function TestFewerUniformLandmarksAreTheFirst()
  local few = landmarks({}, 20, 7):fit(many):parameters()
  lu.assertTrue(few == landmarks({}, 90, 7):fit(many):parameters():slice(1, 20))
end

local function regression(n)
  local rows = sc.randn{ n, 3, seed = 8 }
  return sc.dataset{ X = rows, y = rows:map(math.sin):sum(2) + sc.randn{ n, 1, seed = 9 } * 0.1,
    task = "regression" }
end

-- With as many landmarks as a fold has training rows they can only be these: then Nystrom ridge is
-- kernel ridge, fold by fold.
function TestLandmarksAreLearntInEachFold()
  local ds, kernel = regression(100), sc.kernel.gaussian{ gamma = 0.4 }
  local lambdas = sc.choose{ 1e-2, 1e-1 }
  local function cells(...)
    return sc.pipeline{ ... }:search(ds, { folds = 5, seed = 1 }).table
  end
  local exact = cells(sc.solver.kernel_ridge{ kernel = kernel, lambda = lambdas,
    intercept = false })
  for _, method in ipairs(methods) do
    local own = cells(landmarks({ method = method }, 80, 1, kernel),
      sc.solver.ridge{ lambda = lambdas, penalty = "rkhs", intercept = false })
    for c = 1, 2 do
      for fold = 1, 5 do
        lu.assertAlmostEquals(own[c].folds[fold], exact[c].folds[fold], 1e-7, method)
      end
    end
  end
end

function TestLandmarksRefuse()
  local rows = sc.randn{ 10, 2, seed = 1 }
  fails({ "11 landmarks", "10 rows" }, function() landmarks({}, 11, 1):fit(rows) end)
  fails({ "option 'T' is missing" }, function() landmarks({}, nil, 1):fit(rows) end)
  fails({ "'sample' = 3", "T = 4" }, function()
    landmarks({ method = "kmeans", sample = 3 }, 4, 1):fit(rows)
  end)
  fails({ "coefficients", "numbers of at least 0" }, sc.sampler.maclaurin,
    { coefficients = { 1, -1 } })
  fails({ "method", "uniform, kmeans, leverage, pivoted" }, sc.sampler.landmarks,
    { method = "best" })
  fails({ "landmarks" }, sc.features, { p = sc.sampler.landmarks{}, T = 3,
    phi = sc.nonlinearity.fourier() })
  fails({ "sampler.landmarks", "row with itself is inf" }, function()
    landmarks({ method = "pivoted" }, 3, 1, sc.kernel.polynomial{ degree = 300 }):fit(rows * 1e6)
  end)
end

-- ------------ Nystrom by Falkon

-- Conjugate gradients on kernel sections come to the function of the direct solve, whatever the
-- preconditioner.
function TestFalkonIsTheDirectSolve()
  local ds = regression(600)
  for _, case in ipairs{ { "uniform", true }, { "kmeans", false }, { "pivoted", true } } do
    for _, preconditioner in ipairs{ "auto", "gram", "rows" } do
      local features = landmarks({ method = case[1] }, 80, 1, sc.kernel.gaussian{ gamma = 0.2 })
      local function fit(solver) return sc.pipeline{ features, solver }:fit(ds) end
      local direct = fit(sc.solver.ridge{ lambda = 1e-5, penalty = "rkhs", intercept = case[2] })
      local cg = fit(sc.solver.cg{ lambda = 1e-5, penalty = "rkhs", intercept = case[2],
        tolerance = 1e-9, preconditioner = preconditioner })
      local gap = (cg:predict(ds.X) - direct:predict(ds.X)):abs():max()
      local info = cg:info()
      lu.assertEquals(info.status, "converged")
      lu.assertTrue(gap < 1e-5 and info.iterations < 200, ("%s, %s: %g apart after %d sweeps")
        :format(case[1], preconditioner, gap, info.iterations))
    end
  end
end

-- ------------ sketches of polynomial kernels

local points = sc.randn{ 12, 4, seed = 14 } * 0.5
local sketches = {
  { "tensorsketch", { degree = 3, scale = 0.5, offset = 1 } },
  { "tensorsketch", { degree = 4, offset = 0 } },
  { "maclaurin", { degree = 3, scale = 0.5, offset = 1 } },
  { "maclaurin", { degree = 3, scale = 0.5, offset = 1, radius = 1 } },
  { "maclaurin", { degree = 4, offset = 0 } },
}

-- Per pair of rows: mean and standard error of the estimate, and the mean squared error over pairs
-- with its standard error, over seeds.
local function sketch(case, T, runs)
  local o = case[2]
  local exact = sc.kernel.polynomial{ degree = o.degree, scale = o.scale, offset = o.offset }
    :gram(points, points)
  local sum, square, errors = exact * 0, exact * 0, {}
  for seed = 1, runs do
    local off = sc.features{ p = sc.sampler[case[1]](o), phi = sc.nonlinearity.identity(), T = T,
      seed = seed }:fit(points):kernel(points, points) - exact
    sum, square = sum + off, square + off:mul(off)
    errors[seed] = off:norm() ^ 2
  end
  local mean, total, spread = sum * (1 / runs), 0, 0
  for _, e in ipairs(errors) do total = total + e / runs end
  for _, e in ipairs(errors) do spread = spread + (e - total) ^ 2 / (runs * (runs - 1)) end
  local stderr = ((square * (1 / runs) - mean:mul(mean)) * (1 / (runs - 1))):map(math.sqrt)
  return { mean = mean, stderr = stderr, error = total, spread = math.sqrt(spread),
    variance = square * (1 / runs) }
end

local function name_of(case, T)
  return ("%s of degree %d with T = %d"):format(case[1], case[2].degree, T)
end

function TestSketchesAreUnbiasedForAnyT()
  for _, case in ipairs(sketches) do
    for _, T in ipairs{ 64, 100 } do
      local s, worst = sketch(case, T, sanitized and 40 or 400), 0
      for i = 1, points:rows() do
        for j = 1, points:rows() do
          worst = math.max(worst, math.abs(s.mean:get(i, j)) / (s.stderr:get(i, j) + 1e-12))
        end
      end
      lu.assertTrue(worst < 5, ("%s: %.1f standard errors off"):format(name_of(case, T), worst))
    end
  end
end

-- T times the mean squared error does not depend on T; parameters that are exact take a share of T,
-- so that it falls a little for maclaurin.
function TestVarianceFallsAsOneOverT()
  if sanitized then return end
  for _, case in ipairs(sketches) do
    local few, more = sketch(case, 96, 300), sketch(case, 1536, 300)
    local ratio = few.error / more.error
    local stderr = ratio * math.sqrt((few.spread / few.error) ^ 2 + (more.spread / more.error) ^ 2)
    local exact = case[1] == "maclaurin" and case[2].offset == 1 and 5 or 0
    local expected = (1536 - exact) / (96 - exact)
    lu.assertTrue(math.abs(ratio - expected) < 4 * stderr + 0.05 * expected,
      ("%s: 16 times as many give an error %.2f +- %.2f times less"):format(name_of(case, 96),
        ratio, stderr))
  end
end

-- Var <= (2 + 3^p)/T (||x'|| ||y'||)^2p (Avron, Nguyen and Woodruff 2014, lemma 3).
function TestTensorsketchMeetsItsBound()
  for _, case in ipairs{ sketches[1], sketches[2] } do
    local o, T, runs = case[2], 80, sanitized and 40 or 400
    local s = sketch(case, T, runs)
    for i = 1, points:rows() do
      for j = 1, points:rows() do
        local function size(k) return (o.scale or 1) * points:row(k):norm() ^ 2 + o.offset end
        local bound = (2 + 3 ^ o.degree) / T * (size(i) * size(j)) ^ o.degree
        lu.assertTrue(s.variance:get(i, j) < bound * (1 + 5 * math.sqrt(2 / runs)))
      end
    end
  end
end

-- Parameters with factors of their own: where T leaves room, those of degree 0 and 1 are no draws,
-- but the constant and the columns themselves.
function TestMaclaurinIsExactOnLowDegrees()
  local c, scale = 2, 0.5
  for _, T in ipairs{ 9, 40 } do
    local feats = sc.features{ p = sc.sampler.maclaurin{ degree = 2, scale = scale, offset = c },
      phi = sc.nonlinearity.identity(), T = T, seed = 1 }:fit(points)
    local expected = sc.hcat(sc.ones(points:rows(), 1) * c, points * math.sqrt(2 * c * scale))
    lu.assertTrue((feats:transform(points):slice(1, 12, 1, 5) - expected):abs():max() < 1e-13)
  end
end

-- ------------ chi-square maps

local histograms = sc.rand{ 15, 6, seed = 15 }

-- Columns have the factor 1, not 1/sqrt(T): the sum over them is the kernel. The error falls with
-- more and closer samples of the spectrum.
function TestAdditiveChiSquareConverges()
  local exact, before = sc.kernel.chi_square():gram(histograms, histograms), math.huge
  for _, case in ipairs{ { 3, 0.5, 0.1 }, { 10, 0.3, 1e-2 }, { 40, 0.1, 1e-4 } } do
    local off = sc.features{ p = sc.sampler.columns(), seed = 1,
      phi = sc.nonlinearity.chi_square{ order = case[1], period = case[2] } }:fit(histograms)
      :kernel(histograms, histograms) - exact
    local error = off:abs():max() / exact:max()
    lu.assertTrue(error < case[3] and error < before, ("order %d: %g"):format(case[1], error))
    before = error
  end
end

function TestSkewedChiSquareIsUnbiased()
  for _, c in ipairs{ 0.1, 2 } do
    local exact = sc.kernel.skewed_chi_square{ c = c }:gram(histograms, histograms)
    local runs, sum, square = sanitized and 20 or 100, exact * 0, exact * 0
    for seed = 1, runs do
      local off = sc.features{ p = sc.sampler.skewed_chi_square{ c = c }, T = 256, seed = seed,
        phi = sc.nonlinearity.fourier{ form = "pair" } }:fit(histograms):kernel(histograms,
        histograms) - exact
      sum, square = sum + off, square + off:mul(off)
    end
    local mean = sum * (1 / runs)
    for i = 1, histograms:rows() do
      for j = 1, i - 1 do
        local variance = square:get(i, j) / runs - mean:get(i, j) ^ 2
        lu.assertTrue(math.abs(mean:get(i, j)) < 5 * math.sqrt(variance / (runs - 1)))
      end
    end
  end
end

function TestLengthsOfSphericalRows()
  for _, range in ipairs{ { -3, -1 }, { -3, 0 }, { 2, 1 }, { 1, 1e200 } } do
    fails({ "0 <= low < high" }, sc.sampler.spherical, { radius = { uniform = range } })
  end
  fails({ "'radius'", "1e+150" }, sc.sampler.spherical, { radius = 1e200 })
end

-- Rows of grey levels: powers of the radius that the kernel does not have are beyond a double.
function TestMaclaurinOfLongRows()
  local rows = sc.randn{ 5, 4, seed = 1 } * 500
  local made = sc.features{ p = sc.sampler.maclaurin{ degree = 2, radius = 1000 }, T = 20000,
    seed = 2, phi = sc.nonlinearity.identity() }:fit(rows):transform(rows)
  local want = (rows * rows:t() + 1):map(function(v) return v * v end)
  lu.assertTrue((made * made:t() - want):abs():max() < 0.1 * want:abs():max())
end

-- J_0 far out, by the trapezoidal rule, which is exact for more points than its argument.
function TestSphericalFarApart()
  local inst = sc.instantiation{ p = sc.sampler.spherical{ radius = 1 },
    phi = sc.nonlinearity.fourier() }
  for _, t in ipairs{ 99000.5, 100001, 150000.7 } do
    local count, sum = 160000, 0
    for k = 0, count - 1 do sum = sum + math.cos(t * math.sin(2 * math.pi * k / count)) end
    local got = inst:kernel(sc.matrix{ { 0, 0 } }, sc.matrix{ { t, 0 } }):get(1, 1)
    lu.assertAlmostEquals(got, sum / count, 1e-8)
  end
end

os.exit(lu.LuaUnit.run(), true)
