-- The public headers compile in every standard that an author may use, with gcc and with clang,
-- without a warning; and so do plugins of each. The page of the interface has all abilities.
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")
local quote, shell = support.quote, support.shell

local source = os.getenv "SCULLERY_SOURCE" or "."
local WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

-- The oldest clang and gcc call C23 c2x.
local languages = {
  c = { standards = { "c11", "c17", "c2x", "gnu17" }, compilers = { "gcc", "clang" } },
  ["c++"] = { standards = { "c++11", "c++14", "c++17", "c++20", "gnu++20" },
    compilers = { "g++", "clang++" } },
}

-- f(compiler, standard) for each standard of a language that a compiler on this machine knows.
local function each_standard(language, f)
  local ran = 0
  for _, compiler in ipairs(languages[language].compilers) do
    if shell(compiler .. " --version") ~= 0 then
      print("skipped: there is no " .. compiler)
    else
      for _, standard in ipairs(languages[language].standards) do f(compiler, standard) end
      ran = ran + 1
    end
  end
  lu.skipIf(ran == 0, "there is no compiler of " .. language)
end

local function compiles(compiler, standard, language, text, more)
  local line = ("%s -std=%s -x %s %s %s -I %s/core/include -fsyntax-only -"):format(compiler,
    standard, language, WARNINGS, more or "", quote(source))
  local status, _, said = shell(line, text)
  lu.assertEquals({ status, said }, { 0, "" }, compiler .. " -std=" .. standard)
end

-- scullery/plugin.h, scullery/plugin/base.h ...
local function headers()
  local _, out = shell(("cd %s/core/include && find scullery -name '*.h' | sort"):format(
    quote(source)))
  local list = {}
  for name in out:gmatch("[^\n]+") do list[#list + 1] = name end
  lu.assertTrue(#list > 12)
  return list
end

local function all_headers(language)
  local lines = {}
  for _, name in ipairs(headers()) do lines[#lines + 1] = ("#include <%s>\n"):format(name) end
  -- twice, and in the other order
  for i = #lines, 1, -1 do lines[#lines + 1] = lines[i] end
  each_standard(language, function(compiler, standard)
    compiles(compiler, standard, language, table.concat(lines))
  end)
end

TestHeaders = {} -- luacheck: globals TestHeaders

-- A sanitizer has no part in it: once is enough.
function TestHeaders.setUp()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "the plain build tests it")
end

function TestHeaders.test_as_c() all_headers("c") end
function TestHeaders.test_as_cpp() all_headers("c++") end

function TestHeaders.test_each_stands_alone_in_both_languages()
  for _, name in ipairs(headers()) do
    for language, standard in pairs{ c = "c11", ["c++"] = "c++11" } do
      local compiler = languages[language].compilers[1]
      lu.skipIf(shell(compiler .. " --version") ~= 0, "there is no " .. compiler)
      compiles(compiler, standard, language, ("#include <%s>\n"):format(name),
        "-Wno-unused-function")
    end
  end
end

-- Plugins of every kind, with options and abilities.
function TestHeaders.test_plugins_in_every_c()
  for _, name in ipairs{ "sampler/gaussian", "nonlinearity/relu", "kernel/matern",
    "solver/huber/huber" } do
    local text = support.read(("%s/plugins/%s.c"):format(source, name))
    local folders = ("-I %s -I %s"):format(quote(source .. "/plugins"),
      quote(source .. "/plugins/" .. name:match "^(.+)/"))
    each_standard("c", function(compiler, standard)
      compiles(compiler, standard, "c", text, folders)
    end)
  end
end

-- C++20 has designated initialisers; clang's -Wextra asks for all members, and those of nested
-- arrays are C's.
function TestHeaders.test_plugins_in_cpp20()
  local text = support.read(source .. "/tests/plugins/thrower.cpp")
  each_standard("c++", function(compiler, standard)
    if standard:find("20$") then
      compiles(compiler, standard, "c++", text, "-Wno-missing-field-initializers")
    end
  end)
end

-- Before C++20 tables are filled in member by member, in the order of the header.
local CPP11 = [[
#include <scullery/plugin.h>
static void twice(const void *, size_t count, const double *z, double *out) {
  for (size_t j = 0; j < count; j++) out[j] = 2 * z[j];
}
static scl_nonlinearity make_table() {
  scl_nonlinearity table = {};
  table.head = SCL_HEAD(scl_nonlinearity);
  table.kind = SCL_KIND_NONLINEARITY;
  table.spaces = SCL_SPACES_RIDGE;
  table.loop = twice;
  return table;
}
static const scl_nonlinearity table = make_table();
static scl_plugin make_plugin() {
  scl_plugin plugin = {};
  plugin.head = SCL_HEAD(scl_plugin);
  plugin.kind = SCL_KIND_NONLINEARITY;
  plugin.name = "twice";
  plugin.summary = "2 z";
  plugin.doc = "phi(z) = 2 z.";
  plugin.vtable = &table;
  return plugin;
}
const scl_plugin scullery_plugin = make_plugin();
]]

function TestHeaders.test_plugins_in_every_cpp()
  each_standard("c++", function(compiler, standard)
    compiles(compiler, standard, "c++", CPP11, "-Wno-missing-field-initializers")
  end)
end

-- docs/interface.md has each ability.
function TestHeaders.test_abilities_are_described()
  local page, count = support.read(source .. "/docs/interface.md"), 0
  for name in io.popen("cat " .. quote(source) .. "/core/include/scullery/plugin/*.h"):read("a")
    :gmatch('#define SCL_ABILITY_[%u_0-9]+ "scullery%.([%l-]+)/1"') do
    lu.assertStrContains(page, "`" .. name .. "`")
    count = count + 1
  end
  lu.assertTrue(count > 30, count)
end

os.exit(lu.LuaUnit.run())
