--- sc.publish: the results of a script as files: an HTML page, a section of a Markdown page,
--- pictures and tables of numbers.
local builds = require "scullery.experiment.builds"
local command_line = require "scullery.experiment.cells"
local comparison = require "scullery.experiment.comparison"
local core = require "scullery.core"
local csv_text = require "scullery.base.csv_text"
local fail = require "scullery.base.fail"
local figure = require "scullery.plot.figure"
local folders = require "scullery.base.folders"
local html = require "scullery.report.html"
local options = require "scullery.base.options"
local paired = require "scullery.metrics.paired"
local report = require "scullery.report.experiment"
local results = require "scullery.experiment.results"
local say = require "scullery.base.say"
local script_arguments = require "scullery.base.arguments"
local script_header = require "scullery.base.script_header"
local sorted = require("scullery.base.keys").sorted
local summary = require "scullery.experiment.summary"
local text_table = require "scullery.base.text_table"

local publish = {}

-- ------------ tables

-- Whether a value is a table of the script's own, { columns =, rows = }.
local function is_plain(value)
  return type(value) == "table" and not getmetatable(value) and type(value.columns) == "table"
    and type(value.rows) == "table"
end

-- Tables of results: class -> function from a table to its heads, rows and notes.
local cells_of = { [comparison.class] = comparison.cells, [summary.class] = summary.cells,
  [paired.class] = paired.cells }

local function is_text(value) return type(value) == "string" or type(value) == "number" end

local function is_list_of(list, test)
  if type(list) ~= "table" or getmetatable(list) then return false end
  for _, value in ipairs(list) do if not test(value) then return false end end
  return #list > 0 or next(list) == nil
end

-- True if a value is a row of at most `count` cells, each a text, a number or a boolean; cells may
-- be missing.
local function is_row(value, count)
  if type(value) ~= "table" or getmetatable(value) then return false end
  for j, cell in next, value do
    local in_place = math.type(j) == "integer" and j >= 1 and j <= count
    if not in_place or not is_text(cell) and type(cell) ~= "boolean" then return false end
  end
  return true
end

