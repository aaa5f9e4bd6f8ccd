"""The process behind the kernel: `scullery notebook serve`, which runs the cells.

Requests and answers are JSON lines over a pair of pipes of their own. What cells print comes over
the child's standard output and error, so that the two are never mixed up. One loop reads all of
them, in the main thread; a press of Ctrl-C is passed on to the child.
"""

import codecs
import json
import os
import selectors
import signal
import subprocess
import time

MOST_PRINTED = 1_000_000  # bytes of text that a cell may show
MOST_DISPLAYED = 20_000_000  # bytes of pictures
TOGETHER = 0.05  # seconds in which pieces of text are gathered to one message
PIECE = 1 << 16


class Died(Exception):
    """The child ended while it was asked; the text says how."""


def ending(status):
    """A child's status as words."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


class Text:
    """What a cell prints to one stream: gathered, limited, and given on as whole letters."""

    def __init__(self, name, show):
        self.name, self.show = name, show
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.gathered, self.since = [], None

    def add(self, data):
        self.gathered.append(data)
        if self.since is None:
            self.since = time.monotonic()

    def flush(self, final=False):
        text = self.decoder.decode(b"".join(self.gathered), final)
        self.gathered, self.since = [], None
        if text:
            self.show(self.name, text)

    def due(self):
        """Seconds until what was gathered is to be shown; None where there is nothing."""
        return None if self.since is None else self.since + TOGETHER - time.monotonic()


class Printed:
    """Both streams of a cell, in the order in which they were read, up to a limit."""

    def __init__(self, show):
        self.show = show
        self.streams = {name: Text(name, show) for name in ("stdout", "stderr")}
        self.shown = self.lost = self.displayed = self.undisplayed = 0

    def add(self, name, data):
        for other, text in self.streams.items():
            if other != name:
                text.flush()
        room = max(0, MOST_PRINTED - self.shown)
        self.shown += min(room, len(data))
        self.lost += max(0, len(data) - room)
        if room:
            self.streams[name].add(data[:room])

    def flush(self, final=False):
        for text in self.streams.values():
            text.flush(final)

    def flush_due(self):
        for text in self.streams.values():
            wait = text.due()
            if wait is not None and wait <= 0:
                text.flush()

    def due(self):
        waits = [w for w in (text.due() for text in self.streams.values()) if w is not None]
        return max(0, min(waits)) if waits else None

    def admits(self, data):
        """Whether a picture is still shown."""
        self.displayed += sum(len(text) for text in data.values())
        if self.displayed <= MOST_DISPLAYED:
            return True
        self.undisplayed += 1
        return False

    def finish(self):
        self.flush(final=True)
        if self.lost:
            self.show("stderr", f"\n[{self.lost} more bytes were printed and are not shown: a cell "
                      f"shows {MOST_PRINTED} bytes. io.open(path, \"w\") writes to a file.]\n")
        if self.undisplayed:
            self.show("stderr", f"\n[{self.undisplayed} more pictures are not shown: a cell shows "
                      f"{MOST_DISPLAYED} bytes of them. fig:save(path) writes to a file.]\n")


class Child:
    """One running child; ask() answers a request, interrupt() and close() work from any thread."""

    def __init__(self, command, processes=None):
        several = ["--processes", processes] if processes else []
        requests, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        self.rest, self.count = b"", 0
        try:
            self.process = subprocess.Popen(
                [command, *several, "notebook", "serve", str(requests), str(answers)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(requests, answers), start_new_session=True, bufsize=0)
        except OSError:
            os.close(self.requests)
            os.close(self.answers)
            raise
        finally:
            os.close(requests)
            os.close(answers)
        self.names = {self.answers: "answers", self.process.stdout.fileno(): "stdout",
                      self.process.stderr.fileno(): "stderr"}
        self.selector = selectors.DefaultSelector()
        for descriptor in self.names:
            os.set_blocking(descriptor, False)
            self.selector.register(descriptor, selectors.EVENT_READ)

    # ------------ asking

    def ask(self, request, show=lambda name, text: None, display=lambda data: None,
            progress=lambda text: None):
        """The answer to a request. Meanwhile show(stream, text) is called with what the child
        prints, display(data) with its pictures, and progress(text) with a line that tells how far
        it is, "" where there is none any more. Died where the child ends."""
        self.count += 1
        printed = Printed(show)
        try:
            self.send(f"{self.count} {json.dumps(request)}\n".encode())
            return self.follow(printed, display, progress)
        finally:
            printed.finish()

    def send(self, line):
        try:
            while line:
                line = line[os.write(self.requests, line):]
        except BrokenPipeError:
            pass  # follow() finds the end of the answers

    def follow(self, printed, display, progress):
        while True:
            ready = {self.names[key.fd] for key, _ in self.selector.select(printed.due())}
            for name in ("stdout", "stderr"):
                if name in ready:
                    self.read_text(name, printed)
            if "answers" in ready:
                for answer in self.read_answers(printed):
                    if answer["event"] == "done":
                        return answer
                    if answer["event"] == "progress":
                        progress(answer["text"])
                    elif printed.admits(answer["data"]):
                        display(answer["data"])
            printed.flush_due()

    def descriptor(self, name):
        return next(d for d, known in self.names.items() if known == name)

    def read(self, descriptor):
        """Bytes; None where there are none now, b"" at the end."""
        try:
            return os.read(descriptor, PIECE)
        except BlockingIOError:
            return None

    def read_text(self, name, printed):
        descriptor = self.descriptor(name)
        data = self.read(descriptor)
        if data == b"":
            self.selector.unregister(descriptor)
        elif data:
            printed.add(name, data)
        return data

    def read_answers(self, printed):
        """The answers for the present request that came; all that was printed before them is shown
        first."""
        data = self.read(self.answers)
        if data is None:
            return
        self.drain(printed)
        if data == b"":
            raise Died(self.wait(5))
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            answer = json.loads(line.decode(errors="replace"))
            if answer.get("id") == self.count:
                yield answer

    def drain(self, printed):
        """What stands in the pipes now: the child flushes before it answers. A process that a cell
        left in the background may go on printing: as much as a pipe holds, and no more."""
        for name in ("stdout", "stderr"):
            for _ in range(32):
                if self.descriptor(name) not in self.selector.get_map():
                    break
                if not self.read_text(name, printed):
                    break
        printed.flush()

    # ------------ stopping

    def interrupt(self):
        self.signal(signal.SIGINT)

    def signal(self, number):
        """To the child and what it started."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def wait(self, seconds):
        """How the child ended; it is killed where it has not ended by then."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return ending(self.process.returncode)

    def close(self):
        """End the child: it may finish its files, and is killed after two seconds."""
        self.signal(signal.SIGTERM)
        self.wait(2)

    def release(self):
        """The pipes of a child that ended; by the thread that asks."""
        self.selector.close()
        os.close(self.requests)
        os.close(self.answers)
        self.process.stdout.close()
        self.process.stderr.close()
