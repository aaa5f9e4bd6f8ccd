--- Files of the format of saved models, taken apart and put together by hand, with the digest that
--- makes any of them a whole one: for tests of what lies behind the digest.
local core = require "scullery.core"
local support = require "support"

local file = {}

local ZEROS = ("0"):rep(64)

--- file.header(entries[, description]): a header whose arrays are `entries`, JSON between commas.
function file.header(entries, description)
  return ('{"__metadata__":{"sha256":"%s","scullery":%s}%s%s}'):format(ZEROS,
    core.json_encode(description or "{}"), entries == "" and "" or ",", entries)
end

--- file.text(header, data): the bytes of a file, padded, not signed.
function file.text(header, data)
  header = header .. (" "):rep(-#header % 8)
  return ("<I8"):pack(#header) .. header .. data
end

--- file.parts(bytes): header without its padding, and data.
function file.parts(bytes)
  local length = ("<I8"):unpack(bytes)
  return bytes:sub(9, 8 + length):gsub(" +$", ""), bytes:sub(9 + length)
end

--- file.sign(path, bytes): write the bytes with the digest that they need, where the place for it
--- is found.
function file.sign(path, bytes)
  local from, to = bytes:find('"sha256":"' .. ("[0-9a-f]"):rep(64) .. '"', 1)
  if not from then return support.write(path, bytes) end
  from, to = from + 10, to - 1
  support.write(path, bytes:sub(1, from - 1) .. ZEROS .. bytes:sub(to + 1))
  return support.write(path, bytes:sub(1, from - 1) .. core.sha256(path) .. bytes:sub(to + 1))
end

--- file.write(path, header, data): a signed file.
function file.write(path, header, data) return file.sign(path, file.text(header, data)) end

return file
