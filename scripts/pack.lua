-- Packs results.jsonl of experiments into results.jsonl.gz beside it, as scripts/cells holds them.
--
--     scullery scripts/pack.lua experiments/NAME [experiments/OTHER ...]
--
-- What follows from a cell (its key and its seed) is left out, and the checksums that lines end in,
-- as gzip has one of its own. What was packed before is packed again, with what was added since.
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

local function shortened(line)
  local checksum = ',"checksum":"' .. ("%x"):rep(16) .. '"}$'
  local key = ',"key":"' .. ("%x"):rep(64) .. '",'
  return (line:gsub(checksum, "}"):gsub(key, ","):gsub(',"seed":%d+,"status"', ',"status"'))
end

for _, folder in ipairs(arg) do
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
  local packed = assert(io.popen("gzip -9n > " .. quote(path .. ".gz.new"), "w"))
  packed:write(table.concat(lines, "\n"), "\n")
  assert(packed:close())
  assert(os.rename(path .. ".gz.new", path .. ".gz"))
  os.remove(path)
  print(("%s.gz: %d lines"):format(path, #lines))
end
