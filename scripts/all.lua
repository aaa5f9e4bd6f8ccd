-- Runs the scripts that reproduce the papers' tables and figures, one after another, and writes
-- the page scripts/README.md from what they found.
--
--     scullery scripts/all.lua [--quick] [--out DIR] [--only rkhsw/table3] [--page] [--to DIR]
--         [--mixed] [--check PERCENT [--cells DIR] [--record FILE]]
--
-- Full runs take hours in all; each goes on where it was when it is started again. --quick runs
-- the short forms, on shipped or generated data, and writes no page. --only runs one script, or the
-- scripts of a folder. --page runs nothing, and writes the page and its pictures from what lies in
-- --out to the folder --to (scripts). The text before the papers is that of scripts/guide.md.
--
-- --check runs some recorded cells again, and says whether their results are the same; --record
-- FILE adds what it found to that file. With --page --record FILE each section has its lines of it;
-- checked.csv is that of the recorded cells.
--
-- A page of cells that unlike builds ran is refused, as times and last digits of one build are not
-- those of another; --mixed writes it. A build is the version, the commit, the instruction set and
-- the number of threads.
local sc = require "scullery"
local source = arg[0]:match("^(.*)/[^/]*$") or "."
local args = sc.arguments{ quick = false, out = "out", only = "", page = false, to = source,
  mixed = false, check = 0, cells = source .. "/cells", record = "" }

local papers = {
  { "rks", "Weighted sums of random kitchen sinks (Rahimi and Recht 2008)",
    "figure1 figure2 theorem1 losses joint" },
  { "maxout", "Random maxout features (Mroueh, Rennie and Goel 2015)",
    "figure1 figure2 table1 table2 table3 theorem1 theorem2 codes" },
  { "sparse", "Additive function approximation in the brain (Harris 2019)",
    "figure1 figure2 figure3 figure4 table1 kernels theorem1" },
  { "bases", "Uniform approximation of functions with random bases (Rahimi and Recht 2008)",
    "figure1 figure2 figure3 table1 theorems" },
  { "rkhsw", "RKHS weightings of functions (Dubé and Marchand 2023)",
    "figure1 table2 table3 adaboost instantiations theorem8 theorem11 lemma12" },
  { "mnist", "MNIST as a whole", "error_against_seconds width_and_lambda patches" },
}

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Whether the script ended well; Ctrl-C in it ends this one.
local function execute(name, out, more)
  local ok, how, code = os.execute(("%s %s --out %s%s %s"):format(quote(arg[-1]),
    quote(source .. "/" .. name .. ".lua"), quote(out), args.quick and " --quick" or "", more))
  if how == "signal" and code == 2 then error("interrupted!", 0) end
  return ok
end

local function run(name)
  local begun = sc.clock()
  print("== " .. name)
  local ok = execute(name, args.out, "")
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

local function section_text(name)
  return read(("%s/%s%s.md"):format(args.out, name, args.quick and "_quick" or ""))
end

