-- Runs the scripts that reproduce the papers' tables and figures, one after another, and writes
-- the page scripts/README.md from what they found.
--
--     scullery scripts/all.lua [--quick] [--out DIR] [--only rkhsw/table3] [--page] [--to DIR]
--
-- Full runs take hours in all; each goes on where it was when it is started again. --quick runs
-- the short forms, on shipped or generated data, and writes no page. --only runs one script, or the
-- scripts of a folder. --page runs nothing, and writes the page and its pictures from what lies in
-- --out to the folder --to (scripts). The text before the papers is that of scripts/guide.md.
local sc = require "scullery"
local source = arg[0]:match("^(.*)/[^/]*$") or "."
local args = sc.arguments{ quick = false, out = "out", only = "", page = false, to = source }

local papers = {
  { "rks", "Weighted sums of random kitchen sinks (Rahimi and Recht 2008)",
    "figure1 figure2 theorem1" },
  { "maxout", "Random maxout features (Mroueh, Rennie and Goel 2015)",
    "figure1 figure2 table1 table2 table3 theorem1 codes" },
  { "sparse", "Additive function approximation in the brain (Harris 2019)",
    "figure2 figure3 figure4 table1 kernels" },
  { "bases", "Uniform approximation of functions with random bases (Rahimi and Recht 2008)",
    "figure1 figure2 figure3 table1" },
  { "rkhsw", "RKHS weightings of functions (Dubé and Marchand 2023)",
    "figure1 table2 table3 instantiations" },
  { "mnist", "MNIST as a whole", "error_against_seconds width_and_lambda patches" },
}

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Whether the script ended well; Ctrl-C in it ends this one.
local function run(name)
  local begun = sc.clock()
  print("== " .. name)
  local line = ("%s %s --out %s%s"):format(quote(arg[-1]), quote(source .. "/" .. name .. ".lua"),
    quote(args.out), args.quick and " --quick" or "")
  local ok, how, code = os.execute(line)
  if how == "signal" and code == 2 then error("interrupted!", 0) end
  print(("== %s: %s after %.1f s\n"):format(name, ok and "done" or "FAILED", sc.clock() - begun))
  return ok
end

local function read(path)
  local file = io.open(path, "r")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

-- The section of a script: its pictures are copied beside it.
local function section(name)
  local path = ("%s/%s%s.md"):format(args.out, name, args.quick and "_quick" or "")
  local text = read(path)
  if not text then
    print(path .. " is not there")
    return nil
  end
  local folder = name:match("^[^/]*")
  return (text:gsub("!%[(.-)%]%((.-)%)", function(title, picture)
    os.execute("mkdir -p " .. quote(args.to .. "/" .. folder))
    local file = assert(io.open(args.to .. "/" .. folder .. "/" .. picture, "w"))
    assert(file:write(assert(read(args.out .. "/" .. folder .. "/" .. picture)))):close()
    return ("![%s](%s/%s)"):format(title, folder, picture)
  end):gsub("^(### .-\n)", ("%%1\n[%s.lua](%s.lua)\n"):format(name, name)))
end

local function write_page()
  local parts = { assert(read(source .. "/guide.md")) }
  for _, paper in ipairs(papers) do
    parts[#parts + 1] = "## " .. paper[2] .. "\n"
    for name in paper[3]:gmatch("%S+") do parts[#parts + 1] = section(paper[1] .. "/" .. name) end
  end
  local file = assert(io.open(args.to .. "/README.md", "w"))
  assert(file:write(table.concat(parts, "\n"))):close()
  print("written: " .. args.to .. "/README.md")
end

local failed, found = {}, false
for _, paper in ipairs(papers) do
  for script in paper[3]:gmatch("%S+") do
    local name = paper[1] .. "/" .. script
    local wanted = args.only == "" or args.only == name or args.only == paper[1]
    found = found or wanted
    if wanted and not args.page and not run(name) then failed[#failed + 1] = name end
  end
end
if not found then
  error("--only takes a folder or a script such as rkhsw/table3, and got '" .. args.only .. "'", 0)
end
if #failed > 0 then error("these failed: " .. table.concat(failed, ", "), 0) end
if args.page or not args.quick then write_page() end
