--- One test of one component, and what it finds.
local core = require "scullery_checker.core"
local automatic = require "scullery.model.automatic"
local fitting = require "scullery.model.fitting"
local options = require "scullery.base.options"

local trial = {}

local Trial = {}
Trial.__index = Trial

-- How a test ends early: raised by Trial:fail and Trial:skip, caught by trial.run.
local Ending = {}

-- All options of a variant, the narrow weights of a sampler too.
local function label_of(variant)
  local parts = {}
  for name, value in pairs(variant.given) do
    parts[#parts + 1] = name .. " = " .. options.show(value)
  end
  table.sort(parts)
  return #parts > 0 and "{" .. table.concat(parts, ", ") .. "}" or variant.label
end

local function label(self) return self.label and self.label .. ": " or "" end

--- t:fail(format, ...): the component is wrong; the test ends with this sentence.
function Trial:fail(format, ...)
  error(setmetatable({ outcome = "fail", text = label(self) .. format:format(...) }, Ending), 0)
end

--- t:skip(format, ...): the test says nothing of this component, and why.
function Trial.skip(_, format, ...)
  error(setmetatable({ outcome = "skip", text = format:format(...) }, Ending), 0)
end

--- t:warn(format, ...): right, but not as good as it could be; the test goes on. The first one is
--- told.
function Trial:warn(format, ...)
  self.warning = self.warning or label(self) .. format:format(...)
end

--- t:expect(holds, format, ...): fail unless it holds.
function Trial:expect(holds, format, ...)
  if not holds then self:fail(format, ...) end
end

--- t:note(format, ...): a number that is told where the test passes. The last one is.
function Trial:note(format, ...) self.noted = format:format(...) end

--- t:variants(): an iterator over (component, label): with its defaults, then with other options,
--- as subject.variants makes them, solvers with few iterations. Sentences begin with the label of
--- the one at hand.
function Trial:variants()
  local list, i = self.subject:variants(), 0
  return function()
    i = i + 1
    if not list[i] then
      self.label = nil
      return nil
    end
    local text = label_of(list[i])
    self.label = (#list > 1 or text ~= list[i].label) and text or nil
    local hasty = self.kind == "solver" and self.subject:make(self.subject:hasty(list[i].given))
    return hasty or list[i].component, text
  end
end

--- t:instance(component): the engine's instance, for the functions of scullery.core.
function Trial.instance(_, component)
  return require("scullery.compose.component").instance(component)
end

--- t:random(n, m[, of]): a seeded n x m matrix of N(0, 1); `of` tells draws of one test apart.
function Trial:random(n, m, of)
  return core.randn{ n, m, seed = self.seed * 64 + (of or 0) }
end

--- trial.run(subject, test, seed): { outcome =, text = } of the test.
function trial.run(subject, test, seed)
  subject.seed = seed
  if subject.in_lua and test.in_c then
    return { outcome = "skip", text = "errors of Lua have no status" }
  end
  local t = setmetatable({ subject = subject, kind = subject.kind, seed = seed }, Trial)
  -- a component is tested with the options that it has, not with others that a fit would choose;
  -- that few iterations are exhausted is no news
  local chose, warned = automatic.chooses, fitting.warn
  automatic.chooses, fitting.warn = false, function() end
  core.guard_scratch(true)
  local ok, raised = pcall(test.run, t)
  core.guard_scratch(false)
  automatic.chooses, fitting.warn = chose, warned
  if ok then
    if t.warning then return { outcome = "warn", text = t.warning } end
    return { outcome = "pass", text = t.noted or "" }
  end
  if getmetatable(raised) == Ending then return { outcome = raised.outcome, text = raised.text } end
  if getmetatable(raised) == require("scullery_checker.subject").NoPartner then
    return { outcome = "skip", text = raised.text }
  end
  if options.is_interrupt(raised) then error(raised, 0) end
  return { outcome = "fail", text = label(t) .. options.plain(tostring(raised)) }
end

return trial
