--- The report of an experiment: one HTML page with its results, pictures, failures and costs, and
--- the commands and versions that reproduce it. sc.publish puts its own tables and pictures first.
local builds = require "scullery.experiment.builds"
local groups = require "scullery.experiment.groups"
local html = require "scullery.report.html"
local paired = require "scullery.experiment.paired"
local pictures = require "scullery.pictures.experiment"
local shown = require "scullery.experiment.shown"
local values = require "scullery.experiment.values"

local report = {}

-- The most rows of a table, pictures of a page, bytes of an error message, and different texts in a
-- fact.
local MOST_ROWS, MOST_FIGURES, MOST_MESSAGE, MOST_TEXTS = 500, 24, 2000, 10

-- ------------ numbers as texts

-- A time as a text, in the unit that leaves three digits or fewer.
local function duration(seconds)
  if seconds < 1e-3 then return ("%.0f µs"):format(seconds * 1e6) end
  if seconds < 1 then return ("%.0f ms"):format(seconds * 1e3) end
  if seconds < 120 then return ("%.3g s"):format(seconds) end
  if seconds < 7200 then return ("%.0f min"):format(seconds / 60) end
  return ("%.1f h"):format(seconds / 3600)
end

-- A number of bytes as a text, in MB or GB of powers of ten.
local function bytes(count)
  return count < 1e9 and ("%.0f MB"):format(count / 1e6) or ("%.2f GB"):format(count / 1e9)
end

-- ------------ results

-- A column is { its head, true if its texts are aligned as numbers, a function from an item to its
-- cell, the result whose best group is marked or nil }; the items of a table are groups or rows,
-- which both have the field `cell`.

-- Appends one column for each option.
local function add_option_columns(list, options)
  for _, option in ipairs(options) do
    list[#list + 1] = { option.name, false, function(item)
      local value = item.cell[option.name]
      return type(value) == "table" and values.show(value) or value
    end }
  end
end

