--- sc.plugin.compile: compiles the source of a plugin with the system's compiler into the user's
--- cache and loads it.
local core = require "scullery.core"
local compiler = require "scullery.plugin.compiler"
local fail = require "scullery.base.fail"
local folders = require "scullery.base.folders"
local options = require "scullery.base.options"
local sources = require "scullery.plugin.sources"

local compile = {}

local PRIVATE, WRITABLE, PATIENCE = tonumber("700", 8), tonumber("022", 8), 20

local function is_words(value)
  if type(value) == "string" then return true end
  if type(value) ~= "table" or getmetatable(value) then return false end
  for _, word in ipairs(value) do if type(word) ~= "string" then return false end end
  return true
end

local kinds = core.plugin_kinds()
local rules = options.declare("plugin.compile", {
  kind = { type = "string", choices = kinds },
  name = { type = "string" },
  source = { type = "string" },
  options = { type = "table" },
  file = { type = "string" },
  flags = { type = "any", test = is_words, takes = "a text of flags, or a list of them" },
  sanitize = { type = "string" },
  compiler = { type = "string" },
})

-- ------------ the cache

local function is_full(path) return path ~= nil and path:sub(1, 1) == "/" end

-- The folder of compiled objects; refused if another user could write to it.
local function cache()
  local base, home = os.getenv "XDG_CACHE_HOME", os.getenv "HOME"
  if not is_full(base) then base = is_full(home) and home .. "/.cache" end
  if not base then
    fail("there is no folder for compiled plugins: neither XDG_CACHE_HOME nor HOME is a full path")
  end
  local folder = base .. "/scullery/plugins"
  folders.make(base .. "/scullery")
  core.make_folder(folder, PRIVATE)
  local about = core.file_about(folder)
  if not about.folder then fail("%s is not a folder", folder) end
  if not about.own then fail("%s belongs to another user (uid %d)", folder, about.user) end
  if about.mode & WRITABLE ~= 0 then
    fail("others may write to %s, so it cannot be used: remove it, or chmod 700 it",
      folder)
  end
  return folder
end

-- ------------ the compiler

