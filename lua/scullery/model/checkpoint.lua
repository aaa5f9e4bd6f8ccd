--- Checkpoints: files from which a long fit or search goes on after its process was ended, with the
--- same bits. At PATH is a journal: a line about what the work is, then results of finished pieces
--- of it. PATH.sums, PATH.passes and PATH.state are the engine's (core/model/checkpoint.h).
local core = require "scullery.core"
local description = require "scullery.model.description"
local options = require "scullery.base.options"
local parts = require "scullery.model.sums_parts"
local recipe = require "scullery.model.recipe"
local warn = require "scullery.base.warn"

local checkpoint = {}
checkpoint.__index = checkpoint

local BEGINNING = "{\"format\":\"scullery checkpoint\","
local VERSION = 1
local ENDINGS = { "", ".sums", ".passes", ".state" }

--- checkpoint.rules: the options of p:fit and p:search about checkpoints.
checkpoint.rules = {
  checkpoint = { test = function(v) return type(v) == "string" and v ~= "" end,
    takes = "the path of a file" },
  every = { type = "number", low = 0, high = 1e9, default = 60 },
  restart = { type = "boolean", default = false } }

--- checkpoint.check(title, given): raises an error for restart without a checkpoint. `every` may
--- stay where a script leaves the checkpoint out: a line says that nothing is stored.
function checkpoint.check(title, given)
  if type(given) ~= "table" or given.checkpoint ~= nil then return end
  if given.restart then error(title .. ": option 'restart' goes with checkpoint = path", 0) end
  if given.every then
    warn(title .. ": option 'every' without checkpoint = path: nothing is stored")
  end
end

-- ------------ what the work is

