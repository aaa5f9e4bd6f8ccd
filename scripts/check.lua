-- Spot checks of recorded cells, for scripts/all.lua --check: runs some of them again, and compares
-- their results with those recorded.
--
--     check(run, options)
--
-- run(name, arguments) runs the script `name` and tells whether it ended well. options: source, the
-- folder of the scripts; cells, that of the recorded experiments; share, the per cent of each
-- experiment's recorded processor seconds to spend on it, and at least one cell; out, a folder for
-- the new cells; wanted(name), whether the script's cells are checked; quick.
--
-- Which cells are run follows from the recorded ones alone. Results are compared to the ten digits
-- that pack.lua keeps; those that measure time are left out. The function returns whether all are
-- the same, and a list of { experiment, cells run again, those with the same results, the commit
-- that ran them }.
local sc = require "scullery"

local function is_time(name) return name:find "second" or name == "processor" or name == "wall" end

local function same(a, b)
  if math.type(a) and math.type(b) then
    return a == b or a ~= a and b ~= b
      or math.abs(a - b) <= 1e-9 * math.max(math.abs(a), math.abs(b))
  end
  return a == b
end

local function text_of(value)
  return math.type(value) == "float" and ("%.17g"):format(value) or tostring(value)
end

-- The recorded experiments of each script: { ["rks/figure1"] = { exp, ... } }.
local function by_script(options)
  local found, pipe = {}, assert(io.popen("ls '" .. options.cells:gsub("'", "'\\''") .. "'"))
  for name in pipe:lines() do
    local exp = sc.experiment.open(name, { folder = options.cells })
    local script = exp.rows[1] and exp.rows[1].about.script.path:match "([^/]+/[^/]+)%.lua$"
    if script and (name:find "_quick$" ~= nil) == options.quick and options.wanted(script) then
      found[script] = found[script] or {}
      table.insert(found[script], exp)
    end
  end
  pipe:close()
  return found
end

local function can_be_set(row)
  for _, value in pairs(row.cell) do
    if type(value) == "table" then return false end
  end
  return row.status == "done"
end

-- Cells of an experiment for a share of its time: drawn without replacement, those that no longer
-- fit are passed over; the cheapest one if none fits.
local function sample(exp, share)
  local rows, total, cheapest = {}, 0, nil
  for _, row in ipairs(exp.rows) do
    total = total + (row.processor_seconds or 0)
    if can_be_set(row) then
      rows[#rows + 1] = row
      if not cheapest or row.processor_seconds < cheapest.processor_seconds then cheapest = row end
    end
  end
  local chosen, left, draw = {}, share / 100 * total, 1
  while #rows > 0 do
    draw = (draw * 48271) % 2147483647 -- Park and Miller's
    local row = table.remove(rows, draw % #rows + 1)
    if row.processor_seconds <= left then
      left, chosen[#chosen + 1] = left - row.processor_seconds, row
    end
  end
  return #chosen > 0 and chosen or { cheapest }
end

-- --set for one cell: the options that vary among its experiment's cells, and those of the script's
-- other experiments, which would run whole otherwise.
local function settings(exp, row, others)
  local list, given = {}, {}
  local function set(from, cell)
    for _, option in ipairs(from.options) do
      if not given[option] and #from:values(option) > 1 then
        given[option] = true
        list[#list + 1] = ("--set '%s'"):format(
          (option .. "=" .. text_of(cell[option])):gsub("'", "'\\''"))
      end
    end
  end
  set(exp, row.cell)
  for _, other in ipairs(others) do set(other, sample(other, 0)[1].cell) end
  return table.concat(list, " ")
end

local function label(cell)
  local list = {}
  for name, value in pairs(cell) do list[#list + 1] = name .. " = " .. tostring(value) end
  table.sort(list)
  return table.concat(list, ", ")
end

-- The row of this cell in the experiment of that name in a folder.
local function row_in(folder, exp, cell)
  local ok, new = pcall(sc.experiment.open, exp.name, { folder = folder })
  for _, row in ipairs(ok and new.rows or {}) do
    local equal = true
    for name, value in pairs(cell) do equal = equal and row.cell[name] == value end
    if equal and row.status == "done" then return row end
  end
end

-- Sentences on results that differ.
local function differences(old, new)
  local list = {}
  for name, value in pairs(old) do
    if not is_time(name) and not same(value, new[name]) then
      list[#list + 1] = ("%s is %s, and was %s"):format(name, tostring(new[name]), tostring(value))
    end
  end
  table.sort(list)
  return list
end

return function(run, options)
  local count, differ, found, list = 0, 0, by_script(options), {}
  local names = {}
  for name in pairs(found) do names[#names + 1] = name end
  table.sort(names)
  if #names == 0 then print("no recorded cells in " .. options.cells) end
  for _, name in ipairs(names) do
    for _, exp in ipairs(found[name]) do
      local spent, alike, rows, commit = 0, 0, sample(exp, options.share), "unknown"
      for _, row in ipairs(rows) do
        local ended = run(name, settings(exp, row, found[name]))
        local new = ended and row_in(options.out .. "/cells", exp, row.cell)
        local said = new and differences(row.result, new.result) or { "it did not run" }
        spent = spent + (new and new.processor_seconds or 0)
        commit = new and new.about.commit or commit
        if #said == 0 then alike = alike + 1 end
        for _, one in ipairs(said) do print(("   %s: %s"):format(label(row.cell), one)) end
      end
      print(("%s: %d of %d cells again, %.3g processor seconds; %s"):format(exp.name, #rows,
        #exp.rows, spent, alike == #rows and "the same results" or #rows - alike .. " differ"))
      count, differ = count + #rows, differ + #rows - alike
      if #rows > 0 then list[#list + 1] = { exp.name, #rows, alike, commit } end
    end
  end
  print(("%d cells run again: %d with the same results to ten digits"):format(count,
    count - differ))
  return count > 0 and differ == 0, list
end