-- Raises an error unless table i of a script, { columns =, rows =, title =, notes = }, is
-- well-formed.
local function check_plain(value, i)
  local function need(holds, name, takes)
    if holds then return end
    fail("option 'tables': '%s' of table %d takes %s, and got %s", name, i, takes,
      options.show(value[name]))
  end
  need(is_list_of(value.columns, is_text) and #value.columns > 0, "columns", "a list of names")
  need(is_list_of(value.rows, function(row) return is_row(row, #value.columns) end), "rows",
    "a list of lists of numbers, texts or booleans, one for each column")
  need(value.title == nil or type(value.title) == "string", "title", "a text")
  need(value.notes == nil or is_list_of(value.notes, is_text), "notes", "a list of texts")
end

-- Table i of the option `tables` as { title, heads, rows, notes }, which this module calls `one`.
-- stand_in: see sc.publish; the table is then without published numbers.
local function table_of(value, i, stand_in)
  if is_plain(value) then
    check_plain(value, i)
    return { title = value.title, heads = value.columns, rows = value.rows,
      notes = value.notes or {} }
  end
  local read = cells_of[type(value) == "table" and getmetatable(value)]
  if not read then
    fail("option 'tables': number %d is %s; it takes exp:compare{...}, exp:table{...}, \z
      sc.compare{...} or { columns = { name, ... }, rows = { { value, ... }, ... } }", i,
      options.show(value))
  end
  local heads, rows, notes = read(value, stand_in)
  return { title = rawget(value, "title"), heads = heads, rows = rows, notes = notes }
end

-- A cell as text; floats to four significant digits, those from 1000 to 1e9 as whole numbers.
local function shown(value)
  if value == nil then return "" end
  if value ~= value then return "nan" end -- also for -nan
  if math.type(value) ~= "float" then return tostring(value) end
  local whole = math.abs(value) >= 999.5 and math.abs(value) < 1e9
  return (whole and "%.0f" or "%.4g"):format(value)
end

-- Texts of cells without a number that may be in a column of numbers.
local no_numbers = { ["-"] = true, [""] = true, nan = true, inf = true, ["-inf"] = true }

-- For each column, true if it has a number, perhaps with a standard error ("0.1 +- 0.02"), and each
-- other cell is a number or one of no_numbers.
local function numeric_columns(one)
  local list = {}
  for j in ipairs(one.heads) do
    local any, all = false, true
    for _, row in ipairs(one.rows) do
      local said = shown(row[j])
      local number = tonumber(said) or tonumber((said:match("^(%S+) %+%- %S+$")))
      any, all = any or number ~= nil, all and (number ~= nil or no_numbers[said] ~= nil)
    end
    list[j] = any and all
  end
  return list
end

-- The text on one line.
local function line_of(text) return (text:gsub("%s*\n%s*", " ")) end

-- The table as aligned text for the terminal: title, rows, notes.
local function text_of(one)
  local lines, sides = { one.heads }, {}
  for j, numeric in ipairs(numeric_columns(one)) do sides[j] = numeric and "right" or "left" end
  for i, row in ipairs(one.rows) do
    lines[i + 1] = {}
    for j in ipairs(one.heads) do lines[i + 1][j] = shown(row[j]) end
  end
  local text = text_table.lines(lines, { sides = sides })
  table.move(one.notes, 1, #one.notes, #text + 1, text)
  return (one.title and one.title .. "\n" or "") .. table.concat(text, "\n")
end

-- The table as rows for csv_text.write; floats to 17 significant digits, so that none is rounded.
local function csv_of(one)
  local lines = { one.heads }
  for i, row in ipairs(one.rows) do
    lines[i + 1] = {}
    for j in ipairs(one.heads) do
      local exact = math.type(row[j]) == "float" and row[j] == row[j]
      lines[i + 1][j] = exact and ("%.17g"):format(row[j]) or shown(row[j])
    end
  end
  return lines
end

-- ------------ Markdown

-- A cell of a Markdown table on one line. "|" is escaped, because it would end the cell, and "<"
-- before a letter, because it would begin a tag.
local function escaped(text)
  return (line_of(shown(text)):gsub("|", "\\|"):gsub("<([%a/!?])", "&lt;%1"))
end

-- The file name of a path, percent-encoded for a link.
local function link_to(path)
  return (path:match("[^/]*$"):gsub("[^%w%-_.~]", function(byte)
    return ("%%%02X"):format(byte:byte())
  end))
end

local function markdown_row(cells) return "| " .. table.concat(cells, " | ") .. " |" end

-- The table in Markdown: title, rows, notes.
local function markdown_of(one)
  local heads, rule, lines = {}, {}, {}
  for j, numeric in ipairs(numeric_columns(one)) do
    heads[j], rule[j] = escaped(one.heads[j]), numeric and "---:" or "---"
  end
  lines[1], lines[2] = markdown_row(heads), "|" .. table.concat(rule, "|") .. "|"
  for _, row in ipairs(one.rows) do
    local cells = {}
    for j in ipairs(one.heads) do cells[j] = escaped(row[j]):gsub(" %+%- ", " ± ") end
    lines[#lines + 1] = markdown_row(cells)
  end
  for _, note in ipairs(one.notes) do lines[#lines + 1] = "\n" .. note end
  return (one.title and one.title .. "\n\n" or "") .. table.concat(lines, "\n")
end

-- A line about each experiment, with the builds that ran it; without experiments, about the build
-- of this process.
local function lines_on_cells(about)
  local lines = {}
  for i, experiment in ipairs(about.experiments) do
    lines[i] = report.summary(experiment) .. "."
  end
  return #lines > 0 and lines or { "Computed with this page by " .. builds.now() .. "." }
end

-- The Markdown section: title, paragraphs, tables, pictures, and a line on the experiment.
local function markdown_section(about)
  local parts = { "### " .. line_of(about.title) }
  for _, paragraph in ipairs(about.paragraphs) do
    parts[#parts + 1] = paragraph.code and "```text\n" .. paragraph.text .. "\n```"
      or paragraph.text
  end
  for _, one in ipairs(about.tables) do parts[#parts + 1] = markdown_of(one) end
  for _, picture in ipairs(about.pictures) do
    local caption = line_of(picture.title or about.title)
    parts[#parts + 1] = picture.text and "```text\n" .. picture.text .. "\n```"
      or ("![%s](%s)"):format(caption:gsub("[%[%]]", ""), link_to(picture.path))
    if picture.title then parts[#parts + 1] = "*" .. caption:gsub("[*\\]", "\\%0") .. "*" end
  end
  for _, line in ipairs(lines_on_cells(about)) do parts[#parts + 1] = line end
  return table.concat(parts, "\n\n") .. "\n"
end

-- ------------ the page

-- A paragraph of the script's comment; its lines that begin with "- " or "* " become a list.
local function add_paragraph(page, paragraph)
  if paragraph.code then
    page:code(paragraph.text)
    return
  end
  local items = {}
  for line in paragraph.text:gmatch("[^\n]+") do
    local item = line:match("^[-*] (.*)$")
    if item then items[#items + 1] = item else page:paragraph(line) end
  end
  page:list(items)
end

-- The first part of the page: paragraphs, tables and pictures.
local function add_front(page, about)
  for _, paragraph in ipairs(about.paragraphs) do add_paragraph(page, paragraph) end
  if #about.tables > 0 then page:heading("Tables") end
  for _, one in ipairs(about.tables) do
    local numbers, rows = {}, {}
    for j, numeric in ipairs(numeric_columns(one)) do numbers[j] = numeric or nil end
    for i, row in ipairs(one.rows) do
      rows[i] = {}
      for j in ipairs(one.heads) do rows[i][j] = shown(row[j]):gsub(" %+%- ", " ± ") end
    end
    page:table{ heads = one.heads, rows = rows, caption = one.title, numbers = numbers }
    page:list(one.notes)
  end
  if #about.figures > 0 then page:heading("Pictures") end
  for _, fig in ipairs(about.figures) do page:figure(fig) end
end

-- ------------ files

-- The path of file number k: STEM.ENDING, STEM_2.ENDING, ...
local function numbered(stem, k, ending)
  return ("%s%s.%s"):format(stem, k > 1 and "_" .. k or "", ending)
end

-- Saves figure k as SVG, or as Unicode text if gnuplot is missing: { path, text = its characters or
-- nil, title }.
local function save_picture(fig, stem, k)
  local svg = fig:svg()
  local path = numbered(stem, k, svg and "svg" or "txt")
  fig:save(path)
  local text = not svg and fig:text{ width = 80, colour = false } or nil
  local title = fig.title or fig.panels[1] and fig.panels[1].title
  return { path = path, text = text, title = title }
end

-- Writes all files of sc.publish and returns their paths. Sets about.pictures.
local function save_all(stem, about)
  local written = {}
  about.pictures = {}
  for k, fig in ipairs(about.figures) do
    about.pictures[k] = save_picture(fig, stem, k)
    written[#written + 1] = about.pictures[k].path
  end
  if about.experiment then
    written[#written + 1] = stem .. ".csv"
    about.experiment:save(stem .. ".csv")
  else
    for k, one in ipairs(about.tables) do
      written[#written + 1] = numbered(stem, k, "csv")
      csv_text.write(written[#written], csv_of(one))
    end
  end
  core.write_text(stem .. ".md", markdown_section(about))
  local page
  if about.experiment then
    page = report.page(about.experiment, about.title, function(p) add_front(p, about) end)
  else
    page = html.page{ title = about.title, subtitle = lines_on_cells(about)[1] }
    add_front(page, about)
  end
  page:save(stem .. ".html")
  table.move({ stem .. ".md", stem .. ".html" }, 1, 2, #written + 1, written)
  return written
end

-- The list without entries that are false.
local function present(list)
  local result = {}
  for _, value in ipairs(list) do if value then result[#result + 1] = value end end
  return result
end

local function is_list(value)
  return type(value) == "table" and not getmetatable(value)
    and (#value > 0 or next(value) == nil)
end

local function is_experiment(value) return getmetatable(value) == results.class end

local function is_experiments(value)
  return is_experiment(value) or is_list_of(value, is_experiment) and #value > 0
end

local rules = { title = { type = "string" },
  tables = { type = "table", default = {}, test = is_list, takes = "a list of tables" },
  figures = { type = "table", default = {}, test = is_list, takes = "a list of figures" },
  experiment = { type = "any", test = is_experiments,
    takes = "what sc.experiment{...} returned, or a list of several" },
  args = script_arguments.rule,
  stand_in = { type = "any", default = false, takes = "a text or false",
    test = function(value) return value == false or type(value) == "string" end } }
options.declare("publish", rules)

-- Replaces the text of a page by a sentence about the data of this run, which the text is not
-- about; the title and the commands stay.
local function make_stand_in(about, data)
  local first = about.paragraphs[1]
  local paragraphs = { first and first.code and first or nil }
  table.insert(paragraphs, { text = ("A short run, on %s, which shows that the script works. The "
    .. "conclusions of the script, and the numbers that it is compared with, are those of the full "
    .. "run."):format(data) })
  about.paragraphs, about.title = paragraphs, about.title .. " (short run)"
end

-- Adds a paragraph about --set on the command line, if it was used: the text of the script is about
-- all of its cells.
local function add_settings(about)
  local said, arguments = {}, rawget(_G, "arg")
  local has_script = type(arguments) == "table" and arguments[-1] ~= nil
  local settings = #about.experiments > 0 and has_script and command_line.settings(arguments) or {}
  for _, name in ipairs(sorted(settings)) do
    said[#said + 1] = name .. " = " .. table.concat(settings[name], ", ")
  end
  if #said == 0 then return end
  table.insert(about.paragraphs, { text = ("Run with --set, %s: the numbers are of these cells, "
    .. "and the text is about all."):format(table.concat(said, "; ")) })
end

--- sc.publish(stem, { title =, tables = {}, figures = {}, experiment =, stand_in = false, args =
--- }): writes the results of a script: STEM.html, one page that opens in any browser; STEM.md, a
--- section of a Markdown page; STEM.svg, STEM_2.svg, ..., the figures (.txt in Unicode if gnuplot
--- is missing); STEM.csv, all cells of the experiment, or without one the tables (STEM.csv,
--- STEM_2.csv, ...). Missing folders are made. The tables and the paths are printed.
---
--- The comment at the top of the script is the text of both pages. Its first paragraph is the
--- title, unless the option `title` is given; indented lines are shown unchanged, as code.
---
--- tables: exp:compare{}, exp:table{}, sc.compare{}, or { columns = { name, ... }, rows = { {
--- value, ... }, ... }, title =, notes = {} }; tables and figures that are false are left out.
--- experiment: its costs and cells are the end of the page, with the builds that ran them: version,
--- commit, instruction set and threads. In a list, the first has its cells on the page.
---
--- stand_in: the data of a short run that the script's comment does not describe, such as "wdbc, T
--- up to 64": the page has a sentence about it in place of the text, and comparisons are without
--- published numbers (those under another label, such as formulas, stay). Each file is written
--- complete or not at all. args: what sc.arguments returned: STEM is in the folder --out, and ends
--- in "_quick" with --quick. Returns the list of paths.
function publish.run(stem, given)
  if type(stem) ~= "string" or not stem:find("[^/]$") or stem:find("\0", 1, true) then
    fail("takes a path without an ending, as in \"out/table1\", and got %s", options.show(stem))
  end
  local o = options.check("publish", given or {}, rules, 0)
  if o.args then
    stem = (o.args.out and o.args.out .. "/" or "") .. stem .. (o.args.quick and "_quick" or "")
  end
  o.tables, o.figures = present(o.tables), present(o.figures)
  if #o.tables == 0 and #o.figures == 0 and not o.experiment then
    fail("there is nothing to publish: give tables, figures or an experiment")
  end
  local list = is_experiment(o.experiment) and { o.experiment } or o.experiment or {}
  local about = { title = o.title, figures = o.figures, experiment = list[1], experiments = list,
    tables = {} }
  for i, value in ipairs(o.tables) do about.tables[i] = table_of(value, i, o.stand_in) end
  for i, fig in ipairs(o.figures) do
    if not figure.is(fig) then
      fail("option 'figures': number %d is %s; it takes figures of sc.plot", i, options.show(fig))
    end
  end
  local path = script_header.path()
  about.paragraphs = path and script_header.paragraphs(path) or {}
  local first = about.paragraphs[1]
  if first and not first.code then -- the title, without its full stop
    table.remove(about.paragraphs, 1)
    about.title = about.title or first.text:gsub("%.$", "")
  end
  about.title = about.title or stem:match("[^/]*$")
  if o.stand_in then make_stand_in(about, o.stand_in) end
  add_settings(about)
  local folder = stem:match("^(.*)/[^/]*$")
  if folder and folder ~= "" then folders.make(folder) end
  local written = save_all(stem, about)
  for _, one in ipairs(about.tables) do say(text_of(one) .. "\n") end
  say("written: " .. table.concat(written, ", "))
  return written
end

return publish
