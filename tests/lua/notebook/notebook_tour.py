"""The notebook that ships, executed: its outputs are those that it stores.

`python3 tests/lua/notebook/notebook_tour.py --write` stores what the kernel puts out
now; the kernel is the one that Jupyter knows (`build/scullery notebook install`).
"""

import json
import os
import re
import shutil
import sys
import unittest

import nbformat
from nbclient import NotebookClient

PATH = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "tour.ipynb")
PICTURE, LARGE = "image/svg+xml", "image/png"  # the notebook that ships does without the large one
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]?\d+)?")
SECONDS = re.compile(r"\d+(?:\.\d+)? (?:s|ms|seconds)\b")


def executed(notebook):
    """A copy of the notebook with the outputs of a new kernel."""
    fresh = nbformat.from_dict(notebook)
    for cell in fresh.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(fresh, kernel_name="scullery", timeout=300, record_timing=False).execute()
    for cell in fresh.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop(LARGE, None)
            if PICTURE in data:  # nobody sees the text beside it
                data["text/plain"] = data["text/plain"].split("\n")[0]
    return fresh


def read():
    return nbformat.read(PATH, as_version=4)


def texts(cell):
    """What a cell put out, as texts; of a picture its title, as machines round differently."""
    result = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = output.get("text", data.get("text/plain", ""))
        if PICTURE in data or text.startswith("  "):  # a title stands in the middle
            text = text.split("\n")[0].strip()
        if not text:
            continue  # a line of progress that is no more
        types = [one for one in sorted(data) if one != PICTURE or shutil.which("gnuplot")]
        result.append((output.output_type, types, SECONDS.sub("SECONDS", text)))
    return result


class Tour(unittest.TestCase):
    maxDiff = None

    def assert_alike(self, stored, now):
        """The same texts, but for the last digits of numbers: machines round differently."""
        self.assertEqual([(kind, types, NUMBER.sub("0", text)) for kind, types, text in stored],
                         [(kind, types, NUMBER.sub("0", text)) for kind, types, text in now])
        for (_, _, before), (_, _, after) in zip(stored, now):
            for one, other in zip(NUMBER.findall(before), NUMBER.findall(after)):
                self.assertAlmostEqual(float(one), float(other), delta=1e-4 * abs(float(one)))

    def test_outputs_are_those_that_are_stored(self):
        stored = read()
        now = executed(stored)
        self.assertGreater(len(stored.cells), 10)
        for before, after in zip(stored.cells, now.cells):
            with self.subTest("notebook_tour.py --write stores other outputs",
                              cell=before.source):
                self.assert_alike(texts(before), texts(after))

    def test_it_holds_a_picture_and_no_error(self):
        outputs = [o for cell in read().cells for o in cell.get("outputs", [])]
        self.assertTrue(any(PICTURE in o.get("data", {}) for o in outputs))
        self.assertFalse(any(o.output_type == "error" for o in outputs))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        notebook = json.loads(nbformat.writes(executed(read())))
        with open(PATH, "w", encoding="utf-8") as file:  # nbformat always indents
            file.write(json.dumps(notebook, indent=0, sort_keys=True, ensure_ascii=False) + "\n")
    else:
        unittest.main(verbosity=2)
