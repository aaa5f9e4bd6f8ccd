--- Tests of kernels: values between parameters of each space that they declare.
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"
local subject = parameters.subject

local N = 40

-- ------------ parameters that a kernel meets

-- Samplers of this host that draw from a space.
local drawn_by = {
  sparse = function(sc)
    return { sc.sampler.sparse{ degree = 1 }, sc.sampler.sparse{ degree = { binomial = 0.5 } } }
  end,
  threshold = function(sc) return { sc.sampler.threshold() } end,
}

-- The kernel, bound to the law of Gaussian rows where it waits for one.
local function instance_of(t, component, dim)
  local made = t:instance(component)
  if not subject.offers(component, "scullery.bind/1") then return made end
  return (core.kernel_bind(made, t:instance(require("scullery").sampler.gaussian()), dim))
end

-- Rows of data that the kernel takes.
local function rows_of(kernel, X)
  return subject.rows(function(rows)
    local u = parameters.dense(rows)
    core.kernel_gram(kernel, u, u, parameters.block(rows:rows(), rows:rows()))
  end, X)
end

-- Whether so few columns are refused, as an option may: a degree is at most their number.
local function refuses(t, kernel, d)
  return core.kernel_spaces(kernel).dense and not pcall(rows_of, kernel, t:random(3, d))
end

-- f(kernel, make, d): for each variant, each space that it declares and 1 and 4 columns;
-- make(count[, how[, scale]]) are parameters there, always the same first ones, times a scale.
local function each_space(t, f)
  local sc = require "scullery"
  for component, name in t:variants() do
    local label = t.label and t.label .. ", " or ""
    for _, d in ipairs{ 1, 4 } do
      local kernel = instance_of(t, component, d)
      local spaces = name ~= "defaults" and refuses(t, kernel, d) and {}
        or core.kernel_spaces(kernel)
      local function at(space) t.label = ("%s%s parameters, %d columns"):format(label, space, d) end
      if spaces.dense then
        at "dense"
        local X = rows_of(kernel, t:random(2 * N, d) * 0.7)
        f(kernel, function(count, how, scale)
          return parameters.dense(X:slice(1, count) * (scale or 1), how)
        end, d)
      end
      for space, samplers in pairs(drawn_by) do
        at(space)
        for _, sampler in ipairs(spaces[space] and samplers(sc) or {}) do
          local draw, layout = parameters.draw(t, sampler, d, 2 * N)
          f(kernel, function(count, how, scale)
            local room = parameters.drawn(draw, layout, 0, count, how)
            if scale and count > 0 then
              core.block_put(room.weights, core.block_get(room.weights) * scale)
            end
            return parameters.lock(room)
          end, d)
        end
      end
    end
    t.label = nil
  end
end

local function gram(kernel, u, v, how)
  local out = parameters.block(u.count, v.count, how)
  core.kernel_gram(kernel, u, v, out)
  return core.block_get(out), out
end

local function diagonal(kernel, u, at_start)
  local out = { memory = core.guarded(u.count, "float64", at_start), rows = u.count, cols = 1 }
  core.kernel_diagonal(kernel, u, out.memory)
  return core.block_get(out)
end

-- The sentence of the first place where two matrices differ by more than `allowed`.
local function expect_near(t, made, wanted, allowed, format, ...)
  for i = 1, wanted:rows() do
    for j = 1, wanted:cols() do
      local x, y = made:get(i, j), wanted:get(i, j)
      if not (math.abs(x - y) <= allowed or x == y) then
        t:fail("%s: K(u_%d, v_%d) is %.17g, and %.17g is right; %.2g is \z
          allowed", format:format(...),
          i - 1, j - 1, x, y, allowed)
      end
    end
  end
end

local function size_of(G) return math.max(G:abs():max(), 1e-300) end

-- ------------ symmetry, definiteness

local function check_symmetry(t, kernel, make)
  local u = make(N)
  local G = gram(kernel, u, u)
  expect_near(t, G, G:t(), 1e-12 * size_of(G), "K(u, w) is not K(w, u)")
  local v, w = parameters.part(u, 0, 7), parameters.part(u, 5, 20)
  expect_near(t, gram(kernel, v, w), gram(kernel, w, v):t(), 1e-12 * size_of(G),
    "K(u, w) is not K(w, u) between 7 parameters and 20")
end