-- Refuses cells of unlike builds, which the last lines of sections tell: "NAME: 12 cells done; ...;
-- by BUILD.", or "by BUILD (10 cells); by OTHER (2 cells)."; or "Computed with this page by BUILD."
local function check_builds(names)
  local of, list = {}, {}
  local function add(set, build)
    if not of[build] then of[build], list[#list + 1] = {}, build end
    table.insert(of[build], set)
  end
  for _, name in ipairs(names) do
    local text = "\n" .. (section_text(name) or "")
    for set, said in text:gmatch("\n([%w_.-]+): %d+ cells? done([^\n]*)%.") do
      for build in said:gmatch("; by ([^;]+)") do add(set, (build:gsub(" %(%d+ cells%)$", ""))) end
    end
    for build in text:gmatch("\nComputed with this page by ([^\n]+)%.") do add(name, build) end
  end
  for i, build in ipairs(list) do
    list[i] = ("%s ran %s"):format(build, table.concat(of[build], ", "))
  end
  if #list < 2 or args.mixed then return end
  error(("the page would mix cells of unlike builds: %s. Run those of one build, or give --mixed")
    :format(table.concat(list, "; ")), 0)
end

-- What --check found of each experiment, as checked.csv has it: { again, alike, commit } by name.
local function read_checks(path)
  local found = {}
  for name, again, alike, commit in (read(path) or ""):gmatch "([^\n,]+),(%d+),(%d+),([%w+]+)\n" do
    found[name] = { again, alike, commit }
  end
  return found
end

local function record_checks(list)
  local found, lines = read_checks(args.record), {}
  for _, one in ipairs(list) do found[one[1]] = { table.unpack(one, 2) } end
  for name, one in pairs(found) do lines[#lines + 1] = name .. "," .. table.concat(one, ",") end
  table.sort(lines)
  local file = assert(io.open(args.record, "w"))
  assert(file:write("experiment,again,alike,commit\n", table.concat(lines, "\n"), "\n")):close()
end

-- The text with a sentence on the cells that another build ran too, behind each experiment's line.
local function with_checks(text, found)
  return (text:gsub("\n(([%w_.-]+): %d+ cells? done[^\n]*)", function(line, name)
    local one = found[name]
    return one and ("\n%s Also run by commit %s: %s of %s cells have the same results to ten \z
      digits."):format(line, one[3], one[2], one[1])
  end))
end

-- The section of a script: its pictures are copied beside it.
local function section(name)
  local text = section_text(name)
  if not text then
    print(("%s/%s.md is not there"):format(args.out, name))
    return nil
  end
  local folder = name:match("^[^/]*")
  text = with_checks(text, read_checks(args.record))
  return (text:gsub("!%[(.-)%]%((.-)%)", function(title, picture)
    os.execute("mkdir -p " .. quote(args.to .. "/" .. folder))
    local file = assert(io.open(args.to .. "/" .. folder .. "/" .. picture, "w"))
    assert(file:write(assert(read(args.out .. "/" .. folder .. "/" .. picture)))):close()
    return ("![%s](%s/%s)"):format(title, folder, picture)
  end):gsub("^(### .-\n)", ("%%1\n[%s.lua](%s.lua)\n"):format(name, name)))
end

local function write_page()
  local parts, names = { assert(read(source .. "/guide.md")) }, {}
  for _, paper in ipairs(papers) do
    for name in paper[3]:gmatch("%S+") do names[#names + 1] = paper[1] .. "/" .. name end
  end
  check_builds(names)
  for _, paper in ipairs(papers) do
    parts[#parts + 1] = "## " .. paper[2] .. "\n"
    for name in paper[3]:gmatch("%S+") do parts[#parts + 1] = section(paper[1] .. "/" .. name) end
  end
  local file = assert(io.open(args.to .. "/README.md", "w"))
  assert(file:write(table.concat(parts, "\n"))):close()
  print("written: " .. args.to .. "/README.md")
end

local function is_wanted(name)
  return args.only == "" or args.only == name or args.only == name:match "^[^/]*"
end

if args.check < 0 or args.check > 100 then
  error("--check takes a number from 0 to 100, and got " .. args.check, 0)
elseif args.check > 0 then
  local folder = os.tmpname()
  os.remove(folder)
  local same, list = dofile(source .. "/check.lua")(function(name, settings)
    return execute(name, folder, settings .. " > /dev/null")
  end, { cells = args.cells, share = args.check, out = folder, quick = args.quick,
    wanted = is_wanted })
  os.execute("rm -rf " .. quote(folder))
  if args.record ~= "" then record_checks(list) end
  os.exit(same and 0 or 1, true)
end

local failed, found = {}, false
for _, paper in ipairs(papers) do
  for script in paper[3]:gmatch("%S+") do
    local name = paper[1] .. "/" .. script
    local wanted = is_wanted(name)
    found = found or wanted
    if wanted and not args.page and not run(name) then failed[#failed + 1] = name end
  end
end
if not found then
  error("--only takes a folder or a script such as rkhsw/table3, and got '" .. args.only .. "'", 0)
end
if #failed > 0 then error("these failed: " .. table.concat(failed, ", "), 0) end
if args.page or not args.quick then write_page() end
