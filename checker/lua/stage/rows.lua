--- Rows for tests of row stages, and what comes of a stage that is fitted to them.
local core = require "scullery_checker.core"
local options = require "scullery.base.options"

local rows = {}

--- rows.random(t, n, d[, of]): X, n x d: normal numbers with a trend over the rows; whole numbers
--- in every third column, like categories. Second result: targets that depend on X.
function rows.random(t, n, d, of)
  local X, noise = t:random(n, d, of or 1), t:random(n, 1, (of or 1) + 1)
  local y = core.zeros(n, 1)
  for i = 1, n do
    local sum = 0.1 * noise:get(i, 1)
    for j = 1, d do
      local x = X:get(i, j) + 2 * i / n
      if j % 3 == 1 then x = math.floor(x * 2) end
      X:set(i, j, x)
      sum = sum + x / (j + 1)
    end
    y:set(i, 1, sum)
  end
  return X, y
end

--- rows.fit(t, stage, X, y[, weights]): the fitted stage.
function rows.fit(t, stage, X, y, weights)
  return (core.fit_stage(t:instance(stage), core.source(X, y), {}, nil, weights))
end

--- rows.through(fitted, X): the rows that it makes of X.
function rows.through(fitted, X) return core.transform(core.source(X), { fitted }) end

--- rows.try(t, what, f[, plain]): f(), or nil and the sentence of its refusal. It fails without a
--- sentence. plain: rows of ordinary numbers, of which nothing becomes infinite.
function rows.try(t, what, f, plain)
  local ok, made = pcall(f)
  if ok then return made end
  if options.is_interrupt(made) or type(made) == "table" then error(made, 0) end
  local sentence = options.plain(tostring(made))
  for _, fault in ipairs{ "no sentence", "returned status", "left the rounding mode",
    "is put twice", "put no array", "not declared" } do
    t:expect(not sentence:find(fault, 1, true), "%s: %s", what, sentence)
  end
  for _, fault in ipairs(plain and { "is not finite (number", ": every number", "must be finite" }
    or {}) do
    t:expect(not sentence:find(fault, 1, true), "%s: %s", what, sentence)
  end
  return nil, sentence
end

--- rows.spread(M): the largest distance of a number from 0 in M, at least 1e-300.
function rows.spread(M) return math.max(M:rows() * M:cols() > 0 and M:abs():max() or 0, 1e-300) end

--- rows.expect_near(t, made, want, allowed, what): fails where two matrices differ by more.
function rows.expect_near(t, made, want, allowed, what)
  t:expect(made:rows() == want:rows() and made:cols() == want:cols(),
    "%s: %d x %d numbers, and %d x %d are right", what, made:rows(), made:cols(), want:rows(),
    want:cols())
  for i = 1, made:rows() do
    for j = 1, made:cols() do
      local x, y = made:get(i, j), want:get(i, j)
      t:expect(math.abs(x - y) <= allowed, "%s: row %d, column %d is %.17g, and %.17g is right; \z
        %.2g is allowed", what, i, j, x, y, allowed)
    end
  end
end

return rows
