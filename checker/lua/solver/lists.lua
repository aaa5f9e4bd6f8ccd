--- The test of solvers that a number of a list gives what it gives alone, as quantiles of several
--- levels do, in pipelines as users have them, of several targets too.
local choices = require "scullery_checker.choices"
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"

local SHARE <const> = 0.1 -- of the largest prediction: quantiles that cross change places

-- What is predicted for the rows of a problem, a column for each number; nil where it is refused.
local function predictions(t, option, value, p)
  local ok, made = pcall(function()
    local component = problems.settled(t, t.subject:make{ [option.name] = value }, 0.1)
    return require("scullery").pipeline{ component }:fit(p.X, p.Y, { task = "regression" })
      :predict(p.X)
  end)
  return ok and made or nil
end

-- Three numbers that the option takes, none in its place by size.
local function numbers_of(t, option)
  local list = {}
  for k, u in ipairs{ 0.95, 0.05, 0.5 } do
    list[k] = choices.number(t.kind, option, u)
  end
  return #list == 3 and list[1] ~= list[2] and list[2] ~= list[3] and list or nil
end

-- What scores of two targets become is what those of each become.
local function check_two(t, option, numbers)
  local component = t.subject:make{ [option.name] = numbers }
  local q, scores = #numbers, t:random(1, 2 * #numbers, 3)
  local function means(first, last)
    local f = {}
    for j = first, last do f[#f + 1] = scores:get(1, j) end
    return core.solver_means(t:instance(component), f) or f
  end
  local both, first, second = means(1, 2 * q), means(1, q), means(q + 1, 2 * q)
  for j, wanted in ipairs(table.move(second, 1, q, q + 1, first)) do
    t:expect(both[j] == wanted, "%d numbers in '%s' and two targets: prediction %d of random \z
      scores is %.9g, and of that target alone %.9g", q, option.name, j, both[j], wanted)
  end
end

local function check_lists(t)
  local one, two = problems.make(t, { n = 300, d = 2 }),
    problems.make(t, { n = 300, d = 2, targets = 2 })
  local any
  for _, option in ipairs(t.subject.info.options) do
    local numbers = option.takes_list and option.takes_number and numbers_of(t, option)
    for c, p in ipairs{ one, two } do
      local all = numbers and predictions(t, option, numbers, p)
      if all and all:cols() == c * #numbers then
        any = true
        if c == 2 then check_two(t, option, numbers) end
        for k, number in ipairs(numbers) do
          local alone = predictions(t, option, number, p)
          local places = c == 1 and { k } or { k, #numbers + k }
          if alone then
            problems.same(t, problems.columns(all, places), alone, SHARE, "%s = %g, number %d of \z
              {%g, %g, %g}, %d targets", option.name, number, k, numbers[1], numbers[2],
              numbers[3], c)
          end
        end
      end
    end
  end
  if not any then t:skip("no option takes a list of numbers, each with predictions of its own") end
end

-- What a solver predicts after 100 rows: of two classes where it takes no numbers.
local function after_hundred(t, component)
  for _, classes in ipairs{ 0, 2 } do
    local told = problems.solve(component, problems.make(t, { n = 100, d = 3, classes = classes }))
    if told.status == "ok" then return told.fits[1].predictions end
  end
end

return {
  require "scullery_checker.shares"(after_hundred),
  { name = "lists", about = "a number of a list gives what it gives alone", run = check_lists },
}
