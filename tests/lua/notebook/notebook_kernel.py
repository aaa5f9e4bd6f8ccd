"""The Jupyter kernel through Jupyter's own client; notebook_test.lua runs this.

SCULLERY_COMMAND names the command under test, JUPYTER_PATH the folder that holds its kernel.json.
"""

import base64
import json
import os
import queue
import shutil
import signal
import struct
import sys
import time
import unittest
from xml.etree import ElementTree

from jupyter_client.manager import start_new_kernel

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "scripts", "jupyter"))
import child  # noqa: E402  the kernel's own module

LIMIT = 120  # seconds: ends a test that hangs
LOOP = "while true do local t = {} end"  # every build hears a signal where memory is allocated


class Kernel:
    """A running kernel, and what its cells put out."""

    def __init__(self, name="scullery"):
        self.manager, self.client = start_new_kernel(kernel_name=name, startup_timeout=LIMIT)

    def send(self, code):
        # After an error, ipykernel drops requests that came too early, unless they say no.
        return self.client.execute(code, stop_on_error=False)

    def messages(self, asked, until="idle"):
        """What came for a request until the kernel is idle, or until a stream held a text."""
        while True:
            message = self.client.get_iopub_msg(timeout=LIMIT)
            if message["parent_header"].get("msg_id") != asked:
                continue
            yield message
            content = message["content"]
            if content.get("execution_state") == "idle" or until in content.get("text", ""):
                return

    def outputs(self, asked):
        """Texts of the streams, and the other messages in order."""
        result = {"stdout": "", "stderr": "", "data": [], "error": None, "pieces": 0}
        for message in self.messages(asked):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                result[content["name"]] += content["text"]
                result["pieces"] += 1
            elif kind in ("execute_result", "display_data"):
                result["data"].append(content["data"])
            elif kind == "error":
                result["error"] = content
        result["status"] = self.reply(asked)["status"]
        return result

    def reply(self, asked):
        """The reply to a request; others are answers that nobody waited for."""
        while True:
            reply = self.client.get_shell_msg(timeout=LIMIT)
            if reply["parent_header"]["msg_id"] == asked:
                return reply["content"]

    def run(self, code):
        return self.outputs(self.send(code))

    def ask(self, method, *given):
        asked = getattr(self.client, method)(*given)
        for _ in self.messages(asked):
            pass
        return self.reply(asked)

    def restart(self):
        """Start the kernel again, and wait until its messages come: what it publishes before the
        client has connected again is lost."""
        self.manager.restart_kernel()
        self.client.wait_for_ready(timeout=LIMIT)
        for _ in range(LIMIT):
            self.client.kernel_info()
            try:
                self.client.get_iopub_msg(timeout=1)
                return
            except queue.Empty:
                pass

    def close(self):
        self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel()


class KernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernel = Kernel()

    @classmethod
    def tearDownClass(cls):
        cls.kernel.close()

    def value(self, code):
        said = self.kernel.run(code)
        self.assertIsNone(said["error"])
        self.assertEqual(len(said["data"]), 1, said)
        return said["data"][0]["text/plain"]

    # ------------ cells

    def test_values_print_as_at_the_prompt(self):
        self.assertEqual(self.value("20 + 1"), "21")
        self.assertEqual(self.value("= _ * 2"), "42")
        self.assertIn("matrix 2 x 3", self.value("sc.zeros(2, 3)"))
        self.assertEqual(self.kernel.run("x = 5")["data"], [])
        self.assertEqual(self.kernel.run("x;")["data"], [])
        self.assertEqual(self.value("x"), "5")

    def test_streams_are_told_apart(self):
        said = self.kernel.run('print("out") io.stderr:write("err\\n")')
        self.assertEqual((said["stdout"], said["stderr"]), ("out\n", "err\n"))

    def test_text_comes_while_the_cell_runs(self):
        asked = self.kernel.send('print("begun") while not io.open(NAME) do end'.replace(
            "NAME", f'"{flag}"'))
        *_, last = self.kernel.messages(asked, until="begun")
        self.assertIn("begun", last["content"]["text"])
        open(flag, "w").close()
        self.assertEqual(self.kernel.outputs(asked)["status"], "ok")
        os.remove(flag)

    def test_an_error_is_its_message(self):
        said = self.kernel.run('print("before")\nerror("wrong", 0)')
        self.assertEqual((said["stdout"], said["status"]), ("before\n", "error"))
        self.assertEqual(said["error"]["evalue"], "wrong")
        said = self.kernel.run("sc.sampler.gausian{}")
        self.assertIn("did you mean 'gaussian'", said["error"]["evalue"])
        self.assertNotIn("traceback", said["error"]["evalue"])
        said = self.kernel.run("x = = 1")
        self.assertIn("unexpected symbol", said["error"]["evalue"])

    def test_a_cell_has_many_statements(self):
        said = self.kernel.run('local a = 1\nfor i = 1, 2 do\n  print(a + i)\nend')
        self.assertEqual(said["stdout"], "2\n3\n")

    def test_help_by_a_question_mark(self):
        said = self.kernel.run("sc.standardize?")
        text = said["stdout"] + "".join(d["text/plain"] for d in said["data"])
        self.assertIn("constant there", text)
        self.assertLess(max(map(len, text.split("\n"))), 80)

    def test_pictures_stand_in_the_notebook(self):
        figure = 'sc.plot.line{ x = { 1, 2, 3 }, y = { 1, 4, %d }, title = "Squares %d" }'
        shown = self.kernel.run(f"fig = {figure % (9, 0)} fig")["error"]
        self.assertIsNotNone(shown)
        self.kernel.run(f"fig = {figure % (9, 0)}")
        result = self.kernel.run("fig")["data"]
        self.assertEqual(len(result), 1)
        self.assertIn("Squares 0", result[0]["text/plain"])
        said = self.kernel.run(f'for i = 1, 3 do print(i) {figure.replace("%d", "i", 1)}:show() end'
                               .replace("%d", '" .. i .. "'))
        self.assertEqual(said["stdout"], "1\n2\n3\n")
        self.assertEqual(len(said["data"]), 3)
        for i, data in enumerate(said["data"], 1):
            self.assertIn(f"Squares {i}", data["text/plain"])
        if shutil.which("gnuplot"):
            for i, data in enumerate(said["data"] + result):
                root = ElementTree.fromstring(data["image/svg+xml"])
                self.assertTrue(root.tag.endswith("svg"))
                self.assertIn("Squares", data["image/svg+xml"])
                png = base64.b64decode(data["image/png"], validate=True)
                self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
                self.assertEqual(png[-8:-4], b"IEND")

    def test_a_picture_is_as_large_as_png_as_it_is_as_svg(self):
        if not shutil.which("gnuplot"):
            self.skipTest("there is no gnuplot")
        data, = self.kernel.run("sc.plot.line{ x = { 1, 2 }, y = { 1, 4 } }")["data"]
        size = struct.unpack(">II", base64.b64decode(data["image/png"])[16:24])
        root = ElementTree.fromstring(data["image/svg+xml"])
        self.assertEqual([str(side) for side in size], [root.get("width"), root.get("height")])

    def test_tables_are_html(self):
        data, = self.kernel.run("sc.matrix{{ 1, 2.5 }, { 3, 4 }}")["data"]
        root = ElementTree.fromstring("<p>" + data["text/html"] + "</p>")
        self.assertEqual([cell.text for cell in root.iter("td")], ["1", "1", "2.5", "2", "3", "4"])
        data, = self.kernel.run("""
          small = sc.dataset{ X = sc.matrix{{ 1, 2 }, { 3, 4 }, { 5, 6 }}, y = { "a", "b", "<i>" },
            names = { "one", "two" } }
          small""")["data"]
        root = ElementTree.fromstring("<p>" + data["text/html"] + "</p>")
        self.assertEqual([cell.text for cell in root.iter("th")], [None, "one", "two", "y"])
        self.assertEqual([cell.text for cell in root.iter("td")][-1], "<i>")
        data, = self.kernel.run("""
          sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } }:search(
            sc.dataset{ X = sc.randn{ 50, 3 }, y = sc.randn{ 50, 1, seed = 1 } },
            { folds = 2 }).table""")["data"]
        root = ElementTree.fromstring("<p>" + data["text/html"] + "</p>")
        self.assertEqual(len(list(root.iter("tr"))), 3)
        self.assertEqual([cell.text for cell in root.iter("th")][0], "solver.lambda")
        self.assertIn("<- best", [cell.text for cell in root.iter("td")])
        self.assertNotIn("text/html", self.kernel.run("{ 1, 2 }")["data"][0])

    def test_lines_are_short(self):
        for code in ("local t = {} for i = 1, 200 do t[i] = i * 1000 end return t",
                     'sc.plot.line{ x = { 1, 2 }, y = { 1, 4 } }', "sc.randn{ 50, 50 }"):
            text = self.value(code)
            self.assertLess(max(len(line) for line in text.split("\n")), 80, text)

    def test_an_error_names_cell_and_line(self):
        asked = self.kernel.send("x = 1\nerror('mine')")
        number = [m["content"]["execution_count"] for m in self.kernel.messages(asked)
                  if m["msg_type"] == "execute_input"][0]
        self.assertEqual(self.kernel.reply(asked)["evalue"], f"cell {number}, line 2: mine")
        self.kernel.run("function failing()\n  error('inner') end")
        said = self.kernel.run("failing()")
        self.assertEqual(said["error"]["evalue"], f"cell {number + 1}, line 2: inner")
        said = self.kernel.run("\n\nx = = 1")
        self.assertTrue(said["error"]["evalue"].startswith(f"cell {number + 3}, line 3: unexpected"))

    def test_commands_of_the_shell(self):
        self.assertEqual(self.kernel.run("!echo hello")["stdout"], "hello\n")
        self.assertIn("exit status 3", self.kernel.run("!exit 3")["error"]["evalue"])

    def test_any_text(self):
        self.assertIn("Grüße, 世界 🎲", self.value('"Grüße, 世界 🎲"'))
        self.assertEqual(self.kernel.run('io.write("héhé")')["stdout"], "héhé")
        self.assertEqual(self.kernel.run('io.write("a\\255b\\0c")')["stdout"], "a\ufffdb\0c")
        self.assertEqual(self.kernel.run('error("\\255\\0", 0)')["error"]["evalue"],
                         "\ufffd\u2400")
        self.assertIn("zero character", self.kernel.run("return 1 -- \0")["error"]["evalue"])
        self.assertEqual(self.value("1"), "1")

    def test_standard_input_is_at_its_end(self):
        self.assertEqual(self.value("io.read() == nil"), "true")

    def test_progress_is_one_line_that_goes(self):
        asked = self.kernel.send("""
          local level <close> = sc.progress.level{ name = "step \\255\\"", total = 5 }
          local t = os.time()
          while os.time() < t + 3 do level:step(2) end
          print("done")""")
        lines = [(m["msg_type"], m["content"]) for m in self.kernel.messages(asked)
                 if m["msg_type"] in ("display_data", "update_display_data")]
        self.assertGreater(len(lines), 1)
        self.assertEqual([kind for kind, _ in lines],
                         ["display_data"] + ["update_display_data"] * (len(lines) - 1))
        self.assertEqual(len({c["transient"]["display_id"] for _, c in lines}), 1)
        texts = [c["data"]["text/plain"] for _, c in lines]
        self.assertTrue(texts[0].startswith('step \ufffd" 3 of 5'), texts[0])
        self.assertEqual(texts[-1], "")
        self.assertEqual(self.kernel.reply(asked)["status"], "ok")

    # ------------ limits

    def test_much_output_is_cut_with_a_sentence(self):
        said = self.kernel.run('local s = ("x"):rep(9999) for i = 1, 3000 do print(s) end')
        self.assertEqual((said["status"], len(said["stdout"])), ("ok", 1000000))
        self.assertIn("[29000000 more bytes were printed and are not shown", said["stderr"])
        self.assertLess(said["pieces"], 1000)
        said = self.kernel.run('("x"):rep(100000000)')
        self.assertLess(len(said["data"][0]["text/plain"]), 1001000)
        said = self.kernel.run('error(("x"):rep(100000000), 0)')
        self.assertLess(len(said["error"]["evalue"]), 1001000)
        self.assertEqual(self.value("1"), "1")

    # ------------ stopping

    def interrupted(self, code, presses=1):
        asked = self.kernel.send(code)
        for _ in self.kernel.messages(asked, until="begun"):
            pass
        for _ in range(presses):
            self.kernel.manager.interrupt_kernel()
            time.sleep(0.1)
        said = self.kernel.outputs(asked)
        self.assertEqual(said["status"], "error")
        self.assertIn("interrupted!", said["error"]["evalue"])

    def test_interrupt_leaves_the_session_whole(self):
        self.kernel.run("kept = 7")
        self.interrupted(f'print("begun") {LOOP}')
        self.assertEqual(self.value("kept"), "7")
        self.interrupted(f'print("begun") while true do pcall(function() {LOOP} end) end',
                         presses=3)
        self.assertEqual(self.value("kept"), "7")

    def test_interrupt_stops_a_fit(self):
        self.interrupted('''
          local X, y = sc.randn{ 20000, 10, seed = 1 }, sc.randn{ 20000, 1, seed = 2 }
          print("begun")
          for i = 1, 1000 do
            sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(),
              T = 2000 }, sc.solver.ridge{ lambda = 1e-3 } }:fit(X, y)
          end''')
        self.assertEqual(self.value("1"), "1")

    def test_a_child_that_ends_is_replaced(self):
        for code, words in (("os.exit(3)", "exit status 3"),
                            ('os.execute("kill -9 $PPID")', "signal SIGKILL")):
            self.kernel.run("kept = 1")
            said = self.kernel.run(f'print("last words") {code}')
            self.assertEqual((said["stdout"], said["status"]), ("last words\n", "error"))
            self.assertIn(words, said["error"]["evalue"])
            self.assertEqual(self.value("kept == nil"), "true")

    def test_restart(self):
        self.kernel.run("kept = 1")
        process = self.value('io.open("/proc/self/stat"):read("n")')
        self.kernel.restart()
        self.assertEqual(self.value("kept == nil"), "true")
        self.assertFalse(os.path.exists(f"/proc/{process}"))

    # ------------ the editor

    def complete(self, code, at=None):
        reply = self.kernel.ask("complete", code, len(code) if at is None else at)
        return reply["matches"], reply["cursor_start"], reply["cursor_end"]

    def test_completion(self):
        matches, start, end = self.complete("sc.samp")
        self.assertEqual((start, end), (3, 7))
        self.assertTrue(any("sampler" in m for m in matches), matches)
        before = 'print("Grüße 🎲") sc.samp'
        matches, start, end = self.complete(before + ' print("ü")', len(before))
        self.assertEqual((before[start:end], end), ("samp", len(before)))
        self.assertTrue(any("sampler" in m for m in matches), matches)
        self.assertEqual(self.complete("nosuchname_")[0], [])

    def test_inspection(self):
        def text(code, at):
            reply = self.kernel.ask("inspect", code, at)
            return reply["data"]["text/plain"] if reply["found"] else None
        whole = text("sc.standardize", 5)
        self.assertIn("standard deviation", whole)
        code = '"ü🎲", sc.standardize{ '
        self.assertEqual(text(code, len(code)), whole)
        self.assertIsNone(text("nosuchname_", 3))
        self.assertIsNone(text("", 0))

    def test_is_complete(self):
        def status(code):
            return self.kernel.ask("is_complete", code)["status"]
        self.assertEqual(status("x = 1"), "complete")
        self.assertEqual(status("for i = 1, 2 do"), "incomplete")
        self.assertEqual(status("x = = 1"), "invalid")

    # ------------ other requests

    def history(self, **given):
        asked = self.kernel.client.history(**given)
        for _ in self.kernel.messages(asked):
            pass
        return self.kernel.reply(asked)

    def test_history(self):
        self.kernel.run("first = 41")
        self.kernel.run("first + 1")
        self.kernel.run("first + 1")
        self.kernel.client.execute("hidden = 1", store_history=False)
        reply = self.history(hist_access_type="tail", n=3)
        self.assertEqual([code for _, _, code in reply["history"]],
                         ["first = 41", "first + 1", "first + 1"])
        (_, number, _), *_ = reply["history"]
        reply = self.history(hist_access_type="tail", n=1, output=True)
        self.assertEqual(reply["history"], [[1, number + 2, ["first + 1", "42"]]])
        reply = self.history(hist_access_type="search", pattern="first*", unique=True)
        self.assertEqual(reply["history"], [[1, number, "first = 41"], [1, number + 2, "first + 1"]])
        reply = self.history(hist_access_type="range", session=0, start=number, stop=number + 1)
        self.assertEqual(reply["history"], [[1, number, "first = 41"]])

    def raw(self, kind, content, channel="shell"):
        """The reply to a request of any content."""
        client = self.kernel.client
        message = client.session.msg(kind, content)
        getattr(client, channel + "_channel").send(message)
        if channel == "control":
            return client.get_control_msg(timeout=LIMIT)["content"]
        return self.kernel.reply(message["header"]["msg_id"])

    def test_requests_of_wrong_types_are_answered(self):
        for kind, content, words in (
                ("complete_request", {"code": 5, "cursor_pos": 0}, "code takes a text, and got 5"),
                ("complete_request", {"code": "sc.", "cursor_pos": "3"}, "a whole number"),
                ("complete_request", {}, "code takes a text, and got None"),
                ("inspect_request", {"code": "sc.", "cursor_pos": None}, "a whole number"),
                ("inspect_request", {"code": ["sc"], "cursor_pos": 1}, "a text"),
                ("is_complete_request", {"code": {}}, "a text"),
                ("history_request", {"hist_access_type": 1}, "a text"),
                ("history_request", {"hist_access_type": "tail", "n": "x"}, "a whole number")):
            reply = self.raw(kind, content)
            self.assertEqual(reply["status"], "error")
            self.assertIn(words, reply["evalue"])
        for kind, content in (
                ("complete_request", {"code": "sc.", "cursor_pos": 99}),
                ("complete_request", {"code": "sc.", "cursor_pos": -1}),
                ("inspect_request", {"code": "sc.", "cursor_pos": -1, "omit_sections": 3}),
                ("history_request", {"hist_access_type": "other", "further": 1})):
            self.assertEqual(self.raw(kind, content)["status"], "ok", kind)
        self.assertEqual(self.value("1"), "1")

    def test_garbage_on_the_control_port_does_not_end_it(self):
        for frames in ([b"garbage"], [b""], [b"<IDS|MSG>"], [b"a", b"<IDS|MSG>", b"x", b"{"],
                       [b"<IDS|MSG>", b"", b"{}", b"{}", b"{}", b"{}"]):
            self.kernel.client.control_channel.socket.send_multipart(frames)
            self.kernel.client.shell_channel.socket.send_multipart(frames)
        self.assertEqual(self.raw("kernel_info_request", {}, "control")["status"], "ok")
        self.assertEqual(self.value("1"), "1")
        self.interrupted(f'print("begun") {LOOP}')


