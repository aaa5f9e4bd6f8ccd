--- The readers against Python's csv and gzip, NumPy and scikit-learn, on bent files with fixed
--- seeds: tests/differential/run.py, which reads 200,000 files of each format by itself.
-- luacheck: globals TestReference
-- luacheck: ignore 212/self
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local support = require "support"

-- A Python with the reference readers, or nil.
local function python()
  for _, name in ipairs{ "python3", "/usr/bin/python3" } do
    if support.shell(name .. " -c 'import numpy, sklearn.datasets'") == 0 then return name end
  end
end

-- Enough for the commonest faults in some seconds.
local sanitized = (os.getenv "SCULLERY_SANITIZE" or "") ~= ""
local FILES = sanitized and 300 or 2500

TestReference = {}

function TestReference:test_bent_files_are_read_alike_or_refused()
  local name = python()
  lu.skipIf(not name, "there is no Python with NumPy and scikit-learn")
  local status, out, err = support.shell(("%s tests/differential/run.py %s --files %d --batch 1250")
    :format(name, support.quote(support.binary), FILES))
  lu.assertEquals(status, 0, out .. err)
  for _, kind in ipairs{ "csv", "idx", "libsvm", "npy" } do
    lu.assertStrContains(out, ("%s: %d files, "):format(kind, FILES))
  end
end

os.exit(lu.LuaUnit.run())