-- A digest of a value and of the matrices in it.
local function digest(value)
  local arrays, names = {}, {}
  local said = { core.json_encode(description.encode(value, arrays, "a")) }
  for name in pairs(arrays) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    said[#said + 1] = name
    if core.is_matrix(arrays[name]) then said[#said + 1] = core.fingerprint(arrays[name]) end
  end
  return core.digest(table.concat(said, "\n"))
end

-- What determines the bits of the work, by the name that a message gives it.
local function facts_of(p, ds, work)
  local own = {}
  for name in pairs(recipe.own_options) do own[name] = p[name] end
  local source = parts.source(ds)
  for _, name in ipairs{ "X", "y", "weights", "groups" } do
    source[name] = ds[name] and core.checksum(ds[name])
  end
  source.classes, source.names = ds.classes, ds.names
  local numbers = ("%s %s"):format(p.dtype, p.features and p.features.dtype)
  return { version = VERSION, numbers = numbers, scullery = core.version,
    instructions = core.instruction_set(),
    pipeline = digest{ stages = recipe.given_stages(p), options = own },
    data = digest(source), work = digest(work) }
end

local names = { { "scullery", "was written by another version of Scullery" },
  { "instructions", "was written with other instructions of the processor" },
  { "numbers", "is of another type of numbers (option 'dtype')" },
  { "pipeline", "is of another pipeline" }, { "data", "is of other data" },
  { "work", "is of another search or fit" } }

-- Why a checkpoint with this first line does not belong to the work; nil if it does.
local function unlike(line, facts)
  local ok, header = pcall(core.json_decode, line)
  if not ok or type(header) ~= "table" then return "has a damaged first line" end
  if header.version ~= facts.version then return "has a format that this version does not read" end
  for _, one in ipairs(names) do
    if header[one[1]] ~= facts[one[1]] then return one[2] end
  end
  return nil
end

-- ------------ opening

-- Raises an error if there is a file at the path that is not a checkpoint: it is never changed. One
-- that was cut in its first line is told.
local function check_file(title, path)
  local file <close> = io.open(path, "rb")
  local first = file and file:read(#BEGINNING) or ""
  if first ~= BEGINNING:sub(1, #first) then
    error(("%s: checkpoint = %s: there is a file of that name that is not a checkpoint"):format(
      title, options.show(path)), 0)
  end
  if first ~= "" and (file:read("L") or ""):sub(-1) ~= "\n" then
    warn(("%s: the checkpoint %s was cut in its first line, which is written again"):format(title,
      path))
  end
end

-- The journal, which no other process uses; second: its lines.
local function claim(title, path, header)
  local journal = core.journal_open(path, header)
  if not core.journal_claim(journal, 0) then
    error(("%s: the checkpoint %s is being written by another process"):format(title, path), 0)
  end
  return journal, (core.journal_read(journal))
end

-- Reads the results of finished pieces of the work.
local function read_results(self, text)
  local first = true
  for line in text:gmatch("([^\n]*)\n") do
    if not first then
      local ok, one = pcall(core.json_decode, line)
      if not ok or type(one) ~= "table" or type(one.key) ~= "string" then
        error(("%s: the checkpoint %s has a damaged line: restart = true begins anew"):format(
          self.title, self.path), 0)
      end
      self.results[one.key] = one
    end
    first = false
  end
end

-- The checkpoint at the path whose journal is claimed and has this text.
local function opened(self, text, facts, header, o)
  local why = unlike(text:match("^[^\n]*"), facts)
  if why and not o.restart then
    error(("%s: the checkpoint %s %s: give another file, or restart = true to begin anew and \z
      replace it"):format(self.title, self.path, why), 0)
  end
  if o.restart then
    for _, ending in ipairs(ENDINGS) do os.remove(self.path .. ending) end
    self.journal, text = claim(self.title, self.path, header)
  end
  read_results(self, text)
  self.handle = core.checkpoint_open(self.path, core.digest(header), o.every)
end

--- checkpoint.open(title, p, ds, o, work): the checkpoint of o.checkpoint, o.every and o.restart
--- for this work on the data set; nil without o.checkpoint. work: what determines the result
--- besides pipeline and data. Raises an error if the files are of other work, unless o.restart,
--- which replaces them. To be closed.
function checkpoint.open(title, p, ds, o, work)
  if not o.checkpoint then return nil end
  if core.process_count() > 1 then
    error(title .. ": checkpoints are of one process; for several, sum parts: p:sums(ds, { part = \z
      { i, n }, save = path }), which any number of processes may do again", 0)
  end
  check_file(title, o.checkpoint)
  local facts = facts_of(p, ds, work)
  local header = BEGINNING .. core.json_encode(facts):sub(2) .. "\n"
  local self = setmetatable({ title = title, path = o.checkpoint, results = {}, prefix = "" },
    checkpoint)
  local text
  self.journal, text = claim(title, self.path, header)
  local ok, message = pcall(opened, self, text, facts, header, o)
  if ok then return self end
  self:close()
  error(message, 0)
end

--- c:close(): lets other processes use the files.
function checkpoint:close()
  core.journal_disclaim(self.journal, 0)
  self.handle = nil
end
checkpoint.__close = checkpoint.close

-- ------------ pieces of the work

--- c:result(key, make): the result of a finished piece of the work, a table: from the file if it is
--- there, otherwise of make(), which is then stored. c.prefix: a text before all keys.
function checkpoint:result(key, make)
  key = self.prefix .. key
  if not self.results[key] then
    local arrays = {}
    local text = core.json_encode{ key = key, value = description.encode(make(), arrays, "value") }
    assert(next(arrays) == nil, "a result of a checkpoint has a matrix")
    core.journal_add(self.journal, text .. "\n")
    self.results[key] = core.json_decode(text)
  end
  return description.decode(self.results[key].value)
end

--- c:begin(part[, sums]): what follows is this part of the work: a whole number for each series of
--- passes that is repeated or skipped as one. sums: a number for each set of sums over rows; 0 by
--- default. Returns the engine's checkpoint, for a training.
function checkpoint:begin(part, sums)
  core.checkpoint_begin(self.handle, part, sums or 0)
  return self.handle
end

return checkpoint
