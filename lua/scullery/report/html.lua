--- Pages of reports: one HTML file that opens in any browser and can be printed. It contains its
--- style and its pictures (SVG, or Unicode text if gnuplot is missing), and no scripts, and loads
--- nothing from the network. Every text is escaped. The page is also well-formed XML.
local core = require "scullery.core"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local valid = require("scullery.base.text").valid

local html = {}

local style = [[
html { background: #fff; color: #1a1a1a; font: 16px/1.5 "DejaVu Sans", Verdana, Arial, sans-serif; }
body { max-width: 62em; margin: 2em auto; padding: 0 1.5em; }
h1 { font-size: 1.7em; line-height: 1.2; margin: 0 0 .2em; }
h2 { font-size: 1.25em; margin: 2em 0 .5em; padding-bottom: .2em; border-bottom: 1px solid #ccc; }
h3 { font-size: 1.05em; margin: 1.4em 0 .4em; }
p { margin: .5em 0; }
.subtitle, figcaption, caption, .contents { color: #555; font-size: .9em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .8em 0; font-size: .9em; }
caption { text-align: left; padding: .3em 0; }
th, td { padding: .25em .8em .25em 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid #888; }
tbody td, tbody th { border-bottom: 1px solid #e5e5e5; }
tbody th { font-weight: normal; color: #555; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.marked td { background: #fff3cd; }
td.best, td.number.best { background: #fff3cd; font-weight: bold; }
pre { background: #f6f6f6; padding: .7em 1em; overflow-x: auto; white-space: pre-wrap;
  font: .85em/1.35 "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre i { display: inline-block; width: 1ch; font-style: normal; }
pre i.wide { width: 2ch; }
figure { margin: 1em 0; }
figure pre { white-space: pre; }
figure svg { max-width: 100%; height: auto; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 11px; }
  figure, tr, pre { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
]]

-- ------------ texts

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
  ["'"] = "&#39;" }

local REPLACEMENT = "\u{FFFD}"

--- html.escape(value): a value as text for a page: &, <, > and quotation marks become entities;
--- bytes that are not UTF-8, and characters that XML forbids (control characters, U+FFFE, U+FFFF),
--- become U+FFFD.
function html.escape(value)
  return (valid(tostring(value), REPLACEMENT)
    :gsub("[\0-\8\11\12\14-\31\127]", REPLACEMENT)
    :gsub("\xEF\xBF[\xBE\xBF]", REPLACEMENT):gsub("[&<>\"']", entities))
end

-- A value as a cell of a table: floats to six significant digits, nil as "".
local function shown(value)
  if value == nil then return "" end
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if type(value) == "number" then return value ~= value and "NaN" or ("%.6g"):format(value) end
  return tostring(value)
end

-- ------------ pages

local Page = objects.class("report page", { example = "page",
  fields = "title subtitle parts sections figures" })

function Page.__tostring() return "a report page" end

--- html.page{ title =, subtitle = }: an empty page. Its methods append parts in the order of calls.
function html.page(given)
  local o = options.check("report.page", given, { title = { type = "string", required = true },
    subtitle = { type = "string" } })
  return setmetatable({ title = o.title, subtitle = o.subtitle, parts = {}, sections = {},
    figures = 0 }, Page)
end

-- Appends string.format(...) to the page.
local function add(self, ...) self.parts[#self.parts + 1] = string.format(...) end

--- page:heading(text[, level]): a heading. level 2, the default: a section with an entry in the
--- list of contents; level 3: a heading inside a section.
function Page:heading(text, level)
  if level == 3 then return add(self, "<h3>%s</h3>", html.escape(text)) end
  self.sections[#self.sections + 1] = text
  add(self, '<h2 id="section-%d">%s</h2>', #self.sections, html.escape(text))
end

--- page:paragraph(text): a paragraph.
function Page:paragraph(text) add(self, "<p>%s</p>", html.escape(text)) end

--- page:list(texts): a list of sentences; nothing if `texts` is empty.
function Page:list(texts)
  if #texts == 0 then return end
  local items = {}
  for i, text in ipairs(texts) do items[i] = ("<li>%s</li>"):format(html.escape(text)) end
  add(self, "<ul>%s</ul>", table.concat(items, "\n"))
end

--- page:code(text): a text in a monospaced font; its line ends are kept.
function Page:code(text) add(self, "<pre>%s</pre>", html.escape(text)) end

-- For each column, true if it has cells and all of them are numbers; nil and "" do not count.
local function number_columns(columns, rows)
  local list = {}
  for j = 1, columns do
    local seen, all = false, true
    for _, row in ipairs(rows) do
      local value = row[j]
      if value ~= nil and value ~= "" then
        seen, all = true, all and type(value) == "number"
      end
    end
    list[j] = seen and all
  end
  return list
end

-- One row of a table as elements, tag "th" or "td"; numbers[j]: column j is aligned right;
-- best[j]: the cell is marked.
local function cells(tag, columns, row, numbers, best)
  local list = {}
  for j = 1, columns do
    local class = (numbers[j] and "number " or "") .. (best and best[j] and "best" or "")
    list[j] = ("<%s%s>%s</%s>"):format(tag, class ~= ""
      and (' class="%s"'):format((class:gsub(" $", ""))) or "", html.escape(shown(row[j])), tag)
  end
  return table.concat(list)
end

--- page:table{ heads = { text, ... }, rows = { { value, ... }, ... }, caption =, marked = row
--- number, best = { [row] = { [column] = true } }, numbers = { [column] = true } }: a table.
--- Columns of numbers, and those in `numbers`, are aligned right; nil is an empty cell. marked: the
--- number of the row that is highlighted; best: the cells that are.
function Page:table(given)
  local columns, rows = #given.heads, given.rows
  local numbers = number_columns(columns, rows)
  for j in pairs(given.numbers or {}) do numbers[j] = true end
  local lines = { '<div class="scroll"><table>' }
  if given.caption then
    lines[#lines + 1] = ("<caption>%s</caption>"):format(html.escape(given.caption))
  end
  lines[#lines + 1] = ("<thead><tr>%s</tr></thead>\n<tbody>"):format(
    cells("th", columns, given.heads, numbers))
  for i, row in ipairs(rows) do
    lines[#lines + 1] = ("<tr%s>%s</tr>"):format(i == given.marked and ' class="marked"' or "",
      cells("td", columns, row, numbers, given.best and given.best[i]))
  end
  lines[#lines + 1] = "</tbody></table></div>"
  add(self, "%s", table.concat(lines, "\n"))
end

--- page:facts{ { name, value }, ... }: a table with one row for each pair; pairs whose value is nil
--- are left out.
function Page:facts(pairs_of)
  local lines = { '<div class="scroll"><table><tbody>' }
  for i = 1, #pairs_of do
    local name, value = pairs_of[i][1], pairs_of[i][2]
    if value ~= nil then
      lines[#lines + 1] = ("<tr><th>%s</th><td>%s</td></tr>"):format(html.escape(name),
        html.escape(shown(value)))
    end
  end
  lines[#lines + 1] = "</tbody></table></div>"
  add(self, "%s", table.concat(lines, "\n"))
end

-- ------------ pictures

-- The <svg> element of a picture, without the XML declaration; nil if there is none. Its ids, and
-- the references to them, get the prefix, because ids must be unique on a page.
local function inline(svg, prefix)
  local body = svg:match("<svg.*</svg>")
  if not body then return nil end
  body = body:gsub("(%f[%w:]id%s*=%s*)(['\"])(.-)%2", "%1%2" .. prefix .. "%3%2")
  body = body:gsub("(href%s*=%s*['\"])#", "%1#" .. prefix)
  return (body:gsub("url%(%s*#", "url(#" .. prefix))
end

-- A picture in characters, escaped. Each character beyond ASCII is put in a box as wide as its
-- columns, because a browser takes characters that its monospaced font lacks, such as braille dots,
-- from fonts of other widths.
local function boxed(picture)
  return (html.escape(picture):gsub("[\xC2-\xF4][\x80-\xBF]+", function(character)
    local columns = core.text_width("a" .. character) - 1 -- 0 if it combines with the one before
    if columns == 0 then return character end
    return (columns == 1 and "<i>%s</i>" or '<i class="wide">%s</i>'):format(character)
  end))
end

--- page:figure(figure[, caption]): a figure of sc.plot, as SVG; as Unicode text if gnuplot is
--- missing, with the reason below it.
function Page:figure(figure, caption)
  self.figures = self.figures + 1
  local svg, reason = figure:svg()
  local body = svg and inline(svg, ("figure-%d-"):format(self.figures))
  if not body then
    body = ("<pre>%s</pre>"):format(boxed(figure:text{ width = 96, height = 30,
      colour = false }))
    local note = reason and html.escape(reason)
    caption = caption and html.escape(caption) .. (note and " (" .. note .. ")" or "") or note
  else
    caption = caption and html.escape(caption)
  end
  add(self, "<figure>%s%s</figure>", body, caption and ("\n<figcaption>%s</figcaption>"):format(
    caption) or "")
end

-- ------------ the whole

-- Links to the sections, for pages with three or more.
local function contents(self)
  if #self.sections < 3 then return "" end
  local links = {}
  for i, text in ipairs(self.sections) do
    links[i] = ('<a href="#section-%d">%s</a>'):format(i, html.escape(text))
  end
  return ('<p class="contents">%s</p>\n'):format(table.concat(links, " &#183; "))
end

--- page:text(): the whole page as the text of an HTML file.
function Page:text()
  local title = html.escape(self.title)
  local subtitle = self.subtitle and ('<p class="subtitle">%s</p>\n'):format(
    html.escape(self.subtitle)) or ""
  return table.concat{ '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n\z
    <head>\n<meta charset="utf-8"/>\n<meta name="viewport" content="width=device-width, \z
    initial-scale=1"/>\n<title>', title, "</title>\n<style>\n", style,
    "</style>\n</head>\n<body>\n<h1>", title, "</h1>\n", subtitle, contents(self),
    table.concat(self.parts, "\n"), "\n</body>\n</html>\n" }
end

--- html.check_path(path): raises an error unless the path ends with .html or .htm.
function html.check_path(path)
  if type(path) == "string" and path:lower():find("%.html?$") then return end
  error("takes the path of an .html file, and got " .. options.show(path), 0)
end

--- page:save(path): writes the page to an .html file, complete or not at all.
function Page:save(path)
  html.check_path(path)
  core.write_text(path, self:text())
end

return html
