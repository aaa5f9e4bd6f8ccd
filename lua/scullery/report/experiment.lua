--- The report of an experiment: one HTML page with its results, pictures, failures, costs, and what
--- is needed to run it again.
local groups = require "scullery.experiment.groups"
local html = require "scullery.report.html"
local pictures = require "scullery.pictures.experiment"
local shown = require "scullery.experiment.shown"
local values = require "scullery.experiment.values"

local report = {}

local MOST_ROWS, MOST_FIGURES, MOST_MESSAGE, MOST_TEXTS = 500, 24, 2000, 10

-- ---------------------------------------------------------------- numbers as texts

local function counted(count, noun)
  return ("%d %s"):format(count, count == 1 and noun or noun .. "s")
end

local function duration(seconds)
  if seconds < 1e-3 then return ("%.0f µs"):format(seconds * 1e6) end
  if seconds < 1 then return ("%.0f ms"):format(seconds * 1e3) end
  if seconds < 120 then return ("%.3g s"):format(seconds) end
  if seconds < 7200 then return ("%.0f min"):format(seconds / 60) end
  return ("%.1f h"):format(seconds / 3600)
end

local function bytes(count)
  return count < 1e9 and ("%.0f MB"):format(count / 1e6) or ("%.2f GB"):format(count / 1e9)
end

-- ---------------------------------------------------------------- results

