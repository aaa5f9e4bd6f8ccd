--- Fetching: files come whole and checked, or not at all; the named sets from a mirror and from
--- their public form. All on 127.0.0.1.
-- luacheck: globals TestFetching TestConverting TestGetting
-- luacheck: ignore 212/self
local lu = require "luaunit"
local core = require "scullery.core"
local fetch = require "scullery.data.fetch"
local support = dofile("tests/helpers/support.lua")

local SHA_HELLO = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" -- of "hello\n"
local folder = os.tmpname()
os.remove(folder)
folder = folder .. ".d/"

local function write(name, text)
  local file = assert(io.open(folder .. name, "wb"))
  file:write(text)
  file:close()
end

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("a")
  file:close()
  return text
end

-- Names of all files below the folder of downloads: what a failure may have left.
local function files_left()
  local list = {}
  for line in io.popen("find '" .. folder .. "got' -type f"):lines() do list[#list + 1] = line end
  return list
end

local server, base

local function start_server()
  core.make_folder(folder)
  core.make_folder(folder .. "site")
  core.make_folder(folder .. "got")
  server = io.popen(("'%s/tests/loopback_server' '%ssite'"):format(support.build, folder))
  base = "http://127.0.0.1:" .. server:read("l")
  write("site/hello", "hello\n")
end

local function stop_server()
  pcall(core.fetch, base .. "/quit", folder .. "got/quit")
  server:close()
  os.execute("rm -rf '" .. folder .. "'")
end

-- The fetch fails with all these texts in its sentence, and leaves nothing.
local function refused(address, sha256, ...)
  local target = folder .. "got/refused"
  local ok, message = pcall(core.fetch, address, target, sha256)
  lu.assertFalse(ok)
  for _, text in ipairs{ ... } do lu.assertStrContains(message, text) end
  lu.assertEquals(files_left(), {})
  return message
end

-- ------------ one file

TestFetching = {}

function TestFetching:tearDown()
  for _, path in ipairs(files_left()) do os.remove(path) end
end

function TestFetching:test_a_file_comes_whole()
  core.fetch(base .. "/hello", folder .. "got/hello", SHA_HELLO)
  lu.assertEquals(read(folder .. "got/hello"), "hello\n")
  lu.assertEquals(#files_left(), 1)
end

function TestFetching:test_a_file_of_many_blocks_comes_whole()
  local text = ("0123456789abcdef"):rep(100000)
  write("site/large", text)
  core.fetch(base .. "/large", folder .. "got/large")
  lu.assertTrue(read(folder .. "got/large") == text)
end

function TestFetching:test_a_redirect_is_followed()
  core.fetch(base .. "/-/to/hello", folder .. "got/hello", SHA_HELLO)
  lu.assertEquals(read(folder .. "got/hello"), "hello\n")
end

function TestFetching:test_a_missing_file_says_the_status_and_where_to_put_it()
  refused(base .. "/nowhere", nil, base .. "/nowhere", "404", "by hand", folder .. "got/refused")
  refused(base .. "/-/status/500", nil, "500")
end

-- Part of a file, or another, is none: an answer that is no error is not yet the file.
function TestFetching:test_another_status_than_200_is_refused()
  for _, status in ipairs{ 201, 203, 206, 300, 304, 404, 503 } do
    local address, said = ("%s/-/as/%d/hello"):format(base, status),
      ("answered %d where 200 is taken"):format(status)
    for _, digest in ipairs{ false, SHA_HELLO } do
      refused(address, digest or nil, said, "nothing was kept")
    end
  end
  refused(base .. "/-/status/204", nil, "answered 204")
  refused(base .. "/-/from/201", nil, "answered 201") -- a Location, and no redirect
end

function TestFetching:test_every_kind_of_redirect_is_followed()
  for _, status in ipairs{ 301, 302, 303, 307, 308 } do
    core.fetch(("%s/-/from/%d"):format(base, status), folder .. "got/hello", SHA_HELLO)
    lu.assertEquals(read(folder .. "got/hello"), "hello\n")
  end
end

-- Nine would be too many; a redirect's own body is no part of the file.
function TestFetching:test_up_to_eight_redirects_are_followed()
  core.fetch(base .. ("/-/to"):rep(8) .. "/hello", folder .. "got/hello", SHA_HELLO)
  os.remove(folder .. "got/hello")
  refused(base .. ("/-/to"):rep(9) .. "/hello", nil, "more than 8 times")
end

function TestFetching:test_a_disk_that_is_full_is_told()
  write("site/large", ("x"):rep(3000000))
  local script = ("mount -t tmpfs -o size=1m tmpfs %sgot && \"$1\" -e 'require \"scullery.core\"\z
    .fetch(\"%s/large\", \"%sgot/x\")'; ls -A %sgot"):format(folder, base, folder, folder)
  lu.skipIf(not os.execute("unshare -m mount -t tmpfs tmpfs /mnt 2>/dev/null"), "no mounts here")
  local status, out, err = support.shell(("unshare -m sh -c %s sh %s"):format(
    support.quote(script), support.quote(support.binary)))
  lu.assertEquals({ status, out }, { 0, "" })
  lu.assertStrContains(err, "got/x: not written, nothing was left behind: No space left on device")
end

function TestFetching:test_ctrl_c_ends_a_slow_transfer_and_leaves_nothing()
  local status, _, err = support.shell(([[%s -e 'require "scullery.core".fetch(%q, %q)' &
    for i in $(seq 300); do ls %sgot | grep -q part && break; sleep 0.05; done
    sleep 0.3; kill -INT $!; wait $!]]):format(support.quote(support.binary), base .. "/-/slow",
    folder .. "got/x", folder))
  lu.assertEquals({ status, files_left() }, { 1, {} })
  lu.assertStrContains(err, "interrupted!")
end

function TestFetching:test_a_truncated_body_is_refused()
  refused(base .. "/-/short/hello", nil, "/-/short/hello", "nothing was kept")
end

function TestFetching:test_a_wrong_checksum_is_refused_and_names_both()
  refused(base .. "/hello", ("0"):rep(64), SHA_HELLO, ("0"):rep(64))
end

function TestFetching:test_a_failure_leaves_the_file_that_was_there()
  write("got/old", "old\n")
  pcall(core.fetch, base .. "/hello", folder .. "got/old", ("0"):rep(64))
  pcall(core.fetch, base .. "/-/short/hello", folder .. "got/old")
  lu.assertEquals(read(folder .. "got/old"), "old\n")
  lu.assertEquals(#files_left(), 1)
end

function TestFetching:test_redirects_stay_on_the_web_and_end()
  refused(base .. "/-/away", nil, "leads from", "file:///etc/hostname", "nothing was kept")
  refused(base .. "/-/loop", nil, "nothing was kept")
end

function TestFetching:test_a_server_that_hangs_up_or_promises_too_much_is_refused()
  refused(base .. "/-/hangup", nil, "nothing was kept")
  refused(base .. "/-/huge", nil, "larger than")
end

function TestFetching:test_other_protocols_are_refused()
  refused("file:///etc/hostname", nil, "file:///etc/hostname")
  refused("ftp://127.0.0.1/x", nil, "ftp://127.0.0.1/x")
end

function TestFetching:test_without_a_server_the_sentence_says_what_to_do()
  refused("http://127.0.0.1:1/x", nil, "http://127.0.0.1:1/x", "put the file by hand at "
    .. folder .. "got/refused")
end

function TestFetching:test_a_folder_that_is_not_there_is_a_sentence()
  local ok, message = pcall(core.fetch, base .. "/hello", folder .. "none/hello")
  lu.assertFalse(ok)
  lu.assertStrContains(message, folder .. "none")
end

function TestFetching:test_ctrl_c_stops_it_and_leaves_nothing()
  core.interrupt()
  refused(base .. "/hello", nil, "interrupted!")
  core.fetch(base .. "/hello", folder .. "got/hello") -- and the next one works
end

function TestFetching:test_the_digest_is_sha256()
  lu.assertEquals(core.sha256(folder .. "site/hello"), SHA_HELLO)
  lu.assertErrorMsgContains(folder .. "nowhere", core.sha256, folder .. "nowhere")
end

-- ------------ from the public form

TestConverting = {}

function TestConverting:test_header_drop_and_replace()
  local text = fetch.convert("|a remark\n1, x, no.\n2, y, yes.\n\n",
    { header = "n,t,label", drop = "|", replace = { { ", ", "," }, { "%.\n", "\n" } } })
  lu.assertEquals(text, "n,t,label\n1,x,no\n2,y,yes\n")
end

function TestConverting:test_only_lines_that_begin_with_the_mark_are_dropped()
  lu.assertEquals(fetch.convert("|x\n|y\na|b\n", { drop = "|" }), "a|b\n")
end

function TestConverting:test_windows_line_ends_blank_lines_and_a_missing_last_line_end()
  lu.assertEquals(fetch.convert("\n1\t2\r\n\r\n3\t4", { replace = { { "\t", "," } } }),
    "1,2\n3,4\n")
end

function TestConverting:test_first_lines()
  lu.assertEquals(fetch.convert("1\n2\n3\n", { lines = 2 }), "1\n2\n")
  lu.assertEquals(fetch.convert("1\n2\n3\n", { lines = 9 }), "1\n2\n3\n")
end

function TestConverting:test_columns_in_another_order_keep_empty_fields()
  lu.assertEquals(fetch.convert("a,,c\n1,2,3\n", { order = { 1, 3, 2 } }), "a,c,\n1,3,2\n")
  lu.assertErrorMsgContains("line 2 has 2 columns", fetch.convert, "a,b,c\n1,2\n",
    { order = { 1, 3, 2 } })
end

-- The whole way: fetched, converted, shape and digest checked.
local function entry_for(text, origin)
  write("site/raw.txt", text)
  origin.url, origin.raw = base .. "/raw.txt", "raw.txt"
  return { name = "small.csv.gz", sha256 = "", content = ("0"):rep(64), origin = origin },
    { format = "csv", rows = 2, columns = 2 }
end

local function get_small(text, origin, content)
  local said = {}
  local file, entry = entry_for(text, origin)
  file.content = content or file.content
  local ok, result = pcall(fetch.file, file, entry, folder .. "got/", function(line)
    said[#said + 1] = line
  end)
  return ok, result, said
end

function TestConverting:test_what_was_converted_is_kept_unpacked_and_the_raw_file_goes()
  write("site/expected", "a,b\n1,2\n3,4\n")
  local ok, path, said = get_small("1 2\n3 4\n", { header = "a,b", replace = { { " ", "," } } },
    core.sha256(folder .. "site/expected"))
  lu.assertTrue(ok)
  lu.assertEquals({ path, read(path), said, #files_left() },
    { folder .. "got/small.csv", "a,b\n1,2\n3,4\n", {}, 1 })
  os.remove(path)
end

function TestConverting:test_other_contents_of_the_right_shape_are_kept_and_said()
  local ok, path, said = get_small("1,2\n3,4\n", { header = "a,b" })
  lu.assertTrue(ok)
  lu.assertStrContains(said[1], "could not be verified")
  os.remove(path)
end

function TestConverting:test_another_shape_is_refused_and_nothing_stays()
  for text, words in pairs{ ["1,2\n"] = "it has 1 rows where 2 are expected",
    ["1,2,3\n4,5,6\n"] = "it has 3 columns where 2 are expected" } do
    local ok, message = get_small(text, { header = text:find("3") and "a,b,c" or "a,b" })
    lu.assertFalse(ok)
    lu.assertStrContains(message, words)
    lu.assertEquals(files_left(), {})
  end
end

function TestConverting:test_a_raw_file_put_there_by_hand_is_used_when_its_digest_is_right()
  write("got/raw.txt", "1,2\n3,4\n")
  local ok, path = get_small("nothing of the kind\n", { header = "a,b" })
  lu.assertTrue(ok)
  lu.assertEquals(read(path), "a,b\n1,2\n3,4\n")
  os.remove(path)
  write("got/raw.txt", "1,2\n3,4\n")
  local fine, message = get_small("", { header = "a,b", sha256 = ("0"):rep(64) })
  lu.assertFalse(fine)
  lu.assertStrContains(message, ("0"):rep(64))
  os.remove(folder .. "got/raw.txt")
end

-- ------------ named sets, in a process of
-- their own with its environment

TestGetting = {}

local shared = os.getenv("SCULLERY_DATA")
if shared == "" then shared = nil end

-- Runs code where no set is here but the shipped ones; mirror: the address to fetch from. Returns
-- what it printed.
local function run(code, mirror)
  local binary = os.getenv("SCULLERY_BINARY") or arg[-1]
  local command =
    ("SCULLERY_DATA= XDG_CACHE_HOME='%sgot' SCULLERY_DATA_URL='%s' '%s' -e '%s' 2>&1"):format(
      folder, mirror or "", binary, code)
  local pipe = io.popen(command)
  local text = pipe:read("a")
  pipe:close()
  return text
end

function TestGetting:tearDown() os.execute("rm -rf '" .. folder .. "got/scullery'") end

function TestGetting:test_a_shipped_set_needs_no_network()
  lu.assertStrContains(run("print(sc.data.get(\"wdbc\")[1])", "http://127.0.0.1:1"), "wdbc.csv")
end

function TestGetting:test_an_unknown_set_offers_the_nearest()
  lu.assertStrContains(run("sc.data.get(\"adlut\")"), "did you mean 'adult'?")
end

function TestGetting:test_a_set_without_public_address_says_where_to_put_it()
  local said = run("sc.data.get(\"salsa_airfoil\")")
  lu.assertStrContains(said, folder .. "got/scullery/salsa/airfoil.csv.gz")
  lu.assertStrContains(said, "11715abbe4da7c8572a8d869ba977de65a85ea2bc9b687e0274337645c7ddbc7")
end

function TestGetting:test_a_set_that_is_not_here_says_how_to_get_it()
  lu.assertStrContains(run("sc.data.load(\"skin\")"), "scullery data get skin")
end

function TestGetting:test_without_a_network_nothing_stays()
  local said = run("sc.data.get(\"letter\")", "http://127.0.0.1:1")
  lu.assertStrContains(said, "put the file by hand at " .. folder
    .. "got/scullery/letter.libsvm.gz")
  lu.assertEquals(files_left(), {})
end

-- Junk in the cache is not a data set: it is downloaded again, whatever its name.
function TestGetting:test_what_is_in_the_cache_is_checked()
  lu.skipIf(not shared, "SCULLERY_DATA names no folder with the larger sets")
  core.make_folder(folder .. "site/salsa")
  local good = read(shared .. "/salsa/airfoil.csv.gz")
  write("site/salsa/airfoil.csv.gz", good)
  local code = "for _, path in ipairs(sc.data.get(\"salsa_airfoil\")) do print(path) end"
  for _, name in ipairs{ "airfoil.csv.gz", "airfoil.csv" } do
    run("sc.data.get(\"salsa_airfoil\")", base)
    os.remove(folder .. "got/scullery/salsa/airfoil.csv.gz")
    write("got/scullery/salsa/" .. name, "junk\n")
    local said = run(code, base)
    lu.assertStrContains(said, "got/scullery/salsa/" .. name)
    lu.assertStrContains(said, "downloaded again")
    lu.assertEquals(files_left(), { folder .. "got/scullery/salsa/airfoil.csv.gz" })
    lu.assertTrue(read(files_left()[1]) == good)
    lu.assertEquals(run(code, "http://127.0.0.1:1"), files_left()[1] .. "\n") -- and is not again
  end
  -- where nothing comes, it is said, and the junk is not taken
  write("got/scullery/salsa/airfoil.csv.gz", "junk\n")
  local said = run(code, "http://127.0.0.1:1")
  lu.assertStrContains(said, "downloaded again")
  lu.assertStrContains(said, "put the file by hand")
end

function TestGetting:test_junk_that_the_user_put_elsewhere_is_refused_and_stays()
  core.make_folder(folder .. "site/own")
  write("site/own/skin.csv.gz", "junk\n")
  local status, out, err = support.shell(("SCULLERY_DATA=%ssite/own %s data get skin"):format(
    folder, support.quote(support.binary)))
  lu.assertEquals({ status, out, read(folder .. "site/own/skin.csv.gz") }, { 1, "", "junk\n" })
  lu.assertStrContains(err, "site/own/skin.csv.gz: its sha256 is")
  lu.assertStrContains(err, "remove it, or put the right one there")
end

-- A converted file whose origin has changed is kept and told of, each time.
function TestGetting:test_other_contents_of_the_right_shape_are_told()
  core.make_folder(folder .. "got/scullery")
  write("got/scullery/spambase.csv", ("x,"):rep(57) .. "is_spam\n" .. (("1,"):rep(57)
    .. "1\n"):rep(4601))
  local said = run("print(sc.data.get(\"spambase\")[1])", "http://127.0.0.1:1")
  lu.assertStrContains(said, "spambase.csv: could not be verified")
  lu.assertStrContains(said, "\n" .. folder .. "got/scullery/spambase.csv\n")
end

function TestGetting:test_the_catalog_names_the_columns_of_a_file_without_a_header()
  core.make_folder(folder .. "got/scullery")
  write("got/scullery/covtype.data", ("1,"):rep(54) .. "2\n" .. ("3,"):rep(54) .. "7\n")
  lu.assertEquals(run("local ds = sc.data.load(\"covtype\")"
    .. " print(#ds, ds.names[1], ds.names[54], ds.target, ds.task, table.unpack(ds.classes))"),
    "2\tElevation\tSoil_Type40\tCover_Type\tclassification\t2\t7\n")
end

function TestGetting:test_a_mirror_that_serves_something_else_is_refused()
  write("site/skin.csv.gz", "not the file\n")
  lu.assertStrContains(run("sc.data.get(\"skin\")", base),
    "3cc798156e98ebad45f7ca0d85810be386c04eed642cd69993198afbe22dc180")
  lu.assertEquals(files_left(), {})
end

function TestGetting:test_a_set_comes_from_a_mirror_and_loads()
  lu.skipIf(not shared, "SCULLERY_DATA names no folder with the larger sets")
  core.make_folder(folder .. "site/salsa")
  write("site/salsa/airfoil.csv.gz", read(shared .. "/salsa/airfoil.csv.gz"))
  local said =
    run("sc.data.get(\"salsa_airfoil\") local a, b = sc.data.load(\"salsa_airfoil\"):parts() \z
      print(#a, #b, a.X:cols())", base .. "/")
  lu.assertStrContains(said, "750\t750\t5")
end

-- The public form of adult, made from the compact one: its digest is the published one of the
-- original, and it converts back to the same bytes.
function TestGetting:test_adult_in_its_public_form_gives_the_very_bytes_of_the_compact_file()
  lu.skipIf(not shared, "SCULLERY_DATA names no folder with the larger sets")
  local catalog = require "scullery.data.catalog"
  local train, test = table.unpack(catalog.adult.files)
  local function lines(file)
    return (core.read_text(shared .. "/" .. file.name):gsub("^[^\n]*\n", ""):gsub(",", ", "))
  end
  core.make_folder(folder .. "got/scullery")
  write("got/scullery/adult.data", lines(train) .. "\n")
  write("got/scullery/adult.test", "|1x3 Cross validator\n" .. lines(test):gsub("\n", ".\n")
    .. "\n")
  lu.assertEquals(core.sha256(folder .. "got/scullery/adult.data"), train.origin.sha256)
  lu.assertEquals(core.sha256(folder .. "got/scullery/adult.test"), test.origin.sha256)
  local said =
    run("sc.data.get(\"adult\") local a, b = sc.data.load(\"adult\"):parts() print(#a, #b, \z
      a.X:cols(), b.X:cols())")
  lu.assertEquals(said, "32561\t16281\t108\t108\n")
  lu.assertEquals(core.sha256(folder .. "got/scullery/adult.train.csv"), train.content)
  lu.assertEquals(core.sha256(folder .. "got/scullery/adult.test.csv"), test.content)
end

start_server()
local status = lu.LuaUnit.run()
stop_server()
os.exit(status, true)
