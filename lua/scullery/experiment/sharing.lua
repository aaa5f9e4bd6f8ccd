--- Work that cells share: `group` divides them into groups. Before the first cell of a group that a
--- process runs, it calls `prepare`, whose result all of them get. A process claims a whole group,
--- so that no two prepare the same one.
local core = require "scullery.core"
local options = require "scullery.base.options"
local values = require "scullery.experiment.values"

local sharing = {}

local function fail(...) error(string.format(...), 0) end

--- sharing.takes(group): whether option 'group' may be this: a list of names, or a function.
function sharing.takes(group)
  if type(group) == "function" then return true end
  if not values.is_list(group) then return false end
  for _, name in ipairs(group) do if type(name) ~= "string" then return false end end
  return true
end

-- The options of the group of cell i: those of these names, or what the function returns.
local function options_of_group(cell, i, group)
  local own = {}
  if type(group) == "function" then
    own = group(values.each(values.decode, cell.options))
    for name, value in pairs(type(own) == "table" and own or { false }) do
      if type(name) ~= "string" or not values.is_scalar(value) then
        fail("option 'group' returned %s for cells[%d]; it takes a table such as { seed = 1 }",
          options.show(own), i)
      end
    end
    return values.each(values.encode, own)
  end
  for _, name in ipairs(group) do
    own[name] = cell.options[name]
    if own[name] == nil then fail("option 'group': cells[%d] has no option '%s'", i, name) end
  end
  return own
end

--- sharing.divide(list, group): gives each cell its group { key, number, options, places = those of
--- its cells }, if there is an option 'group', and returns the places of all cells, group by group,
--- in the order of their first cells.
function sharing.divide(list, group)
  local known, order, places = {}, {}, {}
  for i, cell in ipairs(list) do
    local own = group and options_of_group(cell, i, group)
    local key = own and values.key("group " .. values.identity(own)) or cell.key
    if not known[key] then
      known[key] = { key = key, number = #order + 1, options = own, places = {} }
      order[#order + 1] = known[key]
    end
    table.insert(known[key].places, i)
    cell.group = own and known[key] or nil
  end
  for _, one in ipairs(order) do
    table.move(one.places, 1, #one.places, #places + 1, places)
  end
  return places
end

--- sharing.claim(run, i): true if this process has the group of cell i, or there are no groups.
function sharing.claim(run, i)
  local group = run.cells[i].group
  if not group or run.group == group then return true end
  if not run.store:claim(group.key) then return false end
  sharing.leave(run)
  run.group = group
  return true
end

--- sharing.leave(run): releases the group that this process has, and what was prepared for it.
function sharing.leave(run)
  if run.group then run.store:disclaim(run.group.key) end
  run.group, run.prepared = nil, nil
end

-- What `prepare` returned or raised, and its processor seconds.
local function prepare(run, group, context)
  local before = core.usage()
  math.randomseed(values.seed(group.key))
  local ok, result = pcall(run.prepare, values.each(values.decode, group.options), context)
  if not ok and options.is_interrupt(options.plain(result)) then error("interrupted!", 0) end
  return { ok = ok, result = result, seconds = core.usage() - before }
end

--- sharing.prepared(run, i, context_of): what was prepared for cell i, which is run now, and the
--- processor seconds that it took; an error of `prepare` is raised for each cell of its group.
--- context_of(group): the context that prepare gets.
function sharing.prepared(run, i, context_of)
  local group = run.cells[i].group
  if not run.prepared then
    run.prepared = prepare(run, group, context_of(group))
    math.randomseed(values.seed(run.cells[i].key))
  end
  if not run.prepared.ok then error(run.prepared.result, 0) end
  return run.prepared.result, run.prepared.seconds
end

return sharing
