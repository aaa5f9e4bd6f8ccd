-- The scripts of docs/clusters.md run: jobs of Slurm with commands that stand for Slurm's own, GNU
-- parallel, and ssh to a server of the test, where these are installed. All give the model of one
-- process.
local lu = require "luaunit"

local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/scripts/?.lua;" .. source .. "/tests/helpers/?.lua;" .. package.path
local page = require "documentation.page"
local support = require "support"

local function has(program) return (support.shell("command -v " .. program)) == 0 end

local function skip_without(program)
  lu.skipIf(not has(program), "skipped: " .. program .. " is not installed")
end

-- Commands that stand for others, by name.
local stands = {
  sbatch = [[case $1 in
    --parsable) for i in 1 2 3; do
      export SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=3
      SLURM_ARRAY_TASK_ID=$i bash "$2" >&2 || exit 1
    done; echo 7;;
    --dependency=afterok:7) sh -c "$3";;
    *) exit 1;; esac]],
  scontrol = 'echo "$@" > asked',
  srun = [[while [ "${1#--}" != "$1" ]; do mpi=1; shift; done
    [ -z "$mpi" ] && exec "$@"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    exec mpirun --oversubscribe -n 3 "$@"]],
}

-- f(run) in a folder with the files of the page; run(command) -> status, output, messages.
local function with_files(f)
  support.in_folder(function(folder)
    os.execute("mkdir " .. folder .. "/bin")
    for name, text in pairs(stands) do
      support.write(folder .. "/bin/" .. name, "#!/bin/sh\n" .. text .. "\n")
    end
    for _, block in ipairs(page.read(source .. "/docs/clusters.md").blocks) do
      support.write(folder .. "/" .. block.directives.file, table.concat(block.lines, "\n") .. "\n")
    end
    f(function(command)
      return support.shell(("cd %s; chmod +x bin/*; PATH=%s/bin:%s:$PATH; %s"):format(folder,
        folder, support.quote(support.binary:match "^(.*)/"), command))
    end, folder)
  end)
end

-- A script leaves the model of one process.
local function test(script, f)
  with_files(function(run, folder)
    if f then f(run, folder) end
    local status, one = run "scullery fit.lua && rm model.safetensors"
    lu.assertEquals(status, 0)
    local said, out, err = run("bash " .. script)
    lu.assertEquals(said, 0, out .. err)
    local _, found = run [[scullery -e '
      print(("%a"):format(sc.load("model.safetensors"):decision(sc.data.load("wdbc").X):sum()))']]
    lu.assertEquals(found, one)
  end)
end

function TestArray() test "submit.sh" end

function TestProcesses()
  skip_without "mpirun"
  lu.skipIf(support.shell(support.quote(support.binary) .. " plugin list | grep -q openmpi") ~= 0,
    "skipped: the transport openmpi is not built")
  test "job.sh"
end

function TestParallel()
  skip_without "parallel"
  test "parallel.sh"
end

-- A server of this test's own on a port that is free, which ssh finds as node1 and node2; it ends
-- after a minute.
local function serve(run, folder)
  for _, key in ipairs{ "host", "user" } do
    run(("ssh-keygen -q -t ed25519 -N '' -f %s"):format(key))
  end
  local status
  for _ = 1, 10 do
    local port = math.random(20000, 60000)
    support.write(folder .. "/server", ([[
Port %d
ListenAddress 127.0.0.1
HostKey %s/host
AuthorizedKeysFile %s/user.pub
PidFile none
UsePAM no
StrictModes no
]]):format(port, folder, folder))
    support.write(folder .. "/client", ([[
Host node1 node2
HostName 127.0.0.1
Port %d
IdentityFile %s/user
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
]]):format(port, folder))
    run "timeout 60 $(PATH=$PATH:/usr/sbin command -v sshd) -D -f server 2> said & sleep 0.1"
    status = run("ssh -F client node1 true")
    if status == 0 then break end
  end
  lu.skipIf(status ~= 0, "skipped: sshd does not serve here")
  support.write(folder .. "/bin/ssh", ("#!/bin/sh\nexec %s -F %s/client \"$@\"\n"):format(
    select(2, support.shell "command -v ssh"):gsub("%s", ""), folder))
end

function TestSsh()
  skip_without "ssh"
  lu.skipIf(not has "sshd" and not has "/usr/sbin/sshd", "skipped: sshd is not installed")
  test("ssh.sh", serve)
  if has "parallel" then test("parallel_ssh.sh", serve) end
end

-- Told of the limit, the job asks to be queued again, and its process goes on; the next run ends.
function TestTimeLimit()
  with_files(function(run, folder)
    lu.assertEquals(run([[sed 's/scullery long.lua/sh -c "touch began; sleep 5"/' long.sh > slow.sh
      SLURM_JOB_ID=7 bash slow.sh & until test -e began; do sleep 0.05; done
      kill -USR1 $!; wait $!; cat asked]]), 0)
    lu.assertEquals(support.read(folder .. "/asked"), "requeue 7\n")
    lu.assertEquals(run "bash long.sh && test -s long.safetensors && ! test -e long.checkpoint", 0)
  end)
end

os.exit(lu.LuaUnit.run())
