--- The log of the output of a cell in a worker: the beginning and the end, in a file that is
--- created by the first byte.
local clean = require("scullery.base.text").clean
local warn = require "scullery.base.warn"

local log = {}
log.__index = log

local HEAD, TAIL = 1 << 18, 1 << 16 -- sizes of the two parts in bytes

--- log.new(path): a log that replaces the file of an earlier run. Without a path: only for
--- log:last().
function log.new(path)
  if path then os.remove(path) end
  return setmetatable({ path = path, head = path and HEAD or 0, written = 0, left_out = 0,
    tail = {}, held = 0 }, log)
end

-- Stores the end of the output: drops old pieces while at least TAIL bytes remain.
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

-- Warns once for all logs of the process; the cells go on.
local function give_up(self, reason)
  if self.file then pcall(self.file.close, self.file) end
  self.file = nil
  if said then return end
  said = true
  reason = tostring(reason)
  if not reason:find(self.path, 1, true) then reason = self.path .. ": " .. reason end
  warn(("what cells print is not kept: %s; the work goes on"):format(clean(reason)))
end

-- Writes the bytes if the file is open.
local function write(self, bytes)
  if not self.file then return end
  local ok, reason = self.file:write(bytes)
  if ok then ok, reason = self.file:flush() end
  if not ok then give_up(self, reason) end
end

--- log:add(bytes): adds output. The first write error is reported, and no more logs are written.
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

--- log:last(): the last line that is not blank, before a traceback if there is one; "" if there is
--- none. For a log without a path.
function log:last()
  local text, last = table.concat(self.tail), ""
  local message = text:match("^(.*)\nstack traceback:")
  for line in (message or text):gmatch("[^\n]+") do
    if line:find("%S") then last = line end
  end
  return last
end

--- log:finish(): writes the end of the output and closes the file.
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
