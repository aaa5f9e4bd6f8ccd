--- What a cell prints in a worker: a file with the beginning and the end of it, made at the first
--- byte.
local log = {}
log.__index = log

local HEAD, TAIL = 1 << 18, 1 << 16 -- bytes that are kept

--- log.new(path): a file that is there already is that of an earlier run, and goes. Without a path:
--- for log:last() alone.
function log.new(path)
  if path then os.remove(path) end
  return setmetatable({ path = path, head = path and HEAD or 0, written = 0, left_out = 0,
    tail = {}, held = 0 }, log)
end

-- Keep the end: whole pieces go while enough is left without them.
local function hold(self, bytes)
  table.insert(self.tail, bytes)
  self.held = self.held + #bytes
  while self.held - #self.tail[1] >= TAIL do
    self.held = self.held - #self.tail[1]
    self.left_out = self.left_out + #self.tail[1]
    table.remove(self.tail, 1)
  end
end

--- log:add(bytes): a file that cannot be written is done without.
function log:add(bytes)
  if self.path and self.written == 0 then self.file = io.open(self.path, "wb") end
  local first = bytes:sub(1, self.head - self.written)
  if #first > 0 then
    self.written = self.written + #first
    if self.file then
      self.file:write(first)
      self.file:flush()
    end
  end
  if #first < #bytes then hold(self, bytes:sub(#first + 1)) end
end

--- log:last(): the last line that says something, before a traceback; "" where there is none. Of a
--- log without a path.
function log:last()
  local text, last = table.concat(self.tail), ""
  local message = text:match("^(.*)\nstack traceback:")
  for line in (message or text):gmatch("[^\n]+") do
    if line:find("%S") then last = line end
  end
  return last
end

--- log:finish()
function log:finish()
  if self.file then
    if self.left_out > 0 then
      self.file:write(("\n... %d bytes that were printed here are left out ...\n"):format(
        self.left_out))
    end
    for _, bytes in ipairs(self.tail) do self.file:write(bytes) end
    self.file:close()
  end
  self.tail, self.file = {}, nil
end

return log
