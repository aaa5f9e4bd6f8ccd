--- The system's C compiler, run without a shell.
local core = require "scullery.core"
local fail = require "scullery.base.fail"

local compiler = {}

local PATIENCE = 300 -- seconds that one run may take

--- compiler.words(text): a command or flags as a list of words: a list, or a text split at spaces.
function compiler.words(text)
  if type(text) == "table" then return text end
  local list = {}
  for word in (text or ""):gmatch("%S+") do list[#list + 1] = word end
  return list
end

--- compiler.command(asked, is_cpp): the words of the compiler command: `asked`, $CC or cc; for C++
--- $CXX or c++.
function compiler.command(asked, is_cpp)
  local named = asked or os.getenv(is_cpp and "CXX" or "CC")
  local words = compiler.words(named)
  if #words > 0 then return words end
  return { is_cpp and "c++" or "cc" }
end

--- compiler.run(command, words[, input]): { output, message, status, ... } from core.run_program.
--- Raises an error if the compiler is missing, is ended by a signal or takes too long.
function compiler.run(command, words, input)
  local preloaded = os.getenv "LD_PRELOAD" -- the sanitizer must not check the compiler
  local all = preloaded and preloaded ~= "" and { "env", "-u", "LD_PRELOAD" } or {}
  table.move(command, 1, #command, #all + 1, all)
  table.move(words, 1, #words, #all + 1, all)
  local done = core.run_program(all, PATIENCE, input)
  if not done or all[1] == "env" and done.status == 127 then
    local is_cpp = command[1]:find("++", 1, true)
    fail("there is no compiler '%s' (Debian: apt-get install %s); $%s or the option 'compiler' \z
      names another", command[1], command[1]:find("clang", 1, true) and "clang"
      or is_cpp and "g++" or "gcc libc6-dev", is_cpp and "CXX" or "CC")
  end
  if done.late then fail("%s did not end in %d s", command[1], PATIENCE) end
  if done.signal then fail("%s was ended by a signal: %s", command[1], done.signal_name) end
  return done
end

local runtimes = { address = "asan", thread = "tsan", undefined = "ubsan", leak = "lsan" }
local versions = {}

--- compiler.version(command): the output of --version; cached.
function compiler.version(command)
  local key = table.concat(command, "\0")
  if not versions[key] then
    local done = compiler.run(command, { "--version" })
    if done.status ~= 0 then
      fail("'%s' is not a compiler: %s --version fails with %s", command[1], command[1],
        done.message:match("[^\n]+") or "status " .. done.status)
    end
    versions[key] = done.output
  end
  return versions[key]
end

--- compiler.runtime(command, sanitizer): the shared library that the sanitizer needs in the
--- process, located by the compiler; nil if it is not found.
function compiler.runtime(command, sanitizer)
  local short = runtimes[sanitizer]
  if not short then return nil end
  local clang = compiler.version(command):find("clang", 1, true)
  local machine = clang and compiler.run(command, { "-dumpmachine" }).output:match("^[^-\n]+") or ""
  local file = clang and ("libclang_rt.%s-%s.so"):format(short == "ubsan" and "ubsan_standalone"
    or short, machine) or ("lib%s.so"):format(short)
  local path = compiler.run(command, { "-print-file-name=" .. file }).output:match("^[^\n]+")
  return path and path:find("/", 1, true) and (core.real_path(path) or path) or nil
end

return compiler
