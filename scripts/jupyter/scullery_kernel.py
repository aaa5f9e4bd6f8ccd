"""The Jupyter kernel of Scullery: cells are Lua, run by a child process (child.py).

`scullery notebook install` makes Jupyter know it; docs/notebook.md says more. This half speaks
Jupyter's protocol by Debian's python3-ipykernel, and keeps no state but the child.
"""

import collections
import fnmatch
import os
import signal
import subprocess
import uuid

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from child import Child, Died

TEXT, NUMBER = (str, "a text"), (int, "a whole number")  # types in requests
COMMAND = os.environ.get("SCULLERY_COMMAND", "scullery")


def version():
    """"0.2.0", as the command tells it."""
    try:
        said = subprocess.run([COMMAND, "--version"], stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, text=True)
    except OSError:
        return "unknown"
    words = said.stdout.replace(",", " ").split()
    return words[1] if len(words) > 1 else "unknown"


class Progress:
    """A line below a cell that tells how far it is, and is empty in the end."""

    def __init__(self, tell):
        self.tell, self.name, self.text = tell, None, ""

    def show(self, text):
        if self.name is None and text:
            self.name = uuid.uuid4().hex
            self.put("display_data", text)
        elif self.name is not None and text != self.text:
            self.put("update_display_data", text)

    def put(self, kind, text):
        self.text = text
        self.tell(kind, {"data": {"text/plain": text}, "metadata": {},
                         "transient": {"display_id": self.name}})


class History:
    """The cells that ran, for requests of a front end: (session, number, code) of each, or with
    output (session, number, (code, text of its value)). There is one session, of number 1."""

    FIELDS = ("hist_access_type", "output", "raw", "session", "start", "stop", "n", "pattern",
              "unique")
    MOST = 10000

    def __init__(self):
        self.cells = collections.deque(maxlen=self.MOST)

    def add(self, number, code, text):
        self.cells.append((number, code, text))

    def find(self, kind, output=False, session=None, start=None, stop=None, n=None, pattern=None,
             unique=False):
        cells = list(self.cells)
        if kind == "range":
            cells = [cell for cell in cells if session in (None, 0, 1)
                     and cell[0] >= (start or 0) and (stop is None or cell[0] < stop)]
        elif kind == "search":
            cells = [cell for cell in cells if fnmatch.fnmatchcase(cell[1], pattern or "*")]
            if unique:
                cells = sorted({code: (number, code, text) for number, code, text in cells}.values())
        elif kind != "tail":
            cells = []
        if n is not None and kind != "range":
            cells = cells[max(0, len(cells) - max(0, n)):]
        return [(1, number, (code, text) if output else code) for number, code, text in cells]


