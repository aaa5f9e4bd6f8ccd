-- A fault in a plugin has a name: what is refused when a file is loaded, and what a slot that
-- misbehaves ends with. The plugins are the specimens of tests/interface, with scripts.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local lu, sc = require "luaunit", require "scullery"
local battery, header = require "battery", require "header"
local component = require "scullery.compose.component"
local specimen, support = require "specimen", require "support"

local sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""
local X = sc.randn{ 30, 3, seed = 1 }
local fails = support.fails

-- ------------ refused when loaded

-- A specimen with these lines is refused with a sentence that names the file and the component, and
-- holds these words.
local function refuses(name, words, ...)
  local message = fails(words, specimen.load, "v1", { name }, ...)
  lu.assertNotNil(message:find("plugin .+%.so: "), message)
  lu.assertStrContains(message, name .. "_")
end

-- Specimens that offer each ability, and the slots that interface 1 requires of it.
local required = {
  law = { "general", "law" }, characteristic = { "general", "characteristic" },
  scales = { "general", "scales" }, ["pair-kernel"] = { "general", "kernel" },
  distribution = { "split", "distribution" }, collision = { "lattice", "collision" },
  structured = { "rotated", "apply" }, pool = { "shared", "rows", "pool" },
  learn = { "pupil", "learn" }, ["gaussian-dual"] = { "side", "dual" },
  ["threshold-dual"] = { "side", "dual" }, ["code-dual"] = { "side", "collision" },
  categories = { "cell", "key", "categories" }, tilt = { "long", "tilt" },
  shift = { "long", "shift" },
  path = { "square", "option", "solve" }, penalty = { "square", "penalty" },
  normal = { "square", "alone" }, cost = { "square", "cost" },
  loss = { "square", "value", "slope", "bound", "lipschitz" },
  objective = { "square", "objective" },
  model = { "mean", "fit", "decide", "save", "load", "destroy" },
  ["model-path"] = { "mean", "option", "fit" },
}
-- Slots that may be NULL, and those of `bind`, which a table in C has (long.ability).
local optional = { ["smoothing.loop"] = true, ["smoothing.smooth"] = true,
  ["smoothing.loop_float32"] = true, ["structured.rows"] = true, ["loss.probabilities"] = true,
  ["loss.means"] = true, ["loss.outputs"] = true, ["loss.formula"] = true,
  ["loss-mean.formula"] = true,
  ["structured.apply_csr"] = true, ["domain.domain"] = true, ["bind.bind"] = true,
  ["bind.describe"] = true }

function TestNullInARequiredSlotOfAnAbility()
  local seen = {}
  for id, list in pairs(required) do
    for i = 2, #list do
      seen[id .. "." .. list[i]] = true
      refuses(list[1], { ('ability "scullery.%s/1"'):format(id), ("'%s' is NULL"):format(list[i]) },
        ("set %s/%s %s null"):format(list[1], id, list[i]))
    end
  end
  -- those of abilities without a specimen
  local others = support.read "tests/core/plugin/required_slots_test.c"
  for id, slot in others:gmatch("[ ,]SLOT%(scl_ability_([%w_]+), ([%w_]+)%)") do
    seen[id:gsub("_", "-") .. "." .. slot] = true
  end
  -- no slot of the header is forgotten
  for _, one in ipairs(header.parse(header.files "tests/interface/v1.txt.gz").structs) do
    local ability = one.name:match("^scl_ability_(.+)$")
    for _, member in ipairs(ability and one.members or {}) do
      local slot = ability:gsub("_", "-") .. "." .. member.name
      if member.declaration:find("(*", 1, true) then
        lu.assertTrue(seen[slot] or optional[slot], slot)
      end
    end
  end
end