-- The columns of the table of results, whose items are groups of cells that differ only in seeds.
local function columns_of(grouped, options)
  local list = {}
  add_option_columns(list, options)
  list[#list + 1] = { "cells", true, function(group)
    local done = tostring(#group.done)
    return group.failed == 0 and done or ("%s, %d failed"):format(done, group.failed)
  end }
  for _, name in ipairs(grouped.results) do
    list[#list + 1] = { name, true, function(group)
      local one = group.results[name]
      return one and shown.with_error(one.mean, one.error, "±")
    end, name }
  end
  list[#list + 1] = { "time", true, function(group)
    return group.seconds and duration(group.seconds.mean)
  end }
  list[#list + 1] = { "memory", true, function(group)
    return group.memory and bytes(group.memory)
  end }
  return list
end

-- Adds a table with these columns and one row for each item, up to MOST_ROWS.
local function add_table(page, columns, items, caption)
  local heads, rows, numbers, best = {}, {}, {}, {}
  for i in ipairs(items) do best[i] = {} end
  for j, column in ipairs(columns) do
    heads[j] = column[1]
    numbers[j] = column[2] or nil
    local set = column[4] and paired.best(items, column[4]) or {}
    for i, item in ipairs(items) do best[i][j] = set[item] end
  end
  for i = 1, math.min(#items, MOST_ROWS) do
    rows[i] = {}
    for j, column in ipairs(columns) do rows[i][j] = column[3](items[i]) end
  end
  page:table{ heads = heads, rows = rows, numbers = numbers, best = best, caption = caption }
  if #items > MOST_ROWS then
    page:paragraph(("%d more rows are left out; exp:save(\"r.csv\") writes all cells."):format(
      #items - MOST_ROWS))
  end
end

-- The varying options without that of the data set; second: that of the data set, or nil.
local function others_of(grouped)
  local data, list = paired.data_option(grouped.varying), {}
  for _, one in ipairs(grouped.varying) do if one ~= data then list[#list + 1] = one end end
  return list, data
end

-- The heading "data = wdbc" above the table of a data set, if there is an option of the data set.
local function add_set_heading(page, set, data)
  if data then page:heading(("%s = %s"):format(data.name, values.show(set.value)), 3) end
end

-- A table of all groups, or one for each data set; the best means are marked.
local function add_results(page, grouped)
  page:heading("Results")
  local caption = "Time is the mean and memory the largest of the cells of a row."
  if #grouped.seeds > 0 then
    caption = ("Mean ± standard error over the cells that differ in %s alone. "):format(
      groups.names(grouped.seeds)) .. caption
  end
  local options, data = others_of(grouped)
  local marked = {}
  for _, name in ipairs(grouped.results) do
    local larger = paired.larger(name)
    if larger ~= nil and #options > 0 then
      marked[#marked + 1] = (larger and "largest " or "smallest ") .. name
    end
  end
  if #marked > 0 then caption = caption .. " Marked: " .. table.concat(marked, ", ") .. "." end
  for _, set in ipairs(paired.sets(grouped)) do
    add_set_heading(page, set, data)
    add_table(page, columns_of(grouped, options), set.list, caption)
    caption = nil
  end
end

-- ------------ paired differences

-- The differences of a result from that of the best group of a set: a list of { cell, difference },
-- and the best group; nil if no group shares seeds with it.
local function differences_of(set, result, names)
  local best = next(paired.best(set.list, result))
  local list = {}
  for _, group in ipairs(best and set.list or {}) do
    local one = group ~= best and paired.difference(group, best, result, names)
    if one and one.count > 1 then list[#list + 1] = { cell = group.cell, difference = one } end
  end
  if #list > 0 then return list, best end
end

-- The columns of a table of differences: the options, the difference of `result`, its size in
-- standard errors (empty if that is rounding), and the number of seeds.
local function difference_columns(options, result)
  local list = {}
  add_option_columns(list, options)
  list[#list + 1] = { result .. " - best", true, function(item)
    return shown.with_error(item.difference.mean, item.difference.error, "±")
  end }
  list[#list + 1] = { "standard errors", true, function(item)
    local one = item.difference
    if one.error <= 1e-12 * math.abs(one.mean) then return nil end
    return ("%.1f"):format(math.abs(one.mean) / one.error)
  end }
  list[#list + 1] = { "pairs", true, function(item) return tostring(item.difference.count) end }
  return list
end

-- For each result that is a metric, and each data set: the differences from the best, paired over
-- the seeds.
local function add_differences(page, grouped)
  local options, data = others_of(grouped)
  local names, headed = groups.names_of(grouped.seeds), false
  for _, result in ipairs(#names > 0 and grouped.results or {}) do
    for _, set in ipairs(paired.larger(result) ~= nil and result ~= "seconds"
      and paired.sets(grouped) or {}) do
      local list, best = differences_of(set, result, names)
      if list and not headed then
        page:heading("Differences from the best")
        page:paragraph(("Differences over the same %s, mean ± standard error. The best was chosen "
          .. "by the same cells, so that its results are optimistic."):format(
          groups.names(grouped.seeds)))
        headed = true
      end
      if list then
        add_set_heading(page, set, data)
        add_table(page, difference_columns(options, result), list,
          ("%s: best is %s."):format(result, groups.label(best.cell, options)))
      end
    end
  end
end

-- ------------ pictures, failures

local function add_pictures(page, grouped)
  local list = pictures.figures(grouped)
  if #list == 0 then return end
  page:heading("Pictures")
  for i = 1, math.min(#list, MOST_FIGURES) do
    local one = list[i]
    page:figure(one.figure, one.option and ("%s against %s"):format(one.result, one.option)
      or one.result)
  end
  if #list > MOST_FIGURES then
    page:paragraph(("%d more pictures are left out."):format(#list - MOST_FIGURES))
  end
end

local function failed_rows(rows)
  local list = {}
  for _, row in ipairs(rows) do if row.status ~= "done" then list[#list + 1] = row end end
  return list
end

local function add_failures(page, failed, grouped)
  if #failed == 0 then return end
  page:heading("Cells that failed")
  -- the options that are not the same in all cells
  local options = table.move(grouped.seeds, 1, #grouped.seeds, #grouped.varying + 1,
    { table.unpack(grouped.varying) })
  add_table(page, {
    { "cell", false, function(row) return groups.label(row.cell, options) end },
    { "message", false, function(row)
      local text = tostring(row.message or "")
      return #text > MOST_MESSAGE and text:sub(1, MOST_MESSAGE) .. "..." or text
    end },
    { "time", true, function(row) return row.seconds and duration(row.seconds) end },
  }, failed)
end

-- ------------ every cell

local function add_cells(page, rows, grouped)
  page:heading("Every cell")
  local columns = {}
  add_option_columns(columns, grouped.varying)
  add_option_columns(columns, grouped.seeds)
  for _, names in ipairs{ grouped.results, grouped.others } do
    for _, name in ipairs(names) do
      columns[#columns + 1] = { name, false, function(row)
        local value = row.result and row.result[name]
        if value == nil or type(value) == "number" then return value end
        return values.show(value)
      end }
    end
  end
  columns[#columns + 1] = { "status", false, function(row) return row.status end }
  columns[#columns + 1] = { "time", true, function(row)
    return row.seconds and duration(row.seconds)
  end }
  columns[#columns + 1] = { "memory", true, function(row)
    return row.memory and bytes(row.memory)
  end }
  add_table(page, columns, rows)
end

-- ------------ how it was made

-- The different values of a fact among the rows, in alphabetical order, as one text; nil if no row
-- has it. what: a field of row.about, or a function from row.about to a text.
local function distinct(rows, what)
  local list, seen = {}, {}
  for _, row in ipairs(rows) do
    local text = row.about
    if text then if type(what) == "string" then text = text[what] else text = what(text) end end
    if text and not seen[text] then seen[text], list[#list + 1] = true, tostring(text) end
  end
  table.sort(list)
  local more = #list - MOST_TEXTS
  if more > 0 then list = { table.concat(list, "; ", 1, MOST_TEXTS), ("%d more"):format(more) } end
  return #list > 0 and table.concat(list, "; ") or nil
end

local function digest(text) return text and ", SHA-256 " .. text:sub(1, 16) or "" end

-- "train: 100 x 5, SHA-256 0123..." for each data set that the cells of one run used. Data sets
-- that were given without names are numbered, and their numbers are not shown.
local function data_text(about)
  local parts = {}
  for _, name in ipairs(values.sorted(about.data or {})) do
    local one = about.data[name]
    parts[#parts + 1] = ("%s%d x %d%s"):format(tonumber(name) and "" or name .. ": ", one.rows,
      one.cols, one.sha256 and digest(one.sha256) or ", a stream")
  end
  return #parts > 0 and table.concat(parts, "; ") or nil
end

-- The plugins that some cell had loaded, with their versions.
local function plugins_text(rows)
  local seen = {}
  for _, row in ipairs(rows) do
    for name, version in pairs(row.about and row.about.plugins or {}) do
      seen[version ~= "" and name .. " " .. version or name] = true
    end
  end
  local list = values.sorted(seen)
  return #list > 0 and table.concat(list, ", ") or nil
end

-- "FIRST to LAST", the times at which the first and the last cell ended. They are texts in ISO
-- 8601, whose alphabetical order is that of time.
local function times(rows)
  local first, last
  for _, row in ipairs(rows) do
    local time = row.about and row.about.time
    if time and (not first or time < first) then first = time end
    if time and (not last or time > last) then last = time end
  end
  return first and (first == last and first or first .. " to " .. last)
end

-- A text as one word of a POSIX shell, in quotes if necessary.
local function shell_word(text)
  if not text:find("[^%w_./-]") then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- The command lines that run the scripts of the cells again and that print the stored results.
local function commands_of(experiment)
  local lines, seen = {}, {}
  for _, row in ipairs(experiment.rows) do
    local path = row.about and row.about.script and row.about.script.path
    if path and not seen[path] then
      seen[path], lines[#lines + 1] = true, "scullery " .. shell_word(path)
    end
  end
  if experiment.folder then
    local folder = experiment.folder:match("^(.*)/[^/]*$") or "."
    local code = ("print(sc.experiment.open(%q, { folder = %q }):table())"):format(experiment.name,
      folder)
    lines[#lines + 1] = "scullery -e " .. shell_word(code)
  end
  return lines
end

-- The section with the commands, versions and machines of the cells.
local function add_origin(page, experiment, grouped)
  local rows = experiment.rows
  page:heading("How to reproduce")
  page:code(table.concat(commands_of(experiment), "\n"))
  page:facts{
    { "script", distinct(rows, function(about)
      return about.script and about.script.path .. digest(about.script.sha256)
    end) }, { "data", distinct(rows, data_text) },
    { "options of all cells", #grouped.fixed > 0 and groups.label(rows[1].cell, grouped.fixed)
      or nil },
    { "Scullery", distinct(rows, "scullery") },
    { "commit", distinct(rows, "commit") or "unknown" },
    { "plugins", plugins_text(rows) },
    { "machine", distinct(rows, "machine") },
    { "instruction set", distinct(rows, "instruction_set") },
    { "threads", distinct(rows, "threads") },
    { "time", times(rows) },
    { "results", experiment.folder and experiment.folder .. "/results.jsonl" } }
end

-- ------------ the whole

-- "Experiment: 12 cells done, 1 failed, 3 still to run; 2.5 s in all."
local function subtitle(experiment, failed)
  local rows, missing, seconds = experiment.rows, experiment.missing or 0, nil
  for _, row in ipairs(rows) do
    if row.seconds then seconds = (seconds or 0) + row.seconds end
  end
  local done = #rows - failed
  return ("Experiment: %d cell%s done%s%s%s."):format(done, done == 1 and "" or "s",
    failed > 0 and (", %d failed"):format(failed) or "",
    missing > 0 and (", %d still to run"):format(missing) or "",
    seconds and "; " .. duration(seconds) .. " in all" or "")
end

--- report.page(experiment[, title, front]): the page of an experiment, as html.page makes it.
--- front(page) adds the first part of the page; it replaces the pictures of each result, which are
--- drawn without it.
function report.page(experiment, title, front)
  local rows = experiment.rows
  local failed, grouped = failed_rows(rows), groups.of(rows)
  local page = html.page{ title = title or experiment.name,
    subtitle = subtitle(experiment, #failed) }
  if front then front(page) end
  if #rows == 0 then
    page:paragraph("No cell has run yet.")
    return page
  end
  add_results(page, grouped)
  add_differences(page, grouped)
  if not front then add_pictures(page, grouped) end
  add_failures(page, failed, grouped)
  add_origin(page, experiment, grouped)
  add_cells(page, rows, grouped)
  return page
end

--- report.summary(experiment): one line: the name of the experiment, the number of cells, their
--- total time, and the builds that ran them: "rks: 12 cells done; 3 s in all; by Scullery 0.1.0,
--- commit 0123456789ab, avx2, 2 threads". scripts/all.lua reads it.
function report.summary(experiment)
  local rows, parts = experiment.rows, {}
  local list = builds.of(rows)
  for i, build in ipairs(list) do
    parts[i] = #list > 1 and ("%s (%d cells)"):format(build.text, build.cells) or build.text
  end
  return ("%s: %s; by %s"):format(experiment.name, subtitle(experiment, #failed_rows(rows))
    :gsub("^Experiment: ", ""):gsub("%.$", ""), table.concat(parts, "; by "))
end

--- report.save(experiment, path): writes the report to an .html file, complete or not at all.
function report.save(experiment, path)
  html.check_path(path)
  report.page(experiment):save(path)
end

return report
