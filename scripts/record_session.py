#!/usr/bin/python3
"""Records a session at the prompt, typed through a pseudo-terminal of 100 columns, as
docs/session.md (or the page that the argument names). Needs python3-pexpect and python3-pyte.

    scripts/record_session.py [PAGE] [COMMAND]
"""

import os
import shutil
import sys
import tempfile
import textwrap
import time

import pexpect
import pyte

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "docs", "session.md")
COMMAND = os.path.abspath(sys.argv[2] if len(sys.argv) > 2
                          else os.path.join(SOURCE, "build", "scullery"))
ROWS, COLUMNS = 40, 100
TAB, ENTER, INTERRUPT = "\t", "\r", "\x03"

# What is said about a part of the session, and the lines typed. A number waits so many seconds.
PARTS = [
    ("The value of an expression is printed. Data sets, options and functions print as what they "
     "are. A `;` at the end silences a value, and `_` is the last one.",
     ['ds = sc.data.load "wdbc"', "ds", "#ds; ", "_ / 2"]),
    ("A statement that is not whole goes on in the next line.",
     ["for _, class in ipairs(ds.classes) do", "  print(class)", "end"]),
    ("Tab completes names, methods, options inside of braces, and the words that an option takes. "
     "Here it was pressed after `{ ` and after `penalty = \"`.",
     [("sc.solver.ridge{ " + TAB, 'penalty = "' + TAB, INTERRUPT)]),
    ("`x?` is `help(x)`. `help` with some words searches all texts.",
     ["sc.minmax?", 'help "Falkon"']),
    ("A search, its table, and the table as a picture.",
     ["train, test = ds:split{ test = 0.25, seed = 0 }",
      "p = sc.pipeline{",
      "  sc.standardize(),",
      "  sc.features{ p = sc.sampler.gaussian{ gamma = \"median\" }, phi = sc.nonlinearity.fourier(),",
      "    T = 500, seed = 1 },",
      "  sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-2, count = 5 } } }",
      "best = p:search(train, { folds = 5, seed = 0 })",
      "best.table",
      "best.table:plot():show()",
      "best:score(test)"]),
    ("Ctrl-C stops long work, here after a second. What was there before is still there.",
     ["X = sc.randn{ 200000, 50, seed = 1 }",
      ("long = p:clone{ [\"features.T\"] = 8000, [\"solver.lambda\"] = 1e-3 }:fit(X, X:column(1))"
       + ENTER, 1.0, INTERRUPT),
      "best:score(test)"]),
    ("Lines that begin with a colon are commands of the prompt; `:help` lists them. `:save` writes "
     "the session as a script that does the same again.",
     [":time best:predict(test);", ":who", ":save session.lua"]),
]


class Session:
    def __init__(self, folder):
        env = {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "xterm", "LC_ALL": "C.UTF-8",
               "NO_COLOR": "1"}
        if "SCULLERY_THREADS" in os.environ:
            env["SCULLERY_THREADS"] = os.environ["SCULLERY_THREADS"]
        self.screen = pyte.HistoryScreen(COLUMNS, ROWS, history=100000)
        self.stream = pyte.Stream(self.screen)
        self.child = pexpect.spawn(COMMAND, cwd=folder, env=env, dimensions=(ROWS, COLUMNS),
                                   encoding="utf-8", timeout=5)
        self.until_prompt()

    def pump(self, seconds):
        """Shows what comes within some seconds; whether anything came."""
        end, came = time.time() + seconds, False
        while time.time() < end:
            try:
                self.stream.feed(self.child.read_nonblocking(65536, 0.05))
                came = True
            except pexpect.TIMEOUT:
                pass
        return came

    def current_line(self):
        return self.screen.display[self.screen.cursor.y].rstrip()

    def until_prompt(self, limit=120):
        """Waits until a new prompt is there and nothing more comes."""
        end = time.time() + limit
        while time.time() < end:
            if not self.pump(0.4) and self.current_line() == ">":
                return
        raise SystemExit("no prompt within %d s:\n%s" % (limit, "\n".join(self.screen.display)))

    def lines(self):
        def text(line):
            return "".join(line[x].data for x in range(COLUMNS)).rstrip()
        return [text(line) for line in self.screen.history.top] + \
            [line.rstrip() for line in self.screen.display[:self.screen.cursor.y + 1]]

    def type(self, text):
        # the prompt indents lines by itself
        for part in text if isinstance(text, tuple) else (text.lstrip() + ENTER,):
            if isinstance(part, float):
                self.pump(part)
            else:
                self.child.send(part)
                self.pump(0.5)


def is_whole(lines, i):
    """Whether the line i of a part ends a statement, so that a prompt follows it."""
    if isinstance(lines[i], tuple):
        return True
    return i + 1 == len(lines) or isinstance(lines[i + 1], tuple) or not (
        lines[i + 1].startswith("  ") or lines[i + 1] == "end")


def record():
    folder = tempfile.mkdtemp()
    try:
        session = Session(folder)
        seen, parts = 0, []
        for caption, lines in PARTS:
            for i, line in enumerate(lines):
                session.type(line)
                if is_whole(lines, i):
                    session.until_prompt()
            shown = session.lines()
            parts.append((caption, shown[seen:-1]))
            seen = len(shown) - 1
        with open(os.path.join(folder, "session.lua"), encoding="utf-8") as file:
            saved = file.read()
        session.child.close(force=True)
        return parts, saved
    finally:
        shutil.rmtree(folder)


def page(parts, saved):
    text = ["<!-- Made by scripts/record_session.py: do not edit. -->", "",
            "# A session at the prompt", "",
            "`build/scullery` without arguments opens the prompt. This session was typed by",
            "`scripts/record_session.py` into a terminal of %d columns; a test types it again."
            % COLUMNS, ""]
    for caption, lines in parts:
        text += textwrap.wrap(caption, 100) + ["", "```"] + lines + ["```", ""]
    text += ["The script that it saved:", "", "<!-- not run: recorded -->", "```lua"]
    return "\n".join(text + saved.rstrip().split("\n") + ["```", ""])


if __name__ == "__main__":
    made = page(*record())
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(made)