function TestNullInBothOfTwoSlots()
  refuses("plain", { "'make' and 'draw'", "NULL" }, "set plain/table make null")
  refuses("general", { "'make' and 'draw'", "NULL" }, "set general/table draw null")
  refuses("side", { "'loop' and 'apply'", "NULL" }, "set side/table loop null")
  refuses("wave", { 'ability "scullery.smoothing/1"', "'loop' and 'smooth'" },
    "set wave/smoothing loop null")
  refuses("wave", { 'ability "scullery.smoothing/1"', "slot 'loop' of the table" },
    "set wave/table loop null", "set wave/table apply same wave")
  refuses("bell", { "'gram'", "'finish'", "'pair'" }, "set bell/table finish null",
    "set bell/table pair int 0")
  refuses("square", { "'solve' is NULL", '"scullery.model/1"' }, "set square/table solve null")
  refuses("mean", { "'solve' is NULL", '"scullery.model/1"' }, "drop mean model")
  refuses("plain", { "'moments'", '"scullery.law/1"' }, "set plain/table moments null")
  refuses("few", { "'layout'", "NULL" }, "set few/table layout null")
  refuses("rotated", { '"scullery.structured/1"' }, "drop rotated structured")
  refuses("cell", { '"scullery.categories/1"' }, "drop cell categories")
end

function TestTablesOfAnotherKind()
  refuses("general", { "table is one of a kernel", "sampler" },
    "set general/table kind int 2")
  refuses("general", { "unknown kind 9" }, "set general kind int 9")
  refuses("general", { "unknown kind -1" }, "set general kind int -1")
  refuses("general", { "sampler table", "NULL" }, "set general vtable null")
  refuses("long", { 'ability "scullery.law/1"', "none of a kernel" }, "offer long law long/tilt")
  refuses("long", { 'ability "scullery.tilt/1"', "the table is NULL" }, "drop long tilt",
    "offer long tilt null")
  refuses("general", { 'ability "scullery.law/1"', "listed twice" }, "repeat general law")
  -- one of a later version is for hosts that know it
  specimen.load("v1", { "long" }, "offer long hereafter null")
end

function TestInterfacesOfOthers()
  fails({ "interface 9", "speaks 1", ".so" }, specimen.load, "v1", { "side" }, "byte side 0 9")
  refuses("general", { "sampler table", "interface 9" }, "byte general/table 0 9")
  refuses("general", { 'ability "scullery.law/1"', "interface 9" }, "byte general/law 0 9")
  refuses("general", { "scl_base", "4 bytes" }, "set general instance_size int 4")
  refuses("general", { "larger" }, "set general instance_size int 999999999999")
  refuses("general", { "summary and doc" }, "set general doc null")
  refuses("general", { "summary and doc" }, "set general summary null")
  fails({ "list of plugins", "empty" }, specimen.load, "v1", { "side" }, "set list count int 0")
  fails({ "list of plugins" }, specimen.load, "v1", { "side" }, "set list plugins null")
  fails({ "list of plugins", "8 bytes" }, specimen.load, "v1", { "side" }, "head list 8")
  fails({ "descriptor in its list is NULL" }, specimen.load, "v1", { "side" },
    "set list count int 2")
end

function TestUnknownConstants()
  refuses("general", { "parameter space 17" }, "set general/table space int 17")
  refuses("general", { "parameter space -1" }, "set general/table space int -1")
  refuses("bell", { "number 44 of a pair" }, "set bell/table pair int 44")
  refuses("bell", { "no parameter space" }, "set bell/table spaces int 0")
  refuses("side", { "no parameter space" }, "set side/table spaces int 0")
  refuses("bell", { "cosines and angles" }, "set bell/table pair int 4",
    "set bell/table spaces int 3")
  refuses("plain", { "at most 8 normal numbers" }, "set plain/table normals int 9")
  refuses("square", { "float64" }, "set square/table dtypes int 2")
  refuses("waves", { "float64" }, "set waves/table dtypes int 2")
  refuses("rotated", { "float64" }, "set rotated/structured dtypes int 2")
end