class SeveralTest(unittest.TestCase):
    """A kernel whose cells run in three processes."""

    def setUp(self):
        self.kernel = Kernel("scullery-3")

    def tearDown(self):
        self.kernel.close()

    def value(self, code):
        return self.kernel.run(code)["data"][0]["text/plain"]

    def test_cells(self):
        self.assertEqual(self.value("sc.processes.count"), "3")
        said = self.kernel.run("x = 0 for _ in pairs{ 1, 2 } do x = x + 1 end print(x)")
        self.assertEqual((said["stdout"], said["stderr"]), ("2\n", ""))
        self.assertEqual(self.value("x + 1"), "3")
        self.assertEqual(self.value("io.read()"), "nil")
        self.assertIn("an error", self.kernel.run("error 'an error'")["error"]["evalue"])
        self.assertEqual(self.value("x"), "2")

    def test_a_fit_is_divided(self):
        fit = """local X = sc.randn{ 20000, 3, seed = 1 }
            local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), T = 30, seed = 1,
              phi = sc.nonlinearity.fourier() }, sc.solver.ridge{ lambda = 1e-3 } }
            p:fit(X, X:column(1))
            print(("%a"):format(p:predict(X)[9]), p:info().exchanged ~= nil)"""
        said = self.kernel.run(fit)["stdout"].split()
        alone = Kernel()
        try:
            self.assertEqual(said, [alone.run(fit)["stdout"].split()[0], "true"])
        finally:
            alone.close()

    def test_interrupts(self):
        for _ in range(5):
            asked = self.kernel.send(f'print("begun") {LOOP}')
            for _ in self.kernel.messages(asked, until="begun"):
                pass
            self.kernel.manager.interrupt_kernel()
            self.assertIn("interrupted!", self.kernel.outputs(asked)["error"]["evalue"])
            time.sleep(1)  # processes get it one after the other
            self.assertEqual(self.value("6 * 7"), "42")

    def test_different_ways_and_processes_that_end(self):
        cell = """local T = sc.processes.rank == 1 and 9 or 8
            local X = sc.randn{ 5000, 3, seed = 1 }
            sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), T = T, seed = 1,
              phi = sc.nonlinearity.fourier() }, sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))"""
        self.assertIn("different ways", self.kernel.run(cell)["error"]["evalue"])
        for code, words in (("os.exit(3)", "exit status 3"),
                            ('os.execute("kill -9 $PPID")', "exit status 137")):
            self.kernel.run("kept = 1")
            self.kernel.run("kept = 1")
            self.assertIn(words, self.kernel.run(code)["error"]["evalue"])
            self.assertEqual(self.value("kept == nil"), "true")


