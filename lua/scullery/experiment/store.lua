--- The results of an experiment on disk: FOLDER/NAME/results.jsonl, a header line and one line of
--- JSON for each cell that ran. Several runs and workers may have it open; core.journal_* define
--- the guarantees about its lines. Packed results (gzip) are in results.jsonl.gz beside it and come
--- first; nothing is added to them.
local core = require "scullery.core"
local folders = require "scullery.base.folders"
local lines = require "scullery.experiment.lines"
local options = require "scullery.base.options"

local store = {}
store.__index = store

local FORMAT, VERSION = "scullery experiment", 1

local function fail(...) error(string.format(...), 0) end

--- store.check_name(name): raises an error unless the name is valid for one folder.
function store.check_name(name)
  if type(name) ~= "string" or not name:find("^[%w_][%w_.-]*$") or #name > 100 then
    fail("option 'name' takes up to 100 letters, digits, '_', '-' and '.', the first a letter, \z
      digit or '_', and got %s", options.show(name))
  end
  return name
end

--- store.path(folder, name): the path of the experiment of that name.
function store.path(folder, name)
  return (folder:gsub("(.)/+$", "%1")) .. "/" .. name
end

-- ------------ lines

local function check_header(self, header)
  if type(header) ~= "table" or header.format ~= FORMAT then
    fail("%s: its first line is not that of an experiment's results", self.file)
  end
  if header.version ~= VERSION then
    fail("%s: it has version %s of its format, and this Scullery reads version %d", self.file,
      options.show(header.version), VERSION)
  end
  for _, name in ipairs{ "name", "created" } do
    if type(header[name]) ~= "string" then
      fail("%s: line 1: '%s' takes a text, and got %s", self.file, name,
        options.show(header[name]))
    end
  end
  self.header = header
end

local function refuse(self, why)
  fail("%s: line %d is damaged: %s%s", self.file, self.lines, why, self.lines > 1
    and ". Remove the line: a cell without a line runs again" or "")
end

local function add_line(self, text)
  self.lines = self.lines + 1
  local is_header = self.lines == 1
  local line, told = lines.decode(text, self.summed, is_header)
  if not line then refuse(self, told) end
  self.summed = told
  if is_header then return check_header(self, line) end
  local record = lines.record(line)
  if not record then refuse(self, "its key is not that of its cell") end
  record.place = #self.records + 1
  self.records[record.place] = record
  self.latest[record.key] = record
  if self.check then self.check(record) end
end

local function add_lines(self, text)
  for line in text:gmatch("([^\n]*)\n") do add_line(self, line) end
end

-- ------------ reading and adding

local function new(path)
  return setmetatable({ path = path, file = path .. "/results.jsonl", lines = 0, records = {},
    latest = {} },
    store)
end

-- Reads the packed results first, if there are any.
local function with_packed(path)
  local self, packed = new(path), new(path)
  packed.file = self.file .. ".gz"
  if core.journal_is_there(packed.file) then
    add_lines(packed, core.read_text(packed.file))
    self.header, self.records, self.latest = packed.header, packed.records, packed.latest
  end
  return self
end

--- store.read(path): reads the existing results without a lock; an incomplete last line is ignored.
--- nil if there are none, or only an incomplete header.
function store.read(path)
  local self = with_packed(path)
  local text = core.journal_is_there(self.file) and core.read_text(self.file) or ""
  if text == "" then return self.header and self or nil end
  add_lines(self, text)
  if not self.header and text:sub(1, 1) == "{" then return nil end
  if not self.header then fail("%s: it has no whole line", self.file) end
  return self
end

--- store.open(path, name): opens the results for adding; creates the file if it is missing.
function store.open(path, name)
  local self = with_packed(path)
  folders.make(path)
  self.journal = core.journal_open(self.file, lines.seal(core.json_encode{ format = FORMAT,
    version = VERSION, name = name, created = os.date("!%Y-%m-%dT%H:%M:%SZ") }))
  self:refresh()
  return self
end

--- store:refresh(): reads the lines that were added by this run and others.
function store:refresh()
  add_lines(self, (core.journal_read(self.journal)))
end

--- store:watch(check): check(record) is called for every existing record, and for later ones.
function store:watch(check)
  for _, record in ipairs(self.records) do check(record) end
  self.check = check
end

--- store:add(record): adds a record; it is on disk when the call returns.
function store:add(record)
  core.journal_add(self.journal, lines.encode(record))
  self:refresh()
end

local function place_of(key) return tonumber(key:sub(1, 14), 16) end

--- store:claim(key): claims the cell for this run; true if that succeeds.
function store:claim(key) return core.journal_claim(self.journal, place_of(key)) end

--- store:disclaim(key): releases the claim on the cell.
function store:disclaim(key) core.journal_disclaim(self.journal, place_of(key)) end

--- store:finished(key, start, retry, code): true if the cell does not need to run: it was tried
--- after the record `start`, or it is done, or it failed and retry is false. code: the digest of
--- the function; results of another one do not count. Without it they do.
function store:finished(key, start, retry, code)
  local record = self.latest[key]
  if not record then return false end
  if record.place > start then return true end
  if code and record.run and record.run ~= code then return false end
  return record.status == "done" or not retry
end

return store