local keywords = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function",
  "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return", "then", "true",
  "until", "while" }

function TestNames()
  local long = ("a"):rep(41)
  for _, name in ipairs{ "Upper", "2nd", "a-b", "a b", "_a", long, table.unpack(keywords) } do
    fails({ "named '" .. name }, specimen.load, "v1", { "side" }, "set side name text " .. name)
  end
  fails({ "(NULL)" }, specimen.load, "v1", { "side" }, "set side name null")
  for _, name in ipairs{ "2nd", "a-b", "_a", long, table.unpack(keywords) } do
    refuses("general", { "an option is named '" .. name },
      "set general/option/sigma name text " .. name)
  end
  refuses("general", { "an option is named '(NULL)'" }, "set general/option/sigma name null")
  refuses("general", { "option 'offset' is declared twice" },
    "set general/option/shift name text offset")
  fails({ "holds the nonlinearity 'both' twice" }, specimen.load, "v1", { "wave", "side" },
    "set wave name text both", "set side name text both")
end

function TestOptions()
  local function refused(option, words, ...)
    local lines = {}
    for i, line in ipairs{ ... } do lines[i] = ("set general/option/%s %s"):format(option, line) end
    refuses("general", { "option '" .. option .. "'", table.unpack(words) }, table.unpack(lines))
  end
  refused("sigma", { "no line of help" }, "help null")
  for _, forms in ipairs{ 0, 128, 129, 1 << 29, 1 << 30 } do
    refused("sigma", { ("forms 0x%x"):format(forms) }, "forms int " .. forms)
  end
  refused("offset", { "range", "200", "100" }, "low double 200")
  refused("offset", { "range" }, "low double nan")
  refused("offset", { "range" }, "high double nan")
  refused("offset", { "below 0" }, "low double -1")
  refused("sigma", { "unknown store 77" }, "store int 77")
  refused("sigma", { "unknown store -1" }, "store int -1")
  refused("sigma", { "unknown width 9" }, "width int 9")
  refused("sigma", { "cannot hold" }, "store int 2")
  refused("extra", { "cannot hold" }, "store int 1")
  refused("sigma", { "bytes" }, "offset int 8")
  refused("sigma", { "bytes" }, "offset int 4000")
  refused("mode", { "any text" }, "words null")
  refused("extra", { "takes names and lists none" }, "words null")
  refused("inner", { "colour" }, "words text kernel|colour")
  refused("inner", { "(NULL)" }, "words null")
  refused("inner", { "no other form" }, "forms int 65", "store int 6")
  refused("sigma", { "role" }, "role int 1")
  refused("sigma", { "misaligned", "20" }, "offset int 20")
  refuses("square", { "'estimate'", "misaligned" }, "set square/option/estimate offset int 27")
  refuses("square", { "'lambda'", "'intercept'", "same bytes" },
    "set square/option/intercept offset int 20")
  refused("offset", { "width", "number" }, "width int 1")
  refused("still", { "width", "number" }, "width int 2")
  refuses("general", { "options of" }, "set general options null")
  refuses("general", { "65 options" }, "set general n_options int 65")
  refuses("general", { "4 bytes each" }, "set general option_size int 4")
  refuses("general", { "68 bytes each", "multiple of 8" }, "set general option_size int 68")
  refuses("plain", { "option 'bias'", "role" }, "set plain/option/bias fallback text no",
    "set plain/option/bias words text no|uniform|gaussian")
  refuses("square", { "'intercept' and 'all'", "same role" }, "set square/option/all role int 3")
  refuses("square", { "'estimate'", "role 4" }, "set square/option/estimate forms int 4",
    "set square/option/estimate store int 0", "set square/option/estimate fallback null")
  refuses("square", { "path", "'lambda'", "does not have" },
    "set square/option/lambda name text mu")
end

