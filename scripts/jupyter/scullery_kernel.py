"""The Jupyter kernel of Scullery: cells are Lua, run by a child process (child.py).

`scullery notebook install` makes Jupyter know it; docs/notebook.md says more. This half speaks
Jupyter's protocol by Debian's python3-ipykernel, and keeps no state but the child.
"""

import os
import signal
import subprocess
import uuid

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from child import Child, Died

COMMAND = os.environ.get("SCULLERY_COMMAND", "scullery")


def version():
    """"0.1.0", as the command tells it."""
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

    # ------------------------------------------------------------ the child

    def ask(self, request, **told):
        if self.child is None:
            self.child = Child(COMMAND)
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

    # ------------------------------------------------------------ cells

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
            answer = self.ask({"ask": "run", "code": code}, show=show, display=display,
                              progress=progress.show)
        except OSError as error:
            return self.failure("NoProcess", f"{COMMAND} cannot be started: {error.strerror}; "
                                "`scullery notebook install` names it anew", silent)
        except Died as died:
            return self.failure("ProcessEnded", f"the process that runs the cells ended with {died}"
                                "; the next cell starts a new one, in which no variables are set",
                                silent)
        finally:
            progress.show("")
        if not answer["ok"]:
            return self.failure("Error", answer["message"], silent)
        if answer.get("data") and not silent:
            self.tell("execute_result", {"execution_count": self.execution_count,
                                         "data": answer["data"], "metadata": {}})
        return {"status": "ok", "execution_count": self.execution_count, "payload": [],
                "user_expressions": {}}

    # ------------------------------------------------------------ the editor

    def do_complete(self, code, cursor_pos):
        before = code[:cursor_pos]
        answer = self.ask_quietly({"ask": "complete", "text": before}) or {}
        matches = answer.get("matches") or []
        start = cursor_pos
        if matches:
            start = len(before.encode()[:answer["start"] - 1].decode(errors="replace"))
        return {"status": "ok", "matches": matches, "cursor_start": start,
                "cursor_end": cursor_pos, "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        at = len(code[:cursor_pos].encode())
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
