--- Freeze the header: pack core/include/scullery into tests/interface/v1.txt.gz, and its layout
--- into tests/interface/v1.inc.gz.
---   build/scullery tests/interface/freeze.lua        (from the root of the source)
--- Run it after an addition that plugin/base.h allows: a member at the end of a table, a constant
--- or a macro; interface_test says which. A member of version 1 that moves or changes is a mistake
--- in the header: mend that, and freeze nothing. The copy has no comments: they may change.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local header = require "header"
local write = require("support").write

-- Without time and name, so that the same text is the same file.
local function write_packed(path, text)
  local pipe = assert(io.popen(("gzip -9n > '%s'"):format(path), "w"))
  pipe:write(text)
  assert(pipe:close(), path)
end

local function run(command)
  assert(os.execute(command), "failed: " .. command)
end

local files = header.files("core/include")
write_packed("tests/interface/v1.txt.gz", header.pack(files))

-- A program that prints the table: the compiler knows the numbers.
local parsed = header.parse(files)
local lines = { "#include <scullery/plugin.h>", "#include <stdio.h>", "int main(void) {" }
local function print_line(format, ...)
  lines[#lines + 1] = ("printf(\"%s\\n\", %s);"):format(format, table.concat({ ... }, ", "))
end
for _, one in ipairs(parsed.structs) do
  local name = one.name
  print_line(("%s(%s, %%zu)"):format(one.is_table and "TABLE" or "RECORD", name),
    ("sizeof(%s)"):format(name))
  for _, member in ipairs(one.members) do
    print_line(("MEMBER(%s, %s, %%zu, %%zu)"):format(name, member.name),
      ("offsetof(%s, %s)"):format(name, member.name),
      ("sizeof(((%s *)0)->%s)"):format(name, member.name))
  end
end
local named = {}
for name in pairs(parsed.macros) do named[#named + 1] = name end
table.sort(named)
for _, name in ipairs(named) do
  if name:find("^SCL_LEAST_") then
    local type = "scl_" .. name:sub(#"SCL_LEAST_" + 1):lower()
    print_line(("LEAST(%s, %s, %%zu)"):format(name, type), ("(size_t)%s"):format(name))
  end
end
for _, constant in ipairs(parsed.constants) do
  print_line(("VALUE(%s, %%d)"):format(constant.name), ("(int)%s"):format(constant.name))
end
lines[#lines + 1] = "return 0; }"

local program = os.tmpname()
write(program .. ".c", table.concat(lines, "\n") .. "\n")
run(("%s -std=c11 -Icore/include -o %s %s.c"):format(os.getenv "CC" or "cc", program, program))
local output = assert(io.popen(program))
write_packed("tests/interface/v1.inc.gz", [[
/* Interface 1 in memory, on LP64: bytes of tables and records, place and bytes of their members,
 * the least size of each table, and constants. Written by tests/interface/freeze.lua. */
]] .. output:read("a"))
output:close()
os.remove(program)
os.remove(program .. ".c")