class LimitsTest(unittest.TestCase):
    """What a cell may show, without a kernel."""

    def test_pictures(self):
        said = []
        printed = child.Printed(lambda stream, text: said.append((stream, text)))
        picture = {"image/svg+xml": "x" * 1000000}
        self.assertEqual([printed.admits(picture) for _ in range(22)], [True] * 20 + [False] * 2)
        printed.finish()
        (stream, text), = said
        self.assertEqual(stream, "stderr")
        self.assertIn("[2 more pictures are not shown: a cell shows 20000000 bytes", text)

    def test_letters_stay_whole(self):
        said = []
        printed = child.Printed(lambda stream, text: said.append(text))
        for byte in "ü🎲".encode():
            printed.add("stdout", bytes([byte]))
            printed.flush()
        printed.finish()
        self.assertEqual(said, ["ü", "🎲"])


class ChildTest(unittest.TestCase):
    def test_a_child_that_ended_leaves_no_descriptors(self):
        before = sorted(os.listdir("/proc/self/fd"))
        with open(os.path.join(os.environ["JUPYTER_PATH"], "kernels", "scullery", "kernel.json"),
                  encoding="utf-8") as file:
            command = json.load(file)["env"]["SCULLERY_COMMAND"]
        ran = child.Child(command)
        with self.assertRaises(child.Died) as died:
            ran.ask({"ask": "run", "code": "os.exit(7)"})
        self.assertEqual(str(died.exception), "exit status 7")
        ran.release()
        self.assertEqual(sorted(os.listdir("/proc/self/fd")), before)


