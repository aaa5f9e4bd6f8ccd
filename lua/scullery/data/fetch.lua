--- Download of named data sets: from a mirror of the compact files, or from the public origin with
--- a conversion to the compact form.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local folders = require "scullery.base.folders"
local options = require "scullery.base.options"

local fetch = {}

-- ------------ conversion to the compact form

-- Reorders the columns of comma-separated lines: new column k is old column order[k]. Columns that
-- are not in order are left out.
local function reorder(text, order)
  local lines = {}
  for line in text:gmatch("([^\n]*)\n") do
    local fields, row = {}, {}
    for field in (line .. ","):gmatch("([^,]*),") do fields[#fields + 1] = field end
    for k, old in ipairs(order) do
      row[k] = fields[old] or fail("line %d has %d columns, and column %d is needed", #lines + 1,
        #fields, old)
    end
    lines[#lines + 1] = table.concat(row, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

--- fetch.convert(text, origin): converts the text of a public origin to the compact form.
--- origin.drop: lines that begin with this text are removed, as are blank lines; .replace: pairs of
--- a Lua pattern and its replacement; .lines: the number of lines to keep; .order: the order of the
--- columns; .header: a first line of column names.
function fetch.convert(text, origin)
  text = text:gsub("\r\n", "\n")
  if text:sub(-1) ~= "\n" then text = text .. "\n" end
  local at = 0 -- the end of the last line to keep
  for _ = 1, origin.lines or 0 do at = at and text:find("\n", at + 1, true) end
  if origin.lines and at then text = text:sub(1, at) end
  text = text:gsub("\n\n+", "\n"):gsub("^\n", "")
  if origin.drop then
    local mark = origin.drop:gsub("%p", "%%%0")
    text = ("\n" .. text):gsub("\n" .. mark .. "[^\n]*%f[\n]", ""):sub(2)
  end
  for _, pair in ipairs(origin.replace or {}) do text = text:gsub(pair[1], pair[2]) end
  if origin.order then text = reorder(text, origin.order) end
  if origin.header then text = origin.header .. "\n" .. text end
  return text
end

-- Raises an error unless the text has the rows (without the header) and columns of the catalog.
local function check_shape(text, file, entry)
  local from = file.origin and file.origin.url or file.name
  local _, lines = text:gsub("\n", "\n")
  local rows = entry.format == "csv" and not entry.names and lines - 1 or lines
  local expected = file.rows or entry.rows
  if rows ~= expected then
    fail("%s: it has %d rows where %d are expected; the file was not kept", from, rows, expected)
  end
  if entry.format ~= "csv" then return end
  local first, second = text:match("^([^\n]*)\n([^\n]*)")
  for _, line in ipairs{ first, second } do
    local _, commas = line:gsub(",", ",")
    if commas + 1 ~= entry.columns then
      fail("%s: it has %d columns where %d are expected; the file was not kept", from, commas + 1,
        entry.columns)
    end
  end
end

local function say_unverified(path, say)
  say(("%s: could not be verified: the numbers of rows and columns are as expected, but its \z
    sha256 is not that of the catalog"):format(path))
end

local MOST_TEXT = 1 << 28 -- bytes of a file that is converted: the largest has 75 MB

-- ------------ checks of local copies

--- fetch.check(path, file, entry, say): nil if a local copy of a catalog file is valid, else a
--- sentence about its fault. An unpacked file may have other contents of the same shape, because
--- the public origin may have changed: it is valid, and say(text) is called with a warning.
function fetch.check(path, file, entry, say)
  local digest, origin = core.sha256(path), file.origin or {}
  local packed = path:sub(-#file.name) == file.name
  -- the valid digests: compressed as the mirror or the public origin serves it, or unpacked
  local known = packed and { file.sha256, not origin.raw and origin.sha256 or nil }
    or { file.content }
  for _, one in ipairs(known) do
    if digest == one then return nil end
  end
  if not packed and entry.format ~= "idx" then
    local ok, text = options.attempt(core.read_text, path, MOST_TEXT)
    ok = ok and options.attempt(check_shape, text, file, entry)
    if ok then return say_unverified(path, say) end
  end
  return known[1] and ("%s: its sha256 is %s where %s is expected"):format(path, digest, known[1])
    or ("%s: its numbers of rows and columns are not those of the set"):format(path)
end

-- ------------ getting

-- Makes the compact file in the folder from the raw file, which may have been copied there by hand
-- and else is downloaded; removes the raw file, and returns the path of the compact one.
local function from_raw(file, entry, folder, say)
  local origin = file.origin
  local raw, target = folder .. origin.raw, folder .. file.name:gsub("%.gz$", "")
  if core.file_about(raw) then
    local digest = core.sha256(raw)
    if origin.sha256 and digest ~= origin.sha256 then
      fail("%s: the file there has sha256 %s where %s is expected", raw, digest,
        origin.sha256)
    end
  else
    core.fetch(origin.url, raw, origin.sha256)
  end
  local ok, message = pcall(function()
    local text = fetch.convert(core.read_text(raw, MOST_TEXT), origin)
    check_shape(text, file, entry)
    core.write_text(target, text)
    if core.sha256(target) ~= file.content then say_unverified(target, say) end
  end)
  os.remove(raw)
  if not ok then error(message, 0) end
  return target
end

--- fetch.file(file, entry, folder, say): downloads one file of the catalog into the folder and
--- returns its path. SCULLERY_DATA_URL: the mirror to use in place of the public origin. say(text):
--- called with warnings. Raises an error and leaves no partial file if the download fails.
function fetch.file(file, entry, folder, say)
  local mirror, target = os.getenv("SCULLERY_DATA_URL"), folder .. file.name
  folders.make(target:match("^(.*)/"))
  if mirror and mirror ~= "" then
    core.fetch(mirror:gsub("/+$", "") .. "/" .. file.name, target, file.sha256)
    return target
  end
  if not file.origin then
    fail("%s has no public address in this form; copy the file by hand to %s (its sha256 is %s), \z
      or name a mirror in SCULLERY_DATA_URL", file.name, target,
      file.sha256)
  end
  if file.origin.raw then return from_raw(file, entry, folder, say) end
  core.fetch(file.origin.url, target, file.origin.sha256)
  return target
end

return fetch