-- A kernel that is positive definite only on short distances says so in its doc.
local function check_definite(t, kernel, make)
  local says = t.subject.info.doc:lower():find("definite", 1, true) ~= nil
  for _, scale in ipairs{ 1, 0.05, 4 } do
    local u = make(N, nil, scale)
    local ok, G = pcall(gram, kernel, u, u)
    if not ok and scale <= 1 then error(G, 0) end -- rows so far from 0 may be refused
    G = ok and G or core.zeros(N, N)
    local whole = (G + G:t()) * 0.5
    local least = core.find_nonfinite(whole) and 0 or whole:eigvals():min()
    if least <= -1e-8 * size_of(G) then
      t:expect(says and scale == 1 or scale == 4, "the least eigenvalue of G between %d \z
        parameters \z
        %sis %.3g, and the largest entry %.3g: it is not positive semidefinite%s", N,
        scale < 1 and "near 0 " or "", least, size_of(G),
        scale < 1 and "" or " (if that is meant, its doc says where K is positive definite)")
      if not says then
        t:warn("the least eigenvalue of G between %d parameters far apart is %.3g, and the \z
          largest \z
          entry %.3g", N, least, size_of(G))
      end
      t:note("positive semidefinite on short distances alone")
    end
  end
end

-- ------------ parts

local function check_diagonal(t, kernel, make)
  local u = make(N)
  local G, D = gram(kernel, u, u), diagonal(kernel, u)
  for i = 1, N do
    t:expect(D:get(i, 1) == D:get(i, 1), "diagonal: K(u_%d, u_%d) is NaN", i - 1, i - 1)
    t:expect(math.abs(D:get(i, 1) - G:get(i, i)) <= 1e-12 * math.max(math.abs(G:get(i, i)), 1e-300),
      "diagonal: K(u_%d, u_%d) is %.17g, and gram has %.17g", i - 1, i - 1, D:get(i, 1),
      G:get(i, i))
    t:expect(D:get(i, 1) >= 0, "diagonal: K(u_%d, u_%d) is %g", i - 1, i - 1, D:get(i, 1))
  end
  for _, part in ipairs{ { 0, 1 }, { 3, 17 }, { N - 1, 1 }, { 2, 0 } } do
    local made = diagonal(kernel, parameters.part(u, part[1], part[2]), true)
    for i = 1, part[2] do
      local x, y = made:get(i, 1), D:get(part[1] + i, 1)
      t:expect(math.abs(x - y) <= 1e-12 * math.abs(y), "diagonal: parameter %d has %.17g among %d \z
        parameters, and %.17g among %d", part[1] + i - 1, x, part[2], y, N)
    end
  end
end

local function check_rectangles(t, kernel, make)
  local u, other = make(N), make(N)
  local G = gram(kernel, u, u)
  local allowed = 1e-12 * size_of(G)
  for _, part in ipairs{ { 0, 1, 0, N }, { 0, N, 0, 3 }, { 5, 17, 20, 20 }, { N - 1, 1, N - 1, 1 },
    { 3, 5, 1, 33 } } do
    local i, rows, j, cols = table.unpack(part)
    local made = gram(kernel, parameters.part(u, i, rows), parameters.part(other, j, cols))
    expect_near(t, made, G:slice(i + 1, i + rows, j + 1, j + cols), allowed,
      "between %d parameters from %d on and %d from %d on, against the same of the whole", rows, i,
      cols, j)
  end
end

local function check_guard_pages(t, kernel, make)
  local u = make(N)
  local G = gram(kernel, u, u)
  local allowed = 1e-12 * size_of(G)
  for _, how in ipairs{ {}, { at_start = true }, { gap = 3 }, { gap = 1, at_start = true } } do
    local first, second = make(17, how), make(9, how)
    local made, out = gram(kernel, first, second, how)
    for i = 1, 17 do
      for j = 1, 9 do
        t:expect(made:get(i, j) == made:get(i, j), "K(u_%d, v_%d) of 17 x 9 is left unwritten, \z
          or is \z
          NaN", i - 1, j - 1)
      end
    end
    t:expect(core.block_gaps(out) == 0, "gram writes %d bytes between the rows of its result",
      core.block_gaps(out))
    expect_near(t, made, G:slice(1, 17, 1, 9), allowed, "rows with %d numbers between them",
      how.gap or 0)
    gram(kernel, parameters.part(first, 0, 0), second, how)
    gram(kernel, first, parameters.part(second, 0, 0), how)
    diagonal(kernel, first, how.at_start)
  end
end

-- ------------ edges

local function check_edges(t, kernel, make)
  local zero = make(5, nil, 0)
  local G, D = gram(kernel, zero, zero), diagonal(kernel, zero)
  for i = 1, 5 do
    for j = 1, 5 do
      local x = G:get(i, j)
      t:expect(x - x == 0, "K(0, 0) of parameters with weights 0 is %g", x)
    end
    t:expect(math.abs(D:get(i, 1) - G:get(i, i)) <= 1e-12, "K(0, 0) is %g, and by diagonal %g",
      G:get(i, i), D:get(i, 1))
  end
  local one = parameters.part(make(1), 0, 1)
  local again = gram(kernel, one, make(1)):get(1, 1)
  local own = diagonal(kernel, one):get(1, 1)
  t:expect(math.abs(again - own) <= 1e-7 * math.max(math.abs(own), 1e-300), "K(u, w) of two equal \z
    parameters is %.17g, and K(u, u) %.17g", again, own)
end

-- One number of one row that is not as the others.
local function check_hostile(t, kernel, make, d)
  if make(1).space ~= "dense" then return end
  local u = make(9)
  local G = gram(kernel, u, u)
  for _, bad in ipairs{ 0 / 0, math.huge, -math.huge, 1e300, 1e160, 5e-324 } do
    local X = core.block_get(u.weights)
    X:set(4, d, bad)
    local v = parameters.dense(X)
    local ok, made = pcall(gram, kernel, v, v)
    pcall(diagonal, kernel, v)
    for i = 1, ok and 9 or 0 do
      for j = 1, 9 do
        local x, y = made:get(i, j), G:get(i, j)
        t:expect(i == 4 or j == 4 or math.abs(x - y) <= 1e-9 * size_of(G), "row 3 has a column \z
          that \z
          is %g, and K(u_%d, u_%d) changes from %.17g to %.17g", bad, i - 1, j - 1, y, x)
      end
    end
    t:expect(ok or #tostring(made) > 0, "rows with %g are refused without a sentence", bad)
  end
end

-- ------------ the simple form

local numbers_of = {
  dot = function(X) return X end,
  none = function(X) return X * 0 end,
  ["squared-distance"] = function(X) return X:mul(X) end,
  ["absolute-distance"] = function(X) return X:abs() end,
  cosine = function(X) return X:map(function(x) return x / (1 + math.abs(x)) end) end,
  angle = function(X)
    return X:map(function(x) return math.pi * math.abs(x) / (1 + math.abs(x)) end)
  end,
}

local function filled(numbers, at_start)
  local block = { memory = core.guarded(numbers:rows(), "float64", at_start), rows = numbers:rows(),
    cols = 1 }
  core.block_put(block, numbers)
  return block
end

local function finish(kernel, form, numbers, lengths, at_start)
  local count, row = numbers:rows(), filled(numbers, at_start)
  local angular = form.pair == "cosine" or form.pair == "angle"
  local seen = angular and filled(lengths, at_start) or nil
  if seen then core.guarded_lock(seen.memory) end
  core.kernel_finish(kernel, 4, angular and 1.7 or 0, seen and seen.memory, count, row.memory)
  return core.block_get(row)
end

local function move(kernel, _, numbers, _, at_start)
  local row = filled(numbers, at_start)
  core.kernel_move(kernel, numbers:rows(), row.memory)
  return core.block_get(row)
end

-- A slot that works in place gives the same for a number wherever it stands.
local function check_slot(t, name, slot, kernel, form, numbers, lengths)
  local whole = slot(kernel, form, numbers, lengths)
  for _, count in ipairs{ 0, 1, 3, 17, 255 } do
    for _, at_start in ipairs{ false, true } do
      local from = math.min(5, count)
      local made = count == 0 and slot(kernel, form, core.zeros(0, 1), core.zeros(0, 1), at_start)
        or slot(kernel, form, numbers:slice(from + 1, from + count),
          lengths:slice(from + 1, from + count), at_start)
      for i = 1, count do
        local x, y = made:get(i, 1), whole:get(from + i, 1)
        t:expect(math.abs(x - y) <= 1e-14 * math.abs(y) or x == y or x ~= x and y ~= y, "%s makes \z
          %.17g of %.17g among %d numbers, and %.17g among %d", name, x, numbers:get(from + i, 1),
          count, y, numbers:rows())
      end
    end
  end
end

local function check_simple(t, kernel)
  local form = core.kernel_simple(kernel)
  if not form then return false end
  local X = t:random(300, 1, 3)
  t:expect(form.pair, "pair is not a number that this host knows")
  t:expect(form.scale - form.scale == 0, "scale is %g", form.scale)
  local lengths = t:random(300, 1, 4):abs()
  if form.finish then
    check_slot(t, "finish", finish, kernel, form, numbers_of[form.pair](X), lengths)
  end
  if form.move then check_slot(t, "move", move, kernel, form, X:abs(), lengths) end
  return true
end

-- ------------ prepared work

-- K after slot `prepare` on all parameters is that without it, to the bit, for all and for some.
local function check_prepared(t, kernel, make)
  local u, v = make(N), make(2 * N)
  for _, range in ipairs{ { 0, 2 * N }, { 0, 1 }, { 7, 20 }, { 2 * N - 1, 1 } } do
    local out, part = parameters.block(N, range[2]), parameters.part(v, range[1], range[2])
    if not core.kernel_gram(kernel, u, part, out, v) then t:note("nothing is prepared") end
    expect_near(t, core.block_get(out), gram(kernel, u, part), 0, "%d parameters from %d on with \z
      the work of slot prepare on all %d, and without it", range[2], range[1], 2 * N)
  end
end

-- ------------ the list

local function run_threads(t)
  for component in t:variants() do
    local kernel = instance_of(t, component, 5)
    if core.kernel_spaces(kernel).dense then
      local X = rows_of(kernel, t:random(300, 5))
      local before, wanted = core.threads(), nil
      for _, threads in ipairs{ 1, 4, 1 } do
        core.threads(threads)
        local ok, made = pcall(core.gram, kernel, X, X)
        core.threads(before)
        if not ok then error(made, 0) end
        wanted = wanted or made
        t:expect(made == wanted, "K between 300 rows on %d threads differs from that on 1", threads)
      end
    end
  end
end

local function run_simple(t)
  local any = false
  for component in t:variants() do any = check_simple(t, instance_of(t, component, 4)) or any end
  if not any then t:skip("it has the general form") end
end

local function run_prepared(t)
  local any = false
  each_space(t, function(kernel, make)
    for _, id in ipairs(core.abilities(kernel)) do
      if id == "scullery.prepare/1" then
        any = true
        check_prepared(t, kernel, make)
      end
    end
  end)
  if not any then t:skip("it prepares no work") end
end

-- Rows of which most numbers are 0: K of them as sparse rows, for which the host adds `terms` over
-- common columns, is K of the same rows with their zeros.
local function check_sparse(t)
  local any = false
  for component in t:variants() do
    for _, d in ipairs{ 1, 6, 300 } do
      local kernel = instance_of(t, component, d)
      local dense = core.kernel_spaces(kernel).dense and not refuses(t, kernel, d)
      local X = dense and rows_of(kernel, t:random(24, d) * 0.7)
      for i = 1, dense and 24 or 0 do
        for j = 1, d do
          if i == 5 or i ~= 6 and (7 * i + 3 * j) % 5 > 1 then X:set(i, j, 0) end
        end
      end
      local takes, want = pcall(core.gram, kernel, X)
      if dense and takes then
        any = true
        local S = require("scullery").matrix.csr(X)
        expect_near(t, core.gram(kernel, S, S), want, 1e-12 * size_of(want),
          "%d columns, sparse rows", d)
      end
    end
  end
  if not any then t:skip("it takes no rows with zeros") end
end

-- A test that calls f for each variant, space and number of columns.
local function test(name, about, f)
  return { name = name, about = about, seconds = 60,
    run = function(t) each_space(t, function(...) f(t, ...) end) end }
end

return {
  test("symmetry", "K(u, w) is K(w, u)", check_symmetry),
  test("definite", "G is positive semidefinite, to 1e-8 of its size", check_definite),
  test("diagonal", "diagonal is that of gram", check_diagonal),
  test("rectangles", "K between some parameters is a part of K between all", check_rectangles),
  test("guard-pages", "all of the result is written, and nothing else touched", check_guard_pages),
  test("edges", "parameters of zeros, and equal ones", check_edges),
  test("hostile", "a row that is NaN, infinite or huge changes only its own K", check_hostile),
  { name = "prepare", about = "K is the same with what slot prepare made, and without it",
    seconds = 60, run = run_prepared },
  { name = "simple-form", about = "finish and move give the same for a number at any place",
    run = run_simple },
  { name = "sparse-rows", about = "K of sparse rows is K of the same rows with their zeros",
    run = check_sparse },
  { name = "threads", about = "the same bits on 1 and many threads", run = run_threads },
}