class MissingTest(unittest.TestCase):
    def test_a_command_that_is_gone(self):
        kernels = os.path.join(os.environ["JUPYTER_PATH"], "kernels")
        with open(os.path.join(kernels, "scullery", "kernel.json"), encoding="utf-8") as file:
            description = json.load(file)
        description["env"]["SCULLERY_COMMAND"] = "/nowhere/scullery"
        os.makedirs(os.path.join(kernels, "gone"), exist_ok=True)
        with open(os.path.join(kernels, "gone", "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(description, file)
        kernel = Kernel("gone")
        try:
            for _ in range(2):
                said = kernel.run("1")
                self.assertEqual(said["status"], "error")
                self.assertIn("/nowhere/scullery cannot be started: No such file",
                              said["error"]["evalue"])
            self.assertEqual(kernel.ask("complete", "sc.", 3)["matches"], [])
        finally:
            kernel.close()


class AbandonedTest(unittest.TestCase):
    """No way to end a kernel leaves its child behind, not even while a cell runs."""

    def check(self, end):
        kernel = Kernel()
        try:
            asked = kernel.send(f'print(io.open("/proc/self/stat"):read("n")) {LOOP}')
            *_, last = kernel.messages(asked, until="\n")
            process = int(last["content"]["text"])
            end(kernel)
            for _ in range(100 * LIMIT):
                if not os.path.exists(f"/proc/{process}"):
                    break
                time.sleep(0.01)
            self.assertFalse(os.path.exists(f"/proc/{process}"))
        finally:
            kernel.close()

    def test_a_kernel_that_is_killed(self):
        self.check(lambda kernel: kernel.manager.signal_kernel(signal.SIGKILL))

    def test_a_kernel_that_is_shut_down(self):
        self.check(lambda kernel: kernel.manager.shutdown_kernel())

    def test_a_kernel_that_is_started_again(self):
        def restart(kernel):
            kernel.restart()
            self.assertEqual(kernel.run("1 + 1")["data"][0]["text/plain"], "2")

        self.check(restart)


if __name__ == "__main__":
    flag = os.environ["NOTEBOOK_FLAG"]
    unittest.main(verbosity=2)