-- The columns of the table of results: { head, whether its texts are numbers, cell of a group }.
local function columns_of(grouped)
  local list = {}
  for _, option in ipairs(grouped.varying) do
    list[#list + 1] = { option.name, false, function(group)
      local value = group.cell[option.name]
      return type(value) == "table" and values.show(value) or value
    end }
  end
  list[#list + 1] = { "cells", true, function(group)
    local done = tostring(#group.done)
    return group.failed == 0 and done or ("%s, %d failed"):format(done, group.failed)
  end }
  for _, name in ipairs(grouped.results) do
    list[#list + 1] = { name, true, function(group)
      local one = group.results[name]
      return one and shown.with_error(one.mean, one.error, "±")
    end }
  end
  list[#list + 1] = { "time", true, function(group)
    return group.seconds and duration(group.seconds.mean)
  end }
  list[#list + 1] = { "memory", true, function(group)
    return group.memory and bytes(group.memory)
  end }
  return list
end

-- A table of the columns, a row for each of the items.
local function add_table(page, columns, items, caption)
  local heads, rows, numbers = {}, {}, {}
  for j, column in ipairs(columns) do
    heads[j] = column[1]
    numbers[j] = column[2] or nil
  end
  for i = 1, math.min(#items, MOST_ROWS) do
    rows[i] = {}
    for j, column in ipairs(columns) do rows[i][j] = column[3](items[i]) end
  end
  page:table{ heads = heads, rows = rows, numbers = numbers, caption = caption }
  if #items > MOST_ROWS then
    page:paragraph(("%d more rows are left out; exp:save(\"r.csv\") writes all cells."):format(
      #items - MOST_ROWS))
  end
end

local function add_results(page, grouped)
  page:heading("Results")
  local caption = "Time is the mean and memory the largest of the cells of a row."
  if #grouped.seeds > 0 then
    caption = ("Mean ± standard error over the cells that differ in %s alone. "):format(
      groups.names(grouped.seeds)) .. caption
  end
  add_table(page, columns_of(grouped), grouped.list, caption)
end

-- ---------------------------------------------------------------- pictures, failures

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

-- All options of a row but those that are the same everywhere.
local function cell_text(row, grouped)
  local parts = {}
  for _, options in ipairs{ grouped.varying, grouped.seeds } do
    local text = groups.label(row.cell, options)
    if text ~= "" then parts[#parts + 1] = text end
  end
  return table.concat(parts, ", ")
end

local function add_failures(page, failed, grouped)
  if #failed == 0 then return end
  page:heading("Cells that failed")
  add_table(page, {
    { "cell", false, function(row) return cell_text(row, grouped) end },
    { "message", false, function(row)
      local text = tostring(row.message or "")
      return #text > MOST_MESSAGE and text:sub(1, MOST_MESSAGE) .. "..." or text
    end },
    { "time", true, function(row) return row.seconds and duration(row.seconds) end },
  }, failed)
end

-- ---------------------------------------------------------------- every cell

local function add_cells(page, rows, grouped)
  page:heading("Every cell")
  local columns = {}
  for _, options in ipairs{ grouped.varying, grouped.seeds } do
    for _, option in ipairs(options) do
      columns[#columns + 1] = { option.name, false, function(row)
        local value = row.cell[option.name]
        return type(value) == "table" and values.show(value) or value
      end }
    end
  end
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

-- ---------------------------------------------------------------- how it was made

-- The different texts that the rows give, as one text; nil where none gives any.
local function distinct(rows, read)
  local list, seen = {}, {}
  for _, row in ipairs(rows) do
    local text = row.about and read(row.about)
    if text and not seen[text] then seen[text], list[#list + 1] = true, tostring(text) end
  end
  table.sort(list)
  local more = #list - MOST_TEXTS
  if more > 0 then list = { table.concat(list, "; ", 1, MOST_TEXTS), ("%d more"):format(more) } end
  return #list > 0 and table.concat(list, "; ") or nil
end

local function digest(text) return text and ", SHA-256 " .. text:sub(1, 16) or "" end

local function data_text(about)
  local parts = {}
  for _, name in ipairs(values.sorted(about.data or {})) do
    local one = about.data[name]
    parts[#parts + 1] = ("%s%d x %d%s"):format(tonumber(name) and "" or name .. ": ", one.rows,
      one.cols, one.sha256 and digest(one.sha256) or ", a stream")
  end
  return #parts > 0 and table.concat(parts, "; ") or nil
end

-- The plugins of all cells; cells may have loaded more or fewer.
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

local function script_text(about)
  return about.script and about.script.path .. digest(about.script.sha256)
end

-- From the first to the last time that a cell ended.
local function times(rows)
  local first, last
  for _, row in ipairs(rows) do
    local time = row.about and row.about.time
    if time and (not first or time < first) then first = time end
    if time and (not last or time > last) then last = time end
  end
  return first and (first == last and first or first .. " to " .. last)
end

-- A text as the shell takes it, quoted where it must be.
local function shell_word(text)
  if not text:find("[^%w_./-]") then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

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

local function add_origin(page, experiment, grouped)
  local rows = experiment.rows
  page:heading("How to reproduce")
  page:code(table.concat(commands_of(experiment), "\n"))
  page:facts{
    { "script", distinct(rows, script_text) }, { "data", distinct(rows, data_text) },
    { "options of all cells", #grouped.fixed > 0 and groups.label(rows[1].cell, grouped.fixed)
      or nil },
    { "Scullery", distinct(rows, function(about) return about.scullery end) },
    { "plugins", plugins_text(rows) },
    { "machine", distinct(rows, function(about) return about.machine end) },
    { "instruction set", distinct(rows, function(about) return about.instruction_set end) },
    { "threads", distinct(rows, function(about) return about.threads end) },
    { "time", times(rows) },
    { "results", experiment.folder and experiment.folder .. "/results.jsonl" } }
end

-- ---------------------------------------------------------------- the whole

local function total(rows, name)
  local sum
  for _, row in ipairs(rows) do if row[name] then sum = (sum or 0) + row[name] end end
  return sum
end

local function subtitle(experiment, failed)
  local rows, missing = experiment.rows, experiment.missing or 0
  local seconds = total(rows, "seconds")
  return ("Experiment: %s done%s%s%s."):format(counted(#rows - failed, "cell"),
    failed > 0 and (", %d failed"):format(failed) or "",
    missing > 0 and (", %d still to run"):format(missing) or "",
    seconds and "; " .. duration(seconds) .. " in all" or "")
end

--- report.page(experiment[, title, front]): the page of an experiment. front(page) adds what stands
--- first, in the place of the pictures that are drawn of each result otherwise.
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
  if not front then add_pictures(page, grouped) end
  add_failures(page, failed, grouped)
  add_origin(page, experiment, grouped)
  add_cells(page, rows, grouped)
  return page
end

--- report.summary(experiment): one line: how many cells, how long in all, with what.
function report.summary(experiment)
  local rows = experiment.rows
  local loops = distinct(rows, function(about) return about.instruction_set end)
  local threads = distinct(rows, function(about) return about.threads end)
  return subtitle(experiment, #failed_rows(rows)):gsub("^Experiment: ", ""):gsub("%.$", "")
    .. (threads and (" (threads: %s; %s)"):format(threads, loops or "-") or "")
end

--- report.save(experiment, path): write the report, whole or not at all.
function report.save(experiment, path)
  html.check_path(path)
  report.page(experiment):save(path)
end

return report