-- A default that the option itself would not take.
function TestDefaults()
  local wrong = { sigma = { "0", "-1", "inf", "nan", "wide", "{1}", "", "true", "1 2" },
    offset = { "101", "-1", "1.5", "many" }, shift = { "-101", "2.5" },
    still = { "maybe", "1", "False", "" }, mode = { "three", "", "one|two", "1" },
    extra = { "c", "{1, x}", "{1, 2", "1, 2}", "{a = 1}", "{1} 2", "{nan}" } }
  for option, list in pairs(wrong) do
    for _, value in ipairs(list) do
      refuses("general", { ("option '%s'"):format(option), ('default "%s"'):format(value) },
        ("set general/option/%s fallback text %s"):format(option, value))
    end
  end
  local right = { sigma = { "2", "0.5", "1e3" }, offset = { "0", "100" }, still = { "true" },
    mode = { "one" }, extra = { "b", "{1}", "{1, 2, 3}", "7" } }
  for option, list in pairs(right) do
    for _, value in ipairs(list) do
      local own = specimen.load("v1", { "general" },
        ("set general/option/%s fallback text %s"):format(option, value))
      lu.assertNotNil(component.instance(sc.sampler[own.general]()))
    end
  end
  -- a component's name is looked up when it is needed
  local own = specimen.load("v1", { "twice" }, "set twice/option/inner fallback text gausian")
  fails({ "option 'inner', by default \"gausian\"", "did you mean 'gaussian'" },
    function() return sc.kernel[own.twice]() end)
end

-- A default that leads back to the component itself has no end.
function TestDefaultsThatLeadBack()
  sc.plugin.load(specimen.file("v1", "only twice", "set twice name text ring",
    "set twice/option/inner fallback text ring"))
  fails({ "kernel.ring: option 'inner', by default \"ring\"", "lead back to kernel.ring" },
    function() return sc.kernel.ring():gram(X) end)
  for from, to in pairs{ ring_a = "ring_b", ring_b = "ring_a" } do
    sc.plugin.load(specimen.file("v1", "only twice", "set twice name text " .. from,
      "set twice/option/inner fallback text " .. to))
  end
  fails({ "kernel.ring_a: option 'inner'", "kernel.ring_b: option 'inner'",
    "lead back to kernel.ring_a" }, function() return sc.kernel.ring_a():gram(X) end)
  -- a component inside one of its own kind, as given, is none
  local own = specimen.load("v1", { "twice" })
  lu.assertTrue(sc.kernel[own.twice]{ inner = own.twice }:gram(X):isfinite())
end

-- ------------ slots that misbehave