class SculleryKernel(Kernel):
    implementation = "scullery"
    implementation_version = version()
    language_info = {"name": "lua", "version": "5.4", "mimetype": "text/x-lua",
                     "file_extension": ".lua", "codemirror_mode": "lua", "pygments_lexer": "lua"}
    banner = f"Scullery {implementation_version}: learning with random features. help() explains."
    help_links = []

    def __init__(self, **options):
        super().__init__(**options)
        self.child = None
        self.history = History()

    # ------------ requests of any shape

    async def process_control(self, message, *more):
        """A message without a delimiter, or of no known shape, would end the loop that answers
        interrupt and shutdown: nothing but a log is left of it."""
        try:
            await super().process_control(message, *more)
        except Exception:
            self.log.error("Invalid control message", exc_info=True)

    async def answer(self, kind, handle, stream, ident, parent, types):
        """Handle a request whose content has these types, or say which has not."""
        content = parent["content"] if isinstance(parent["content"], dict) else {}
        for name, (taken, words) in types.items():
            value = content.get(name)
            if not isinstance(value, taken) or isinstance(value, bool):
                message = f"{kind}_request: {name} takes {words}, and got {value!r:.60}"
                self.session.send(stream, f"{kind}_reply", {
                    "status": "error", "ename": "BadRequest", "evalue": message,
                    "traceback": [message]}, parent, ident)
                return
        await handle(stream, ident, parent)

    async def complete_request(self, stream, ident, parent):
        await self.answer("complete", super().complete_request, stream, ident, parent,
                          {"code": TEXT, "cursor_pos": NUMBER})

    async def inspect_request(self, stream, ident, parent):
        if isinstance(parent["content"], dict):
            for name in ("detail_level", "omit_sections"):  # of no meaning here
                parent["content"].pop(name, None)
        await self.answer("inspect", super().inspect_request, stream, ident, parent,
                          {"code": TEXT, "cursor_pos": NUMBER})

    async def is_complete_request(self, stream, ident, parent):
        await self.answer("is_complete", super().is_complete_request, stream, ident, parent,
                          {"code": TEXT})

    async def history_request(self, stream, ident, parent):
        content = parent["content"] if isinstance(parent["content"], dict) else {}
        types = {"hist_access_type": TEXT}
        for name, wanted in (("n", NUMBER), ("session", NUMBER), ("start", NUMBER),
                             ("stop", NUMBER), ("pattern", TEXT)):
            if content.get(name) is not None:
                types[name] = wanted
        if isinstance(parent["content"], dict):
            parent["content"] = {"output": False, "raw": True, **{
                name: value for name, value in content.items() if name in History.FIELDS}}
        await self.answer("history", super().history_request, stream, ident, parent, types)

    def do_history(self, hist_access_type, output, raw, **given):
        return {"status": "ok", "history": self.history.find(hist_access_type, output, **given)}

    # ------------ the child

    def ask(self, request, **told):
        if self.child is None:
            self.child = Child(COMMAND, os.environ.get("SCULLERY_NOTEBOOK_PROCESSES"))
        child = self.child
        try:
            return child.ask(request, **told)
        except Died:
            self.child = None
            child.release()
            raise

    def ask_quietly(self, request):
        """The answer to a request of the editor; None where there is none."""
        try:
            answer = self.ask(request)
        except (Died, OSError):
            return None
        return answer if answer["ok"] else None

    def on_interrupt(self, number, frame):
        child = self.child
        if child is not None:
            child.interrupt()

    def pre_handler_hook(self):
        self.before = signal.signal(signal.SIGINT, self.on_interrupt)

    def post_handler_hook(self):
        signal.signal(signal.SIGINT, self.before)

    def do_shutdown(self, restart):
        child, self.child = self.child, None
        if child is not None:
            child.close()
        return {"status": "ok", "restart": restart}

    # ------------ cells

    def tell(self, kind, content):
        self.send_response(self.iopub_socket, kind, content)

    def failure(self, name, message, silent):
        error = {"ename": name, "evalue": message, "traceback": [message]}
        if not silent:
            self.tell("error", error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    def do_execute(self, code, silent, store_history=True, user_expressions=None,
                   allow_stdin=False):
        def show(stream, text):
            if not silent:
                self.tell("stream", {"name": stream, "text": text})

        def display(data):
            if not silent:
                self.tell("display_data", {"data": data, "metadata": {}})

        progress = Progress(lambda kind, content: silent or self.tell(kind, content))
        try:
            answer = self.ask({"ask": "run", "code": code, "cell": self.execution_count},
                              show=show, display=display, progress=progress.show)
        except OSError as error:
            return self.failure("NoProcess", f"{COMMAND} cannot be started: {error.strerror}; "
                                "`scullery notebook install` names it anew", silent)
        except Died as died:
            return self.failure("ProcessEnded", f"the process that runs the cells ended with {died}"
                                "; the next cell starts a new one, in which no variables are set",
                                silent)
        finally:
            progress.show("")
        data = answer.get("data") or {}
        if store_history and not silent:
            self.history.add(self.execution_count, code, data.get("text/plain"))
        if not answer["ok"]:
            return self.failure("Error", answer["message"], silent)
        if data and not silent:
            self.tell("execute_result", {"execution_count": self.execution_count, "data": data,
                                         "metadata": {}})
        return {"status": "ok", "execution_count": self.execution_count, "payload": [],
                "user_expressions": {}}

    # ------------ the editor

    def do_complete(self, code, cursor_pos):
        cursor_pos = max(0, min(cursor_pos, len(code)))
        before = code[:cursor_pos]
        answer = self.ask_quietly({"ask": "complete", "text": before}) or {}
        matches = answer.get("matches") or []
        start = cursor_pos
        if matches:
            start = len(before.encode()[:answer["start"] - 1].decode(errors="replace"))
        return {"status": "ok", "matches": matches, "cursor_start": start,
                "cursor_end": cursor_pos, "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        at = len(code[:max(0, cursor_pos)].encode())
        answer = self.ask_quietly({"ask": "inspect", "text": code, "at": at}) or {}
        data = answer.get("data") or {}
        return {"status": "ok", "found": bool(data), "data": data, "metadata": {}}

    def do_is_complete(self, code):
        answer = self.ask_quietly({"ask": "status", "code": code}) or {}
        words = {"whole": "complete", "unfinished": "incomplete", "invalid": "invalid"}
        status = words.get(answer.get("status"), "unknown")
        return {"status": status, **({"indent": "  "} if status == "incomplete" else {})}


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=SculleryKernel)
