--- What a cell prints in a worker: a file with the beginning and the end of it, made at the first
--- byte.
local clean = require("scullery.base.text").clean
local warn = require "scullery.base.warn"

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

local said = false

-- One sentence for all logs of the process; the cells go on.
local function give_up(self, reason)
  if self.file then pcall(self.file.close, self.file) end
  self.file = nil
  if said then return end
  said = true
  reason = tostring(reason)
  if not reason:find(self.path, 1, true) then reason = self.path .. ": " .. reason end
  warn(("what cells print is not kept: %s; the work goes on"):format(clean(reason)))
end

-- The bytes in the file, if it is open.
local function write(self, bytes)
  if not self.file then return end
  local ok, reason = self.file:write(bytes)
  if ok then ok, reason = self.file:flush() end
  if not ok then give_up(self, reason) end
end

--- log:add(bytes): the first file that cannot be written is told, and all are done without.
function log:add(bytes)
  if self.path and self.written == 0 then
    local reason
    self.file, reason = io.open(self.path, "wb")
    if not self.file then give_up(self, reason) end
  end
  local first = bytes:sub(1, self.head - self.written)
  if #first > 0 then
    self.written = self.written + #first
    write(self, first)
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
  if self.left_out > 0 then
    write(self, ("\n... %d bytes that were printed here are left out ...\n"):format(
      self.left_out))
  end
  for _, bytes in ipairs(self.tail) do write(self, bytes) end
  if self.file then self.file:close() end
  self.tail, self.file = {}, nil
end

return log
