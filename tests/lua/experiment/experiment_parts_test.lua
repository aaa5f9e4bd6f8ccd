-- Parts of an experiment that jobs run apart (--part i/N), and their join.
local lu = require "luaunit"
local support = dofile "tests/helpers/support.lua"

-- Each cell appends its name to a file, and fails where the file `bad` names it.
local script = [[
local folder = arg[1]
local exp = sc.experiment{ name = "squares", folder = folder, allow_failures = true,
  cells = { x = { 1, 2, 3, 4, 5, 6, 7 } }, run = function(cell)
    local file = assert(io.open(folder .. "/ran", "a"))
    file:write(cell.x, "\\n")
    file:close()
    local bad = io.open(folder .. "/bad")
    if bad and bad:read "n" == cell.x then error "told to fail" end
    return { square = cell.x ^ 2 }
  end }
for _, row in ipairs(exp.rows) do
  io.write(row.cell.x, "=", row.result and row.result.square or row.status, " ")
end
]]

local function in_folder(f)
  support.in_folder(function(folder)
    local path = support.write(folder .. "/squares.lua", (script:gsub("\\\\", "\\")))
    f(folder, function(words)
      local status, out, err = support.scullery(("%s %s %s"):format(support.quote(path),
        support.quote(folder), words))
      return out, err, status
    end)
  end)
end

local all = "1=1 2=4 3=9 4=16 5=25 6=36 7=49 "

function TestPartsAreJoined()
  in_folder(function(folder, run)
    lu.assertEquals(run "--part 1/3", "1=1 4=16 7=49 ")
    lu.assertEquals(run "--part=3/3", "3=9 6=36 ")
    lu.assertEquals(run "--part 1/3", "1=1 4=16 7=49 ") -- nothing runs again
    lu.assertEquals(run "", all) -- the second part ran here
    lu.assertEquals(support.read(folder .. "/ran"), "1\n4\n7\n3\n6\n2\n5\n")
    lu.assertEquals(run "", all)
  end)
end

function TestTheCommandJoins()
  in_folder(function(folder, run)
    for i = 1, 7 do run(("--part %d/7"):format(i)) end
    local status, out = support.scullery("experiment join " .. support.quote(folder .. "/squares/"))
    lu.assertEquals({ status, out }, { 0, folder .. "/squares: 7 results added, of 7 parts\n" })
    os.execute("rm -r " .. support.quote(folder .. "/squares/parts"))
    lu.assertEquals(run "", all)
    local _, ran = support.read(folder .. "/ran"):gsub("\n", "")
    lu.assertEquals(ran, 7)
  end)
end

-- A cell that failed in its part is replaced by a later result, and never replaces one.
function TestFailuresRunAgain()
  in_folder(function(folder, run)
    support.write(folder .. "/bad", "2")
    lu.assertEquals(run "--part 2/2", "2=failed 4=16 6=36 ")
    lu.assertStrContains(run "", "2=failed ")
    os.remove(folder .. "/bad")
    lu.assertEquals(run "--part 2/2", "2=4 4=16 6=36 ")
    lu.assertEquals(run "", all)
  end)
end

function TestSlurm()
  in_folder(function(folder, run)
    local command = ("%s %s/squares.lua %s --part slurm"):format(support.quote(support.binary),
      folder, folder)
    local _, out = support.shell("SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=11 " ..
      "SLURM_ARRAY_TASK_COUNT=4 " .. command)
    lu.assertEquals(out, "2=4 6=36 ")
    local status, _, err = support.shell(command)
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "--part takes i/N, part i of N, and got 'slurm'")
    local _, problem = run "--part 3/2"
    lu.assertStrContains(problem, "3/2")
    local failed, _, message = support.scullery "experiment join /no/such"
    lu.assertEquals(failed, 1)
    lu.assertStrContains(message, "/no/such")
  end)
end

os.exit(lu.LuaUnit.run())
