--- Tests of the declarations of a plugin, and of the symbols of its file.
local core = require "scullery_checker.core"

-- ------------ descriptor

local function expect_line(t, text, what)
  t:expect(text:find("%S"), "%s is empty", what)
  t:expect(not text:find("\n", 1, true), "%s has several lines: %q", what, text)
end

local function check_descriptor(t)
  local info = t.subject.info
  expect_line(t, info.summary, "the summary")
  if #info.summary > 100 then
    t:warn("the summary has %d bytes; lists show 100 of it at most", #info.summary)
  end
  if not t.subject.in_lua and (#info.doc < 40 or info.doc == info.summary) then
    t:warn("the doc, \"%s\", is short for a formula, its symbols and its source", info.doc)
  end
  t:expect(t.kind ~= "metric" or not rawget(require "scullery.metrics", t.subject.name),
    "sc.metrics.%s is a function of its own: the metric needs another name", t.subject.name)
  for _, option in ipairs(info.options) do
    t:expect(t.kind ~= "metric" or option.name ~= "weights" and option.name ~= "classes",
      "option '%s' is one that sc.metrics gives all metrics: it needs another name", option.name)
    if not t.subject.in_lua then
      expect_line(t, option.help, ("the help of option '%s'"):format(option.name))
    end
  end
  if info.id then t:note("its id is %s", info.id) end
  if info.version then
    expect_line(t, info.version, "the version")
  elseif t.subject.path then
    t:warn("it has no version, by which models that are saved could tell what they were made with")
  end
end

-- ------------ symbols

-- Symbols that linkers add.
local of_linkers = { _init = true, _fini = true, _edata = true, _end = true, __bss_start = true }
local entrances = { scullery_plugin = true, scullery_plugins = true, scullery_entry = true }

local function is_host(path)
  local name = path:match("[^/]+$")
  return name:find("^libscullery%.") or name:find("^liblua") or name == "scullery"
    or path:find("scullery/core%.so$")
end

local function check_symbols(t)
  local path = t.subject.info.path
  if t.subject.in_lua then t:skip("it is not a shared object") end
  local more, entrance = {}, nil
  for _, one in ipairs(core.symbols(path)) do
    if one.defined and entrances[one.name] then
      entrance = one.name
    elseif one.defined and not one.weak and not of_linkers[one.name] then
      more[#more + 1] = one.name
    end
    t:expect(one.defined or not (one.giver and is_host(one.giver)), "it calls '%s' of the host \z
      (%s), which the interface does not promise: what plugins may call are the members of \z
      scl_host", one.name, one.giver)
  end
  t:expect(entrance, "its table of symbols has neither scullery_plugin nor scullery_plugins")
  if #more > 0 then
    t:warn("it exports %s besides %s: build with -fvisibility=hidden, or make them static, so \z
      that they cannot be mixed up with those of others",
      table.concat(more, ", ", 1, math.min(#more, 8)), entrance)
  end
end

return {
  { name = "descriptor", about = "summary, doc, version and the help of options are there",
    run = check_descriptor },
  { name = "symbols", about = "one symbol is exported, and none of the host is used",
    run = check_symbols },
}
