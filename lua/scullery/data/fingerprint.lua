--- Fingerprint of a data set: its shape and SHA-256. Stored in models and experiment records in
--- place of the rows.
local core = require "scullery.core"

local fingerprint = {}

--- fingerprint.of(ds): { rows, cols, sha256 } of a data set; without sha256 if its rows stream.
function fingerprint.of(ds)
  local n, d = ds:size()
  local matrices = { ds.X, ds.y } -- y is nil for unlabelled rows
  return { rows = n, cols = d, sha256 = ds.X and core.fingerprint(table.unpack(matrices)) or nil }
end

local ENDS = 1 << 20 -- bytes of a file's beginning and end

--- fingerprint.of_file(path): the size of a file and a digest of its ends, as text.
function fingerprint.of_file(path)
  local file <close> = assert(io.open(path, "rb"))
  local size = file:seek("end")
  file:seek("set", 0)
  local first = file:read(math.min(size, ENDS)) or ""
  file:seek("set", math.max(size - ENDS, 0))
  local last = file:read("a") or ""
  return ("%d %s"):format(size, core.digest(first .. last))
end

--- fingerprint.agree(t, files): raises an error where processes have read different rows: t.X and
--- t.y, or `files`, of a stream. t.alike: they were read by all together.
function fingerprint.agree(t, files)
  if core.process_count() == 1 or t.alike then return end
  local list = {}
  for i, path in ipairs(files or {}) do list[i] = path .. ": " .. fingerprint.of_file(path) end
  if t.X then list = { core.checksum(t.X), t.y and core.checksum(t.y) } end
  if #list == 0 then return end
  core.process_meet(("data %s (%s)"):format(t.X and ("of %d x %d"):format(t.X:rows(), t.X:cols())
    or "in " .. files[1], core.digest(table.concat(list, "\n")):sub(1, 16)))
end

-- A digest of some rows of a function, and of where they are.
local function some_rows(source, n)
  local PLACES, ROWS, said = 16, 4, {}
  for k = 0, PLACES - 1 do
    local first = 1 + (n - 1) * k // (PLACES - 1)
    local X, y = core.read_rows(source, first, math.min(ROWS, n - first + 1))
    table.insert(said, core.checksum(X) .. (y and core.checksum(y) or ""))
  end
  return core.digest(table.concat(said)):sub(1, 16)
end

--- fingerprint.rows_agree(ds): raises an error where processes have different rows in memory, or a
--- function makes the rows that does not return the same ones in all of them, or when called again.
function fingerprint.rows_agree(ds)
  if core.process_count() == 1 then return end
  if ds.X then return fingerprint.agree{ X = ds.X, y = ds.y } end
  if not ds.source or ds.files then return end
  local n, d = core.source_size(ds.source)
  local digest = some_rows(ds.source, n)
  if some_rows(ds.source, n) ~= digest then
    error("the row function does not return the same rows when it is called again with the same \z
      'first': each of several processes calls it for its part of the rows", 0)
  end
  core.process_meet(("rows of a function, %d x %d (%s)"):format(n, d, digest))
end

-- Identifies what a component computes, where that is not part of Scullery.
local function print_of(info)
  if info.origin == "built in" then return nil end
  if info.digest then return info.digest end -- defined by the script
  -- The name of what was compiled is a digest of its source.
  return info.origin == "compiled" and info.path:match "[^/]*$" or core.sha256(info.path)
end

--- fingerprint.plugins_agree(used): raises an error where the plugin of a component in use (a table
--- with "KIND NAME" as keys) is another one on the machine of process 0.
function fingerprint.plugins_agree(used)
  if core.process_count() == 1 then return end
  local own, lines = {}, {}
  for name in pairs(used) do
    local info = core.plugin_info(name:match "(%S+) (.+)")
    local print = print_of(info)
    own[name] = { print = print or "part of Scullery", path = info.path }
    lines[#lines + 1] = name .. "\t" .. own[name].print
  end
  for name, print in core.process_share("the comparison of plugins", table.concat(lines, "\n"))
    :gmatch "([^\n]*)\t([^\n]*)" do
    if own[name] and own[name].print ~= print then
      error(("the plugin %s, %s, has other bytes than that of process 0 (%s)"):format(name,
        own[name].path or own[name].print, core.process_hosts()[1]), 0)
    end
  end
end

--- fingerprint.models_agree(sha256, used): raises an error where processes load different models,
--- or have different plugins for them.
function fingerprint.models_agree(sha256, used)
  if core.process_count() == 1 then return end
  core.process_meet(("the loading of a file (digest %s)"):format(sha256:sub(1, 16)))
  fingerprint.plugins_agree(used)
end

return fingerprint
