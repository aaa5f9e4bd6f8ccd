-- Packs results.jsonl of experiments into results.jsonl.gz beside it, as scripts/cells holds them,
-- and the data of pictures (NAME.csv) into NAME.csv.gz, as docs/gallery holds them.
--
--     scullery scripts/pack.lua experiments/NAME [experiments/OTHER ...]
--     scullery scripts/pack.lua docs/gallery/NAME.csv [...]
--
-- The key and the seed of a cell are left out, as they follow from the cell itself; so is the
-- checksum at the end of each line, as gzip has its own. Results are rounded to ten significant
-- digits, where the tables show nine at most; the seconds of a cell and its bytes of memory to
-- two; the data of pictures to four. An experiment that was packed before is packed again, with the
-- lines added since.
local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  assert(pipe:close(), "failed: " .. command)
  return text
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- The text with every number that has a decimal point rounded to `digits` significant digits.
local function rounded(text, digits)
  return (text:gsub("%f[%w.-]%-?%d+%.%d+[eE]?[+-]?%d*%f[^%w.]", function(number)
    local short = ("%%.%dg"):format(digits):format(tonumber(number))
    return #short < #number and short or nil
  end))
end

local function shortened(line)
  local checksum = ',"checksum":"' .. ("%x"):rep(16) .. '"}$'
  local key = ',"key":"' .. ("%x"):rep(64) .. '",'
  line = line:gsub(checksum, "}"):gsub(key, ","):gsub(',"seed":%d+,"status"', ',"status"')
  line = line:gsub('"result":%b{}', function(result) return rounded(result, 10) end)
  line = line:gsub('"memory":(%d+)', function(bytes)
    return ('"memory":%d'):format(math.tointeger(tonumber(("%.2g"):format(bytes))))
  end)
  local function brief(seconds) return rounded(seconds, 2) end
  return (line:gsub('"processor_seconds":[%d.e+-]+', brief)
    :gsub('"seconds":[%d.e+-]+,"status"', brief))
end

-- Writes the lines to path.gz and removes the file at `path`.
local function pack(path, lines)
  local packed = assert(io.popen("gzip -9n > " .. quote(path .. ".gz.new"), "w"))
  packed:write(table.concat(lines, "\n"), "\n")
  assert(packed:close())
  assert(os.rename(path .. ".gz.new", path .. ".gz"))
  os.remove(path)
  print(("%s.gz: %d lines"):format(path, #lines))
end

local function pack_experiment(folder)
  local path, lines = folder .. "/results.jsonl", {}
  local was_packed = exists(path .. ".gz")
  if was_packed then
    for line in output_of("gzip -dc " .. quote(path .. ".gz")):gmatch("[^\n]+") do
      lines[#lines + 1] = shortened(line)
    end
  end
  if exists(path) then
    local first = true
    for line in io.lines(path) do
      if not (first and was_packed) then lines[#lines + 1] = shortened(line) end
      first = false
    end
  end
  assert(#lines > 0, folder .. " holds no results")
  pack(path, lines)
end

for _, path in ipairs(arg) do
  if path:find "%.csv$" then
    local lines = {}
    for line in io.lines(path) do lines[#lines + 1] = rounded(line, 4) end
    pack(path, lines)
  else
    pack_experiment(path)
  end
end