-- Every slot of the specimens: "general.draw", whether it returns a status.
local slots, returns = {}, {}
for line in io.popen("cat tests/interface/specimen/*.c"):lines() do
  local slot = line:match('UPSET%([^"]*"([%w_.]+)"') or line:match('fill%(self, "([%w_.]+)"')
  local other = line:match('%(void%)upset%([^"]*"([%a]+%.[%w_.]+)"')
  slot = slot or other
  local rare = slot == "square.slope" or slot == "square.alone" or slot == "general.kernel"
    or slot == "ramp.loop" or slot == "ramp.create" or slot == "ramp.destroy"
    or slot == "descent.solve" -- the last four are the checker's own
  if slot and not rare then -- few ask for those
    slots[#slots + 1] = slot
    returns[slot] = other == nil
  end
end

-- What the host calls a slot where the specimens tell several apart.
local host_slot = { loop_float32 = "loop", smooth_float32 = "smooth", threshold_dual = "dual",
  path = "solve", task = "solve", models = "fit" }

-- Ask a specimen with a script for everything; returns its error, or nil.
local function ask(slot, line)
  local own = specimen.load("v1", battery.names, ("at %s %s"):format(slot, line))
  local name = slot:match("^%a+")
  local ok, message = pcall(battery.ask, name, battery.constructors(own))
  return not ok and tostring(message) or nil, own[name]
end

-- The error names the component and the slot.
local function blames(slot, line, words)
  local message, name = ask(slot, line)
  local said = slot:match("%.(.+)$")
  lu.assertNotNil(message, slot .. " " .. line)
  lu.assertNotNil(message:find("%a+%." .. name .. ": "), message)
  lu.assertStrContains(message, "slot " .. (host_slot[said] or said))
  for _, word in ipairs(words) do lu.assertStrContains(message, word) end
end

function TestAStatusWithoutASentence()
  lu.assertTrue(#slots > 60)
  for _, slot in ipairs(slots) do
    if returns[slot] then
      blames(slot, "status 6", { "status 6 and no sentence" })
      blames(slot, "status 42", { "status 42, which is none" })
      blames(slot, "status -3", { "status -3, which is none" })
    end
  end
end

function TestASentenceThatSaysNoFailure()
  for _, slot in ipairs(slots) do
    if returns[slot] then
      local message = ask(slot, "fail 0 the moon is full")
      lu.assertStrContains(message or slot, "the moon is full (reported with status 0")
    end
  end
end

function TestARoundingModeLeftChanged()
  for _, slot in ipairs(slots) do
    if returns[slot] then blames(slot, "round", { "rounding mode" }) end
  end
end

-- ------------ what slots write

-- A specimen with this line says so, and blames no other component.
local function blamed(slot, line, words, ask_for)
  local own = specimen.load("v1", battery.names, ("at %s %s"):format(slot, line))
  local specimen_name, make = slot:match("^%a+"), battery.constructors(own)
  local message = fails({ own[specimen_name], table.unpack(words) },
    function() return ask_for and ask_for(make) or battery.ask(specimen_name, make) end)
  for name, other in pairs(own) do
    if name ~= specimen_name then lu.assertNotStrContains(message, other) end
  end
end

function TestNumbersThatAreNotFiniteAreBlamedOnWhoMadeThem()
  for _, value in ipairs{ "nan", "inf", "-inf" } do
    for _, one in ipairs{ { "plain.make", "weight" }, { "general.draw", "weight" },
      { "few.draw", "weight" }, { "lattice.draw", "weight" }, { "rotated.draw", "weight" },
      { "shared.draw", "weight" }, { "pupil.learn", "learnt" }, { "general.scales", "weight" },
      { "wave.loop", "feature" }, { "waves.apply", "feature" }, { "wave.smooth", "feature" },
      { "waves.smooth", "feature" }, { "rotated.apply", "projection" }, { "long.gram", "kernel" },
      { "bell.finish", "kernel" }, { "long.tilt", "tilt" }, { "square.solve", "coefficient 1" },
      { "mean.decide", "score" }, { "general.law", "column 1" }, { "few.law", "in-degree 0" },
      { "general.characteristic", "characteristic function" },
      { "lattice.collision", "collision probability" } } do
      blamed(one[1], "number 0 " .. value, { one[2] })
    end
    blamed("plain.moments", "give " .. value, { "law of column 1", "not finite" })
    blamed("plain.factor", "give " .. value, { "characteristic function" },
      function(own) return sc.instantiation{ p = own.plain(), phi = own.waves() }:kernel(X, X) end)
    blamed("general.*", "give " .. value .. "\nat general.layout set has_bias int 1",
      { "bias", "not finite" }, function(own)
        return sc.features{ p = own.general(), phi = own.wave(), T = 5 }:fit(X)
      end)
    -- a kernel as phi
    blamed("long.gram", "number 0 " .. value, { "feature 1", "kernel" }, function(own)
      return sc.features{ p = own.plain(), phi = own.long{ gamma = 1 }, T = 5 }:fit(X):transform(X)
    end)
  end
end

-- What a slot may not say: slot, line, words of the sentence.
local broken = {
  { "general.layout", "set reals int 0", "0 reals" },
  { "general.layout", "set space int 9", "space" },
  { "general.layout", "set space int 1", "sparse" },
  { "general.layout", "set block int 0", "space" },
  { "general.layout", "set count int 77", "77 parameters where T = 5" },
  { "general.layout", "set integers int 999999999999", "999999999999 integers" },
  { "few.layout", "set integers int 0", "0 integers" },
  { "rotated.layout", "set reals int 99999999999", "absurdly large" },
  { "few.law", "set max_degree int 99", "in-degrees up to 99, of 3" },
  { "split.draw", "integer 0 99", "column 100 of 3" },
  { "split.draw", "integer 0 2147483647", "column 2147483648 of 3" },
  { "split.draw", "integer 0 -2", "column -1 of 3" },
  { "few.draw", "integer 0 99", "column" }, { "few.draw", "integer 1 0", "ascend" },
  { "few.draw", "integer 0 -1", "after a -1" },
  { "shared.pool", "integer 0 99", "row 100 of 8" },
  { "shared.pool", "integer 0 -1", "row 0 of 8" },
  { "shared.rows", "give 0", "0 rows" }, { "pupil.learn", "set numbers null", "not there" },
  { "pupil.learn", "set rows int 4611686018427387904", "4611686018427387904 x 3 numbers" },
  { "pupil.learn", "set cols int 6148914691236517206", "x 6148914691236517206 numbers" },
  { "pupil.learn", "set cols int 4", "x 4 numbers that are not there" },
  { "waves.shape", "set fan_in int 100000", "65536" },
  { "waves.shape", "set fan_out int 100000", "65536" },
  { "waves.shape", "set dtypes int 2", "float64" }, { "waves.shape", "set spaces int 0", "space" },
  { "cell.words", "give 0", "0 numbers" }, { "cell.words", "give 99999999999", "numbers" },
  { "square.solve", "set outcome int 0", "unsaid" },
  { "square.solve", "set outcome int 77", "unsaid" },
  { "square.path", "set outcome int 0", "unsaid" }, { "mean.fit", "set outcome int 0", "unsaid" },
  { "square.solve", "set residual double 2\nat square.solve set tolerance double 1",
    "converged, and its residual 2 is above its tolerance 1" },
  { "mean.fit", "set residual double 2\nat mean.fit set tolerance double 1", "converged, and" },
  { "square.path", "set gap double -1", "gap of -1" },
  { "square.solve", "set residual double -1", "residual of -1" },
  { "square.solve", "set tolerance double -1", "tolerance of -1" },
  { "square.solve", "set jitter double -1", "jitter of -1" },
  { "square.solve", "set jitter double nan", "jitter of " },
  { "square.solve", "set jitter double inf", "jitter of inf" },
  { "square.solve", "set iterations int -1", "18446744073709551615 iterations" },
  { "square.solve", "set coefficients null", "replaced" },
  { "square.solve", "set intercept text x", "replaced" },
  { "mean.model", "give 0", "model unset (slot fit)" },
  { "mean.gives", "give 0", "model of its path unset (slot fit)" },
  { "mean.loaded", "give 0", "model unset (slot load)" },
  { "mean.save", "say BAD NAME", "BAD NAME" }, { "mean.save", "give 2", "two arrays" },
  { "mean.save", "set rank int 9", "rank 9" }, { "mean.save", "set dtype int 99", "dtype 99" },
  { "mean.save", "set data null", "no archive takes" },
  { "square.note", "say x", "without a zero byte at its end" },
}

function TestPromisesThatASlotBreaks()
  for _, one in ipairs(broken) do
    local message, name = ask(one[1], one[2])
    lu.assertStrContains(message or "", name, nil, table.concat(one, " "))
    lu.assertStrContains(message, one[3])
  end
end

-- What a slot writes to members that are the host's, or without an end, has no effect.
function TestWhatASlotMayNotChange()
  for _, one in ipairs{ { "general.law", "set space int 99" }, { "general.law", "set dim int 99" },
    { "general.law", "set mean null" }, { "general.law", "set family int 99" },
    { "long.tilt", "set dim int 99" }, { "long.tilt", "set offset null" },
    { "long.describe", "say full" } } do
    lu.assertNil((ask(one[1], one[2])), table.concat(one, " "))
  end
end

-- A verb that is asked from inside a visit would wait for the walk that waits for it.
function TestNoVerbIsAskedFromInsideAVisit()
  for _, verb in ipairs{ "responses", "walk", "normal", "reweighted", "dual", "gram", "product",
    "adjoint", "sweep", "minibatch", "hold_out", "held" } do
    for _, visit in ipairs{ "walk", "sweep", "minibatch", "held" } do
      blamed("square." .. visit, "ask " .. verb,
        { "solver.", ("problem.%s was called from inside a visit"):format(verb) })
    end
  end
  for _, verb in ipairs{ "walk", "select" } do
    blamed("pupil.walk", "ask " .. verb,
      { ("learning.%s was called from inside a visit"):format(verb) })
  end
  -- afterwards the problem answers as before
  local own = battery.constructors(specimen.load("v1", { "square" }, "at square.walk ask normal"))
  local p = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(), T = 5 }
  fails({ "problem.normal" }, function()
    return sc.pipeline{ p, own.square{ all = true } }:fit(X, X:column(1):copy())
  end)
  lu.assertTrue(sc.pipeline{ p, own.square() }:fit(X, X:column(1):copy()):predict(X):isfinite())
end

-- ------------ sentences that stay

function TestKernelRidgeKeepsTheSentenceOfItsKernel()
  for _, status in ipairs{ 2, 4, 6 } do -- SCL_STATUS_NUMERIC is 6
    blamed("long.gram", ("fail %d the moon is full"):format(status), { "the moon is full" },
      function(own)
        return sc.pipeline{ sc.solver.kernel_ridge{ kernel = own.long{ gamma = 1 }, lambda = 0.1 } }
          :fit(X, X:column(1):copy())
      end)
    local message = ask("long.diagonal", ("fail %d the moon is full"):format(status))
    lu.assertStrContains(message, "the moon is full")
    lu.assertNotStrContains(message, "lambda")
  end
end

-- A tilt that is not there is no error, and its sentence is gone when another slot fails.
function TestNoSentenceIsStale()
  local function features(own)
    return sc.features{ p = own.general(), phi = own.wave(), T = 5, K = own.long{ gamma = 1 } }
      :fit(X):transform(X)
  end
  local unsupported = "fail 4 the moon is full"
  local own = battery.constructors(specimen.load("v1", battery.names,
    "at long.tilt " .. unsupported))
  lu.assertTrue(features(own):isfinite())
  for slot, said in pairs{ ["long.gram"] = "slot gram", ["general.draw"] = "slot draw",
    ["wave.loop"] = "feature" } do
    local line = slot == "wave.loop" and "number 0 nan" or "status 6"
    local names = specimen.load("v1", battery.names, "at long.tilt " .. unsupported,
      ("at %s %s"):format(slot, line))
    local message = fails({ names[slot:match("^%a+")], said }, features,
      battery.constructors(names))
    lu.assertNotStrContains(message, "the moon is full")
  end
  -- other failures of a tilt are errors
  blamed("long.tilt", "fail 6 the moon is full", { "the moon is full" }, features)
end

-- What a sampler says of a pair, where there is no closed form.
function TestPairKernels()
  local function kernel(line)
    local own = battery.constructors(specimen.load("v1", battery.names, "drop wave gaussian-dual",
      "at general.kernel " .. line))
    return sc.instantiation{ p = own.general(), phi = own.wave() }:kernel(X, X)
  end
  local K = kernel("say gaussian{gamma = 0.5}")
  lu.assertTrue((K - sc.kernel.gaussian{ gamma = 0.5 }:gram(X)):abs():max() < 1e-14)
  for line, words in pairs{ ["say "] = { "no closed form" }, ["say full"] = { "general_" },
    ["say gausian"] = { "general_", "no kernel 'gausian'" },
    ["say gaussian{gamma = -1}"] = { "general_", "'gamma'" }, ["say gaussian{"] = { "general_" },
    ["status 6"] = { "general_", "slot kernel", "no sentence" },
    ["round"] = { "general_", "slot kernel", "rounding" } } do
    fails(words, kernel, line)
  end
end

-- ------------ crashes, in a child process

-- Words of the command line that asks a specimen with this line, the name of its component, and its
-- file.
local function asked(slot, line)
  local own, path = specimen.prepare("v1", battery.names, ("at %s %s"):format(slot, line))
  local name = slot:match("^%a+")
  return ("%s %s %s "):format(path, own[name]:match("%d+$"), name), own[name], path
end

local function in_child(words)
  local status, out, err = support.scullery("tests/interface/child.lua " .. words)
  return status, err .. out
end

local function assert_crash(slot, line, what)
  local words, name, path = asked(slot, line)
  local status, err = in_child(words)
  local said = slot:match("%.(.+)$")
  lu.assertNotEquals(status, 0, slot .. " " .. line)
  lu.assertNotNil(err:find(("scullery: %s in %%a+%%.%s, slot %s, of %s\n"):format(
    what:gsub("%p", "%%%0"), name, host_slot[said] or said, (path:gsub("%p", "%%%0")))),
    slot .. " " .. line .. "\n" .. err)
end

function TestACrashNamesPluginAndSlot()
  specimen.skip_crashes()
  for i = 1, #slots, sanitized and 8 or 1 do -- the report of a sanitizer takes long
    assert_crash(slots[i], "crash segv", "crash (segmentation fault)")
  end
end

function TestEveryCrashIsCaught()
  specimen.skip_crashes()
  for _, slot in ipairs{ "wave.loop", "general.create", "square.task" } do
    assert_crash(slot, "crash fpe", "crash (arithmetic exception)")
    assert_crash(slot, "crash abort", "crash (abort, or a C++ exception that was not caught)")
    assert_crash(slot, "exit 0", "the process was ended by exit()")
    assert_crash(slot, "quick 0", "the process was ended by quick_exit()")
    if not sanitized then assert_crash(slot, "crash stack", "crash (segmentation fault)") end
  end
end

-- Where no error can be returned the user is told, and the mode is put back.
function TestARoundingModeLeftChangedByASlotThatCannotFail()
  local words, wanted = "", {}
  for _, slot in ipairs(slots) do
    if not returns[slot] then
      local own = slot:match("%.(.+)$")
      local more, name = asked(slot, "round")
      words = words .. more
      wanted[#wanted + 1] = name .. ": slot " .. (host_slot[own] or own)
        .. " left the rounding mode"
    end
  end
  local _, said = in_child(words)
  for _, sentence in ipairs(wanted) do lu.assertStrContains(said, sentence) end
  lu.assertTrue(#wanted > 20)
  ask("wave.dual", "round")
  lu.assertTrue(1 + 2 ^ -60 == 1 and 1 - 2 ^ -60 == 1)
end

function TestACppExceptionNamesPluginAndSlot()
  specimen.skip_crashes()
  local path = support.build .. "/tests/plugins/thrower.so"
  lu.skipIf(io.open(path) == nil, "there is no C++ compiler")
  local status, _, err = support.scullery(("-e 'sc.plugin.load(%q) local X = sc.ones(5, 2) "
    .. "sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.thrower{ most = -1 }, T = 9 }"
    .. ":fit(X):transform(X)'"):format(path))
  lu.assertNotEquals(status, 0)
  lu.assertStrContains(err, "C++ exception that was not caught) in nonlinearity.thrower, slot loop")
  sc.plugin.load(path)
  lu.assertTrue(sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.thrower(), T = 9 }
    :fit(X):transform(X):isfinite())
end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status, true)
