--- The rows that sums cover: a list of parts { source = { rows, cols, sha256 }, from, to }, ranges
--- of the rows of data sets. A source is identified by its contents: in memory by a digest of rows
--- spread over it (core.fingerprint), in files by their sizes, beginnings and ends.
local core = require "scullery.core"
local fingerprint = require "scullery.data.fingerprint"

local parts = {}

local SAMPLE = 256 -- rows at both ends of a source that has no file

-- A digest of the first rows of a source whose rows are made on demand, and of the last.
local function of_rows(source)
  local n = core.source_size(source)
  local count = math.min(n, SAMPLE)
  local list = { core.read_rows(source, 1, count) }
  table.move({ core.read_rows(source, n - count + 1, count) }, 1, 2, 3, list)
  return core.fingerprint(table.unpack(list))
end

--- parts.source(ds): { rows, cols, sha256 } of a data set, in memory or streaming.
function parts.source(ds)
  local known = fingerprint.of(ds)
  if known.sha256 then return known end
  local list = {}
  for i, path in ipairs(ds.files or {}) do list[i] = fingerprint.of_file(path) end
  known.sha256 = #list > 0 and core.digest(table.concat(list, "\n")) or of_rows(ds.source)
  return known
end

--- parts.range(ds, o, title, block): the first and the last row of part i of n (o.part), or of rows
--- { a, b } (o.rows); all rows without. Parts are cut at multiples of `block` rows.
function parts.range(ds, o, title, block)
  local rows = #ds
  if o.part and o.rows then error(title .. ": takes part or rows, not both", 0) end
  local list = o.part or o.rows
  if not list then return 1, rows end
  local a, b = math.tointeger(list[1]), math.tointeger(list[2])
  if o.part then
    local blocks = (rows + block - 1) // block
    local first = blocks * (a - 1) // b * block + 1
    local last = math.min(blocks * a // b * block, rows)
    if last < first then
      error(("%s: part %d of %d has no rows: there are %d%s"):format(title, a, b, rows,
        block > 1 and (", and float features are cut at multiples of %d"):format(block) or ""), 0)
    end
    return first, last
  end
  if b > rows then
    error(("%s: rows %d to %d of a data set with %d rows"):format(title, a, b, rows), 0)
  end
  if (a - 1) % block ~= 0 or b % block ~= 0 and b ~= rows then
    error(("%s: rows %d to %d: sums of these float features are cut at multiples of %d rows, as \z
      %d to %d; whole-number features (dtype = \"int16\") take any rows"):format(title, a, b, block,
      (a - 1) // block * block + 1, math.min((b + block - 1) // block * block, rows)), 0)
  end
  return a, b
end

-- Whether two sources have the same contents, as far as their digests show.
local function same_source(a, b)
  return a.rows == b.rows and a.cols == b.cols and a.sha256 == b.sha256
end

--- parts.text(part): a part in words.
function parts.text(part)
  return part.from == 1 and part.to == part.source.rows
    and ("all %d rows of a data set"):format(part.source.rows)
    or ("rows %d to %d of %d"):format(part.from, part.to, part.source.rows)
end

--- parts.check_apart(list): raises an error if two parts have rows in common. Each may have `file`,
--- its name for the sentence.
function parts.check_apart(list)
  for i, a in ipairs(list) do
    for j = 1, i - 1 do
      local b = list[j]
      if same_source(a.source, b.source) and a.from <= b.to and b.from <= a.to then
        error(("%s come twice: in %s and in %s"):format(parts.text{ source = a.source,
          from = math.max(a.from, b.from), to = math.min(a.to, b.to) },
          b.file or "one part", a.file or "another"), 0)
      end
    end
  end
end

-- Adds to `found` the ranges of rows of a source that none of its parts `ranges` covers.
local function add_gaps(found, source, ranges)
  table.sort(ranges, function(a, b) return a.from < b.from end)
  local next_row = 1
  for _, range in ipairs(ranges) do
    if range.from > next_row then
      found[#found + 1] = { source = source, from = next_row, to = range.from - 1 }
    end
    next_row = range.to + 1
  end
  if next_row <= source.rows then
    found[#found + 1] = { source = source, from = next_row, to = source.rows }
  end
end

--- parts.missing(list): the ranges of rows of each source that no part covers.
function parts.missing(list)
  local found, done = {}, {}
  for i, one in ipairs(list) do
    local ranges = {}
    for j = i, done[i] and 0 or #list do
      if same_source(one.source, list[j].source) then
        done[j], ranges[#ranges + 1] = true, list[j]
      end
    end
    if #ranges > 0 then add_gaps(found, one.source, ranges) end
  end
  return found
end

--- parts.listed(list): up to three parts in words.
function parts.listed(list)
  local text = {}
  for i = 1, math.min(#list, 3) do text[i] = parts.text(list[i]) end
  return table.concat(text, ", ")
    .. (#list > 3 and (" and %d more ranges"):format(#list - 3) or "")
end

--- parts.joined(list): a sorted copy in which adjacent parts of one source are one part.
function parts.joined(list)
  local sorted, made = table.move(list, 1, #list, 1, {}), {}
  table.sort(sorted, function(a, b)
    local x, y = a.source, b.source
    if x.sha256 ~= y.sha256 then return x.sha256 < y.sha256 end
    if x.rows ~= y.rows then return x.rows < y.rows end
    return a.from < b.from
  end)
  for _, part in ipairs(sorted) do
    local last = made[#made]
    if last and same_source(last.source, part.source) and last.to + 1 == part.from then
      last.to = part.to
    else
      made[#made + 1] = { source = part.source, from = part.from, to = part.to }
    end
  end
  return made
end

--- parts.check(list): whether a value from a file is a valid list of parts.
function parts.check(list)
  if type(list) ~= "table" then return false end
  local function whole(value, low) return math.type(value) == "integer" and value >= low end
  for _, part in ipairs(list) do
    local source = type(part) == "table" and part.source
    if type(source) ~= "table" or not whole(source.rows, 1) or not whole(source.cols, 1)
      or type(source.sha256) ~= "string" or not whole(part.from, 1)
      or not whole(part.to, part.from) or part.to > source.rows then
      return false
    end
  end
  return true
end

return parts
