--- Tests of what slots must not share or depend on: calls on two threads at once, memory that
--- outlives a call, the clock.
local blocks = require "scullery_checker.blocks"
local core = require "scullery_checker.core"
local parameters = require "scullery_checker.parameters"

local SECONDS <const> = 0.05 -- that two threads call slots, twice
local CLOCK_ROWS <const> = 200 -- more than the usual batches of solvers
local AHEAD <const> = 86461 -- seconds: a day, a minute and a second

-- ------------ jobs of each kind
--
-- jobs.KIND(t, component, of): what checker.at_once takes, and a function that makes the call once;
-- nil where the component has nothing to call. `of` tells rows apart.

local jobs = {}

function jobs.nonlinearity(t, component, of)
  local p = require("scullery_checker.nonlinearity.phi").new(t, component)
  if p.shape.one_hot then return nil end
  local z = blocks.from(p:numbers(16, 200, of), p.fan_in, "float64")
  local out = blocks.new(16, 200, p.fan_out, "float64")
  return { what = "phi", self = p.instance, ["in"] = z, out = out },
    function() core.phi_apply(p.instance, z, out) end
end

function jobs.kernel(t, component, of)
  local kernel = t:instance(component)
  if not core.kernel_spaces(kernel).dense or t.subject.offers(component, "scullery.bind/1") then
    return nil
  end
  local X = t.subject.rows(function(rows)
    local u = parameters.dense(rows)
    core.kernel_gram(kernel, u, u, parameters.block(60, 60))
  end, t:random(60, 5, of))
  local u, out = parameters.dense(X), parameters.block(60, 55)
  local v = parameters.dense(X:slice(6, 60))
  return { what = "gram", self = kernel, u = u, v = v, out = out },
    function() core.kernel_gram(kernel, u, v, out) end
end

function jobs.sampler(t, component, of)
  local draw, layout = parameters.draw(t, component, 5, 64)
  if not draw then return nil end
  draw.seed = draw.seed + of
  local count = layout.space == "structured" and parameters.whole_blocks(layout, 64) or draw.total
  draw.total = count
  local room = parameters.drawn(draw, layout, 0, count)
  if layout.space ~= "structured" then
    return { what = "draw", draw = draw, u = room, out = room.weights },
      function() core.sampler_draw(draw, room) end
  end
  local X = t:random(20, 5, of):abs()
  local x, z = parameters.block_of(X), parameters.block(20, count)
  return { what = "apply", draw = draw, u = room, ["in"] = x, out = z },
    function() core.sampler_apply(draw, room, x, z) end
end

function jobs.solver(t, component, of)
  local problems = require "scullery_checker.solver.problems"
  for _, classes in ipairs{ 0, 2 } do
    local problem = problems.make(t, { n = 80, d = 6, classes = classes })
    problem.X = problem.X * (of + 1)
    local told = problems.solve(component, problem)
    local fit = told.status == "ok" and told.fits[1]
    if fit and fit.model then
      local x, out = parameters.block_of(problem.X), parameters.block(80, problem.Y:cols())
      return { what = "decide", self = fit.model, ["in"] = x, out = out },
        function() core.model_decide(fit.model, x, out.memory, problem.Y:cols()) end
    elseif fit then
      local training = core.training(core.source(problem.X, problem.Y), {}, nil,
        { classes = classes, quiet = true })
      local out = parameters.block_of(fit.weights)
      local loose = parameters.block(fit.weights:rows(), fit.weights:cols())
      core.block_put(loose, fit.weights)
      return { what = "solve", self = t:instance(component), ["in"] = training, out = loose,
        wanted = out }, function() problems.solve(component, problem) end
    end
  end
end

-- ------------ two threads

-- What a job must write, from one call that nobody disturbs, and how long one takes.
local function settle(job, call)
  local began = core.clock()
  call()
  job.seconds = core.clock() - began
  if job.wanted then return end -- settled
  job.wanted = { rows = job.out.rows, cols = job.out.cols, planes = job.out.planes,
    row_stride = job.out.row_stride, plane_stride = job.out.plane_stride,
    memory = core.guarded_copy(job.out.memory) }