-- The compilation job: source, language and flags.
local function job_of(o)
  local job = { title = o.file or (o.name or "plugin") .. " (source)", file = o.file }
  job.is_cpp = o.file and o.file:find("%.c[cpx][px]?$") ~= nil
  job.command = compiler.command(o.compiler, job.is_cpp)
  local given = { kind = o.kind, name = o.name, source = o.source, options = o.options }
  if o.file then
    local file, message = io.open(o.file, "rb")
    if not file then fail("%s", message) end
    given.source = file:read("a")
    file:close()
  end
  job.given, job.source = given.source, sources.complete(given, job.title)
  job.language = { "-x", job.is_cpp and "c++" or "c", job.is_cpp and "-std=c++20" or "-std=c11" }
  job.flags = { "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-Wall", "-Wextra",
    "-Werror=implicit-function-declaration", "-I" .. core.include_folder() }
  if job.is_cpp then
    table.remove(job.flags, 7) -- an error of C++ in any case
    job.flags[#job.flags + 1] = "-Wno-missing-field-initializers"
  end
  if o.file then table.move({ "-iquote", o.file:match("^(.*)/") or "." }, 1, 2, #job.flags + 1,
    job.flags) end
  if o.sanitize then
    table.move({ "-fsanitize=" .. o.sanitize, "-fno-omit-frame-pointer" }, 1, 2, #job.flags + 1,
      job.flags)
  else
    job.flags[#job.flags + 1] = "-Wl,-z,defs"
  end
  job.own = compiler.words(o.flags)
  return job
end

local function all_words(...)
  local words = {}
  for _, list in ipairs{ ... } do table.move(list, 1, #list, #words + 1, words) end
  return words
end

-- The compiler's messages; a position in generated source is followed by that line.
local function messages(job, text)
  local lines, list = {}, {}
  for line in (job.given .. "\n"):gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
  for line in text:gmatch("[^\n]+") do
    local title, number = line:match("^(.-):(%d+):")
    local shown = title == job.title and not job.file and lines[tonumber(number)]
    if title ~= sources.around or line:find(" error: ", 1, true) then list[#list + 1] = line end
    if shown and line:find("%d: %a") then
      list[#list + 1] = "    " .. shown:match("^%s*(.-)%s*$")
    end
  end
  return table.concat(list, "\n")
end

-- Runs the compiler on the source of the job, on its standard input; raises its messages as an
-- error if it fails.
local function run(job, words)
  local done = compiler.run(job.command, words, job.source)
  local said = done.status ~= 0 and messages(job, done.message)
  if said then
    fail("%s does not compile:\n%s", job.title, said ~= "" and said
      or ("%s printed nothing and ended with status %d"):format(table.concat(job.command, " "),
        done.status))
  end
  return done
end

-- The file name in the cache: a digest of everything that affects the object.
local function key_of(job)
  local text = run(job, all_words(job.language, job.flags, job.own, { "-E", "-" })).output
  local parts = all_words({ core.version, compiler.version(job.command), text }, job.command,
    job.language, job.flags, job.own)
  return core.digest(table.concat(parts, "\0"))
end

-- Compiles the job to the file `path` of the cache: under a name with this process's number first,
-- so that no other process loads an incomplete object.
local function make(job, folder, path)
  -- unfinished objects of processes that have ended
  for _, file in ipairs(core.folder(folder) or {}) do
    local process = file.name:match("%.(%d+)%.part$")
    if process and not core.file_about("/proc/" .. process) then
      os.remove(folder .. "/" .. file.name)
    end
  end
  local part = ("%s.%d.part"):format(path, core.process())
  local ok, result = pcall(run, job, all_words(job.language, { "-g", "-shared", "-o", part },
    job.flags, { "-" }, { "-lm" }, job.own))
  if not ok then
    os.remove(part)
    error(result, 0)
  end
  if not core.file_about(part) then
    fail("'%s' is not a compiler: it wrote no file", job.command[1])
  end
  core.set_mode(part, PRIVATE)
  -- another process may have made and loaded it in the meantime
  if core.file_about(path) then os.remove(part) else assert(os.rename(part, path)) end
  if result.message ~= "" then
    require "scullery.base.warn" (("plugin.compile: %s:\n%s"):format(job.title,
      messages(job, result.message)))
  end
end

-- ------------ sanitizers

local needed = { address = "__asan_init", thread = "__tsan_init", leak = "__lsan_init" }

-- Some sanitizer runtimes must be loaded when the process starts; an error says how.
local function check_runtime(job, sanitize)
  for word in sanitize:gmatch("[^,%s]+") do
    if needed[word] and not core.has_symbol(needed[word]) then
      local path = compiler.runtime(job.command, word) or "the compiler's runtime"
      fail("sanitize = \"%s\": the runtime of \"%s\" must be in the process from its beginning: \z
        start Scullery as LD_PRELOAD=%s scullery ...", sanitize, word, path)
    end
  end
end

-- ------------ loading

-- Opens an object in a child process before this process does. Returns nil, or a sentence if it
-- cannot be opened or is not the requested component.
local function refusal(path, o)
  local text, message, how = core.in_child(PATIENCE, function()
    local list = {}
    for i, info in ipairs(core.plugin_load(path, true)) do
      list[i] = info.kind .. "." .. info.name
    end
    return table.concat(list, "\n")
  end)
  if not text then return how == "error" and options.plain(message) or "opening it " .. message end
  for title in text:gmatch("[^\n]+") do
    local kind, name = title:match("^(.-)%.(.*)$")
    if (o.kind or kind) == kind and (o.name or name) == name then return nil end
  end
  return ("the source has %s, and %s.%s was asked for"):format(text:gsub("\n", ", "), o.kind or "*",
    o.name or "*")
end

--- compile.run(given): see sc.plugin.compile. Returns the list of components.
function compile.run(given)
  local o = options.check("plugin.compile", given, rules, 0)
  if (o.source == nil) == (o.file == nil) then
    fail("plugin.compile: takes one of the options 'source' and 'file'")
  end
  if o.source and not o.source:find "%S" then
    fail("plugin.compile: option 'source' is empty; it takes a formula, or a whole file in C")
  end
  local job = job_of(o)
  if o.sanitize then check_runtime(job, o.sanitize) end
  local folder = cache()
  local path = ("%s/%s.so"):format(folder, key_of(job))
  local was_there = core.file_about(path) ~= nil
  if not was_there then make(job, folder, path) end
  local message = refusal(path, o)
  if message and was_there then -- the cached file may be damaged
    os.remove(path)
    make(job, folder, path)
    message = refusal(path, o)
  end
  if message then
    os.remove(path)
    -- the source's title in place of the object's path
    local from, to = message:find("plugin " .. path, 1, true)
    fail("%s%s", job.title, from == 1 and message:sub(to + 1) or ": " .. message)
  end
  return core.plugin_load(path, true)
end

return compile
