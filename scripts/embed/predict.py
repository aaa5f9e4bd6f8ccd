"""Predictions of a saved model from Python, by ctypes: no NumPy, no Lua.

    python3 predict.py MODEL ROWS.csv [libscullery.so]

prints what predict.c prints: labels of a classification with their probabilities, values of a
regression. As a module it offers Predictor.
"""

import array
import ctypes
import sys

FLOAT64, FLOAT32 = 0, 1
TYPES = {"d": FLOAT64, "f": FLOAT32}


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("message", ctypes.c_char * 1020)]


class Field(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("number", ctypes.c_double)]


class SculleryError(Exception):
    """A sentence of the library, with its status."""

    def __init__(self, error):
        super().__init__(error.message.decode(errors="replace"))
        self.status = error.status


def open_library(path="libscullery.so"):
    """The library, with the types of the functions that are used here."""
    library = ctypes.CDLL(path)
    size, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
    error = ctypes.POINTER(Error)
    for name, result, *arguments in (
        ("scl_version", text),
        ("scl_set_threads", ctypes.c_int32, size, error),
        ("scl_predictor_load", ctypes.c_int32, text, ctypes.POINTER(pointer), error),
        ("scl_predictor_close", None, pointer),
        ("scl_predictor_columns", size, pointer),
        ("scl_predictor_column_name", text, pointer, size),
        ("scl_predictor_outputs", size, pointer),
        ("scl_predictor_classes", size, pointer),
        ("scl_predictor_class_label", text, pointer, size),
        ("scl_predictor_has_probabilities", ctypes.c_int, pointer),
        ("scl_predictor_encode", ctypes.c_int32, pointer, ctypes.POINTER(text), size,
         ctypes.POINTER(Field), size, ctypes.c_int32, pointer, size, ctypes.POINTER(size), error),
    ) + tuple(
        (name, ctypes.c_int32, pointer, ctypes.c_int32, pointer, size, size, pointer, size, error)
        for name in ("scl_predictor_predict", "scl_predictor_scores", "scl_predictor_probabilities")
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Predictor:
    """A saved model. Threads may share it; the interpreter's lock is free while it works."""

    def __init__(self, path, library=None):
        self.library = library or open_library()
        self.handle = ctypes.c_void_p()
        error = Error()
        if self.library.scl_predictor_load(str(path).encode(), self.handle, error) != 0:
            raise SculleryError(error)
        self.columns = self.library.scl_predictor_columns(self.handle)
        self.outputs = self.library.scl_predictor_outputs(self.handle)
        self.labels = [
            self.library.scl_predictor_class_label(self.handle, k).decode()
            for k in range(self.library.scl_predictor_classes(self.handle))
        ]
        self.has_probabilities = bool(self.library.scl_predictor_has_probabilities(self.handle))

    def close(self):
        handle, self.handle = self.handle, ctypes.c_void_p()
        self.library.scl_predictor_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _run(self, function, rows, width):
        """rows: any buffer of float64 or float32 numbers, row after row: an array.array, a
        contiguous NumPy array. Returns an array.array with `width` numbers a row."""
        view = memoryview(rows)
        kind = view.format
        if kind not in TYPES or not view.c_contiguous:
            raise TypeError("rows are contiguous numbers of float64 or float32")
        view = view.cast("B")
        count = len(view) // array.array(kind).itemsize // max(self.columns, 1)
        if count * self.columns * array.array(kind).itemsize != len(view):
            raise ValueError(f"rows have {self.columns} numbers each")
        data = view if not view.readonly else array.array("B", view)
        source = (ctypes.c_char * len(view)).from_buffer(data)
        out = array.array(kind, bytes(count * width * array.array(kind).itemsize))
        address, error = out.buffer_info()[0], Error()
        status = function(self.handle, TYPES[kind], source, count, 0, address, 0, error)
        if status != 0:
            raise SculleryError(error)
        return out

    def encode(self, table):
        """A list of dicts of fields by name (a text, a number, None where it is missing), as
        csv.DictReader gives them, as an array of `columns` numbers each, and the number of
        categories that the model does not know."""
        names = list(table[0]) if table else []
        values = (Field * (len(names) * len(table)))()
        cells = (row[name] for row in table for name in names)
        for field, value in zip(values, cells):
            if isinstance(value, str):
                field.text = value.encode()
            else:
                field.number = float("nan") if value is None else value
        columns = (ctypes.c_char_p * (len(names) + 1))(*(name.encode() for name in names))
        out, unknown, error = array.array("d", bytes(8 * self.columns * len(table))), ctypes.c_size_t(), Error()
        status = self.library.scl_predictor_encode(
            self.handle, columns, len(names), values, len(table), FLOAT64, out.buffer_info()[0], 0, unknown, error)
        if status != 0:
            raise SculleryError(error)
        return out, unknown.value

    def predict(self, rows):
        """Places of classes from 0, one a row; of a regression its values."""
        width = 1 if self.labels else self.outputs
        return self._run(self.library.scl_predictor_predict, rows, width)

    def scores(self, rows):
        return self._run(self.library.scl_predictor_scores, rows, self.outputs)

    def probabilities(self, rows):
        return self._run(self.library.scl_predictor_probabilities, rows, len(self.labels))


def main(model, path, library="libscullery.so"):
    with open(path, encoding="ascii") as file:
        rows = array.array("d", (float(word) for line in file for word in line.split(",")))
    with Predictor(model, open_library(library)) as predictor:
        said = predictor.predict(rows)
        shares = predictor.probabilities(rows) if predictor.has_probabilities else ()
    if not predictor.labels:
        for i in range(0, len(said), predictor.outputs):
            print(*("%.17g" % value for value in said[i : i + predictor.outputs]))
    for i, place in enumerate(said if predictor.labels else ()):
        classes = len(predictor.labels) if shares else 0
        row = shares[i * classes : (i + 1) * classes] if classes else ()
        print(predictor.labels[int(place)], *("%.6f" % share for share in row))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except SculleryError as failure:
        sys.exit(str(failure))