end

local function two_jobs(t)
  local list = t.subject:variants()
  local first = { jobs[t.kind](t, list[1].component, 1) }
  local same = first[1] and { jobs[t.kind](t, list[1].component, 3) }
  if not first[1] then t:skip("it has no slot that computes numbers of rows") end
  for i = #list, 1, -1 do
    local made = t.subject:make(list[i].given)
    local second = { jobs[t.kind](t, made, 2) }
    if second[1] then return first, second, same end
  end
end

local function race(t, first, second, whose)
  local before, slowest = core.threads(), 1e-6
  for _, one in ipairs{ first, second } do
    settle(one[1], one[2])
    slowest = math.max(slowest, one[1].seconds)
  end
  if first[1].what == "solve" then slowest = SECONDS / 40 end
  local times = math.max(10, math.min(4000, math.floor(SECONDS / slowest)))
  core.threads(2)
  local ok, wrong, other = pcall(core.at_once, { first[1], second[1] }, times)
  core.threads(before)
  if not ok then error(wrong, 0) end
  t:expect(wrong + other == 0, "%s at once on two threads: %d of %d calls give other numbers than \z
    one call alone: they share memory", whose, wrong + other, 2 * times)
end

-- What calls leave in memory that other threads see: nothing in the instance; static memory may be
-- guarded, which nobody can see.
local function check_memory(t, first, second, same)
  local path = t.subject.info.path
  local function seen()
    return first[1].self and first[1].what ~= "decide" and core.instance_bytes(first[1].self)
      or first[1].draw and core.instance_bytes(first[1].draw.sampler) or "",
      path and core.static_bytes(path) or ""
  end
  first[2]()
  second[2]()
  first[2]()
  local own, static = seen()
  second[2]()
  ;(same or first)[2]() -- other numbers through the same instance
  second[2]()
  local own_now, static_now = seen()
  t:expect(own == own_now, "a call changes the instance, which other threads use: it is constant \z
    after create")
  if static ~= static_now then
    t:warn("calls write to static memory, which all threads share: right only where it is guarded")
  end
end

-- For kinds without a job: small runs on other numbers take the place of the two calls.
local function runs_of(t)
  local component = t.subject:variants()[1].component
  return { {}, function() t.subject.use(component, t.seed, 300) end }, { {}, function()
    if t.kind ~= "reader" then return t.subject.use(component, t.seed, 200) end
    require("scullery_checker.reader.files").read_bent(component)
  end }
end

local function check_at_once(t)
  if t.kind == "transport" or t.subject.in_lua then t:skip("its slots do not run on threads") end
  if not jobs[t.kind] then return check_memory(t, runs_of(t)) end
  local first, second, same = two_jobs(t)
  race(t, first, second, "two instances")
  race(t, first, same, "two calls of one instance")
  check_memory(t, first, second, same)
end

-- ------------ the clock

local function check_clock(t)
  local path = t.subject.info.path
  if t.subject.in_lua or t.kind == "transport" or not path then
    t:skip("it is not a shared object of numbers")
  end
  local component = t.subject:variants()[1].component
  local want = t.subject.use(component, t.seed, CLOCK_ROWS)
  core.move_clock(path, AHEAD)
  local ok, made = pcall(t.subject.use, t.subject:make(t.subject:options()), t.seed,
    CLOCK_ROWS)
  core.move_clock(path, 0)
  t:expect(ok, "where the clock is a day ahead: %s", ok or tostring(made))
  local i, j = core.first_difference(made, want)
  t:expect(not i, "the result depends on the clock, or on the number of the process: row %d, \z
    column %d is %.17g, and a day later %.17g", i or 0, j or 0, i and want:get(i, j) or 0,
    i and made:get(i, j) or 0)
end

return {
  { name = "clock", about = "results do not depend on the time", run = check_clock },
  { name = "at-once", about = "two instances on two threads at once do not disturb each other",
    run = check_at_once },
}
