"""Tables that give streams of Arrow's C interface, made by ctypes: no library of Arrow is needed."""

import ctypes

import numpy as np


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


pointer, whole = ctypes.c_void_p, ctypes.c_int64
RELEASE = ctypes.CFUNCTYPE(None, pointer)
GIVE = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)
ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, pointer)
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", pointer),
    ("flags", whole), ("n_children", whole), ("children", pointer), ("dictionary", pointer),
    ("release", RELEASE), ("private_data", pointer),
]
Array._fields_ = [
    ("length", whole), ("null_count", whole), ("offset", whole), ("n_buffers", whole),
    ("n_children", whole), ("buffers", pointer), ("children", pointer), ("dictionary", pointer),
    ("release", RELEASE), ("private_data", pointer),
]
Stream._fields_ = [
    ("get_schema", GIVE), ("get_next", GIVE), ("get_last_error", ERROR), ("release", RELEASE),
    ("private_data", pointer),
]
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype, _capsule.argtypes = ctypes.py_object, (pointer, ctypes.c_char_p, pointer)


def numbers(rows):
    """rows x 2 numbers, the same each time."""
    return np.random.RandomState(rows).standard_normal((rows, 2))


def _pointers(records):
    return ctypes.cast((pointer * len(records))(*map(ctypes.addressof, records)), pointer)


class Table:
    """Columns by name: texts, or arrays of float64, of one dimension or, as lists, of two; equal batches but
    for the last. null: (name, row), a null. `released` counts the batches that were."""

    def __init__(self, columns, batches=1, null=None):
        self.columns = {name: np.ascontiguousarray(one) for name, one in columns.items()}
        self.batches, self.null = batches, null
        self.rows = len(next(iter(columns.values())))
        self.at = self.released = 0
        self.kept = []  # memory that the records point to

    def keep(self, one):
        self.kept.append(one)
        return one

    def __arrow_c_stream__(self, requested_schema=None):
        self.at = 0
        release = self.keep(RELEASE(self.release_stream))
        self.stream = Stream(self.keep(GIVE(self.schema)), self.keep(GIVE(self.next)), ERROR(),
                             release, None)
        return _capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)

    def release_stream(self, _):
        self.stream.release = RELEASE()

    def release_schema(self, place):
        Schema.from_address(place).release = RELEASE()

    def release_batch(self, place):
        self.released += 1
        Array.from_address(place).release = RELEASE()

    def field(self, name, values):
        if values.ndim == 1:
            return self.keep(Schema(b"u" if values.dtype.kind == "U" else b"g", name.encode()))
        item = self.keep(Schema(b"g", b"item"))
        return self.keep(Schema(b"+w:%d" % values.shape[1], name.encode(), None, 0, 1,
                                self.keep(_pointers([item]))))

    def schema(self, _, out):
        fields = [self.field(name, values) for name, values in self.columns.items()]
        made = Schema.from_address(out)
        made.format, made.n_children = b"+s", len(fields)
        made.children = self.keep(_pointers(fields))
        made.release = self.keep(RELEASE(self.release_schema))
        return 0

    def array(self, name):
        values, valid = self.columns[name], None
        if values.dtype.kind == "U":
            parts = [one.encode() for one in values]
            ends = self.keep(np.cumsum([0] + [len(part) for part in parts], dtype=np.int32))
            flat = (pointer * 3)(None, ends.ctypes.data,
                                 ctypes.addressof(self.keep(ctypes.create_string_buffer(b"".join(parts)))))
            return self.keep(Array(len(parts), 0, 0, 3, 0, ctypes.addressof(self.keep(flat))))
        if self.null and self.null[0] == name:
            bits = np.ones(self.rows, dtype=bool)
            bits[self.null[1]] = False
            valid = self.keep(np.packbits(bits, bitorder="little")).ctypes.data
        flat = (pointer * 2)(valid, values.ctypes.data)
        numbers = self.keep(Array(values.size, 0 if valid is None else 1, 0, 2, 0,
                                  ctypes.addressof(self.keep(flat))))
        if values.ndim == 1:
            return numbers
        empty = self.keep((pointer * 1)())
        return self.keep(Array(len(values), 0, 0, 1, 1, ctypes.addressof(empty),
                               self.keep(_pointers([numbers]))))

    def next(self, _, out):
        made, count = Array.from_address(out), -(-self.rows // self.batches)
        if self.at >= self.rows:
            made.release = RELEASE()
            return 0
        arrays = [self.array(name) for name in self.columns]
        made.length, made.offset = min(count, self.rows - self.at), self.at
        made.n_buffers, made.n_children = 1, len(arrays)
        made.buffers = ctypes.addressof(self.keep((pointer * 1)()))
        made.children = self.keep(_pointers(arrays))
        made.release = self.keep(RELEASE(self.release_batch))
        self.at += made.length
        return 0
