"""The C libraries by ctypes: libscullery-fit (scullery/fit.h) and libscullery
(scullery/scullery.h).

The lock of the interpreter is free while they work. Fits of one process take turns; predictions run
beside them and beside each other.
"""

import ctypes
import ctypes.util
import os
import shutil
import threading
import warnings
import weakref

import numpy as np
from scipy import sparse

FLOAT64, FLOAT32 = 0, 1
NONE, VALUES, LABELS, INDICATORS = 0, 1, 2, 4
POSTERIOR, PROBABILITIES = 1, 2
TRANSFORM, DEVIATIONS, IMPORTANCE = 0, 1, 2
PREDICTIONS, SCORES, SHARES = 0, 1, 2
NO_MEMORY, CANCELLED = 5, 7

size_t, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
status, integer = ctypes.c_int32, ctypes.c_int32
TYPES = {FLOAT64: (np.float64, ctypes.c_double), FLOAT32: (np.float32, ctypes.c_float)}


class Error(ctypes.Structure):
    _fields_ = [("status", status), ("message", ctypes.c_char * 1020)]


class Table(ctypes.Structure):
    _fields_ = [
        ("rows", size_t),
        ("columns", size_t),
        ("dtype", integer),
        ("values", pointer),
        ("stride", size_t),
        ("starts", pointer),
        ("places", pointer),
        ("names", ctypes.POINTER(text)),
    ]


class Targets(ctypes.Structure):
    _fields_ = [
        ("kind", integer),
        ("values", pointer),
        ("columns", size_t),
        ("texts", ctypes.POINTER(text)),
        ("weights", pointer),
    ]


class ArrowRows(ctypes.Structure):
    _fields_ = [
        ("rows", size_t),
        ("columns", size_t),
        ("dtype", integer),
        ("values", pointer),
        ("names", ctypes.POINTER(text)),
        ("unknown", size_t),
        ("texts", size_t),
    ]


REPORT = ctypes.CFUNCTYPE(
    ctypes.c_int, pointer, text, ctypes.c_double, ctypes.c_double, ctypes.c_double
)
WARN = ctypes.CFUNCTYPE(None, pointer, text)


class Listener(ctypes.Structure):
    _fields_ = [("context", pointer), ("report", REPORT), ("warn", WARN)]


# ------------ finding the libraries


def _folders():
    """Where libscullery-fit may be: SCULLERY_LIBRARY, the build tree or installation that this
    package lies in (share/scullery/python/scullery), those of the command `scullery`."""
    named = os.environ.get("SCULLERY_LIBRARY")
    if named:
        yield named
    here = os.path.dirname(os.path.abspath(__file__))
    roots = [os.path.normpath(os.path.join(here, *[".."] * 4))]
    command = shutil.which("scullery")
    if command:
        folder = os.path.dirname(os.path.realpath(command))
        roots += [folder, os.path.dirname(folder)]
    for root in roots:
        yield root
        yield os.path.join(root, "lib")
        for folder in sorted(_subfolders(os.path.join(root, "lib"))):
            yield folder


def _subfolders(folder):
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.name.endswith("-linux-gnu")]
    except OSError:
        return []


def _paths(name):
    for folder in _folders():
        path = os.path.join(folder, f"lib{name}.so")
        if os.path.exists(path):
            return path
    return ctypes.util.find_library(name) or f"lib{name}.so"


def _declare(library, functions):
    for name, result, *arguments in functions:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def _open():
    error, out = ctypes.POINTER(Error), ctypes.POINTER(pointer)
    path = _paths("scullery-fit")
    try:
        fit = ctypes.CDLL(path)
        beside = os.path.join(os.path.dirname(path), "libscullery.so")
        predict = ctypes.CDLL(beside if os.path.exists(beside) else _paths("scullery"))
    except OSError as reason:
        raise ImportError(
            f"the library scullery-fit is not found ({reason}): install Scullery, or set "
            "SCULLERY_LIBRARY to the folder of libscullery-fit.so"
        ) from None
    table, targets = ctypes.POINTER(Table), ctypes.POINTER(Targets)
    sizes = ctypes.POINTER(size_t)
    _declare(
        fit,
        (
            ("scl_session_open", status, out, error),
            ("scl_session_listen", status, pointer, ctypes.POINTER(Listener), error),
            ("scl_session_stop", None, pointer),
            ("scl_session_fit", status, pointer, text, table, targets, ctypes.c_uint32, out, sizes,
             error),
            ("scl_session_help", status, pointer, text, out, error),
            ("scl_session_load", status, pointer, text, size_t, out, error),
            ("scl_pipeline_close", None, pointer),
            ("scl_pipeline_apply", status, pointer, integer, table, targets, out, sizes, sizes,
             ctypes.POINTER(integer), error),
            ("scl_pipeline_describe", status, pointer, out, error),
            ("scl_free", None, pointer),
        ),
    )
    _declare(
        predict,
        (
            ("scl_version", text),
            ("scl_predictor_load_memory", status, text, size_t, out, error),
            ("scl_predictor_close", None, pointer),
            ("scl_predictor_columns", size_t, pointer),
            ("scl_predictor_outputs", size_t, pointer),
            ("scl_predictor_classes", size_t, pointer),
            ("scl_predictor_class_number", ctypes.c_double, pointer, size_t),
            ("scl_predictor_has_probabilities", ctypes.c_int, pointer),
            ("scl_arrow_read_as", status, pointer, ctypes.POINTER(text), size_t,
             ctypes.POINTER(ctypes.POINTER(ArrowRows)), error),
            ("scl_arrow_free", None, pointer),
            ("scl_predictor_sparse", status, pointer, ctypes.c_int, integer, pointer, pointer,
             pointer, size_t, pointer, size_t, error),
        )
        + tuple(
            (name, status, pointer, integer, pointer, size_t, size_t, pointer, size_t, error)
            for name in (
                "scl_predictor_predict",
                "scl_predictor_scores",
                "scl_predictor_probabilities",
            )
        ),
    )
    return fit, predict


_fit, _predict = _open()


def version():
    """The version of the C library, as "0.2.0"."""
    return _predict.scl_version().decode()


def _check(code, error):
    if code == 0:
        return
    sentence = error.message.decode(errors="replace")
    if code == NO_MEMORY:
        raise MemoryError(sentence)
    raise ValueError(sentence)


# ------------ arrays


def table_of(X, names=None):
    """A Table that borrows a C-contiguous array of float64 or float32, or a CSR matrix; and what it
    borrows, which has to be kept as long."""
    table, kept = Table(), [X]
    table.rows, table.columns = X.shape
    if sparse.issparse(X):
        if X.has_canonical_format is False:
            X = X.copy()
            X.sum_duplicates()
        starts = np.ascontiguousarray(X.indptr, dtype=np.int64)
        places = np.ascontiguousarray(X.indices, dtype=np.int32)
        values = X.data
        table.starts, table.places = starts.ctypes.data, places.ctypes.data
        kept += [starts, places, values]
    else:
        values = X
    table.dtype = FLOAT32 if values.dtype == np.float32 else FLOAT64
    table.values = values.ctypes.data
    if names is not None:
        table.names = (text * len(names))(*(str(name).encode() for name in names))
    return table, kept


def arrow_rows(X, names=None):
    """The rows of an object with __arrow_c_stream__ (pyarrow, polars, DuckDB, pandas from 2.2 on)
    as an array, which borrows them where their layout agrees, the names of its columns, and how
    many of these stand for texts. names: the columns, of other rows, that are wanted."""
    capsule = X.__arrow_c_stream__()
    out, error = ctypes.POINTER(ArrowRows)(), Error()
    stream = _stream_of(capsule, b"arrow_array_stream")
    wanted = names and (text * len(names))(*(str(name).encode() for name in names))
    _check(_predict.scl_arrow_read_as(stream, wanted, len(names or ()), out, error), error)
    rows = out.contents
    if rows.unknown:
        warnings.warn(f"{rows.unknown} texts of the Arrow stream were not there at fit time: their "
                      "columns are 0", RuntimeWarning, stacklevel=4)
    names = [rows.names[j].decode() for j in range(rows.columns)]
    shape = rows.rows, rows.columns
    return _array_of(rows.values, shape, rows.dtype, _predict.scl_arrow_free, out), names, rows.texts


_stream_of = ctypes.pythonapi.PyCapsule_GetPointer
_stream_of.restype, _stream_of.argtypes = pointer, (ctypes.py_object, text)


def targets_of(kind, y=None, weights=None):
    """Targets that borrow arrays of float64."""
    targets, kept = Targets(), []
    targets.kind, targets.columns = kind, 1
    if y is not None:
        y = np.ascontiguousarray(y, dtype=np.float64)
        targets.values, targets.columns = y.ctypes.data, 1 if y.ndim == 1 else y.shape[1]
        kept.append(y)
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        targets.weights = weights.ctypes.data
        kept.append(weights)
    return targets, kept


def _take_bytes(address, size):
    try:
        return ctypes.string_at(address.value, size)
    finally:
        _fit.scl_free(address)


def _take_text(address):
    try:
        return ctypes.string_at(address.value).decode(errors="replace")
    finally:
        _fit.scl_free(address)


# ------------ sessions


class _Session:
    """The session of this process. Its calls take turns."""

    def __init__(self):
        self.handle, error = pointer(), Error()
        self.lines, self.progress, self.failure = [], None, None
        self.lock = threading.RLock()
        _check(_fit.scl_session_open(self.handle, error), error)
        self.listener = Listener(None, REPORT(self._report), WARN(self._warn))
        _check(_fit.scl_session_listen(self.handle, self.listener, error), error)

    def _report(self, _, stage, done, total, loss):
        if self.progress is None:
            return 1
        try:
            return 0 if self.progress(stage.decode(), done, total, loss) is False else 1
        except BaseException as failure:  # raised again by `call`
            self.failure = failure
            return 0

    def _warn(self, _, line):
        self.lines.append(line.decode(errors="replace"))

    def call(self, function, *arguments, kept=None, progress=None):
        """function(*arguments, error) of the library, which borrows what is in `kept`. Ctrl-C ends
        it: in the main thread of the interpreter the work is done on another one, while this one
        waits for signals."""
        error, code = Error(), []

        def work(_=kept):
            code.append(function(*arguments, error))

        with self.lock:
            self.lines, self.progress, self.failure = [], progress, None
            if threading.current_thread() is threading.main_thread():
                self._work(work)
            else:
                work()
            lines, failure = self.lines, self.failure
            self.progress = self.failure = None
        for line in lines:
            warnings.warn(line, RuntimeWarning, stacklevel=4)
        if failure is not None:
            raise failure
        _check(code[0], error)

    def _work(self, work):
        """work() on another thread, to its end: it borrows arrays. Not by join(), which takes a
        thread for ended where a signal has ended the waiting."""
        done, interrupt = threading.Event(), None

        def run():
            try:
                work()
            finally:
                done.set()

        threading.Thread(target=run, name="scullery", daemon=True).start()
        while not done.is_set():
            try:
                done.wait(None if interrupt is None else 0.02)
            except BaseException as raised:
                interrupt = raised
            if interrupt is not None:  # again and again: it may not have begun
                _fit.scl_session_stop(self.handle)
        if interrupt is not None:
            raise interrupt


_sessions = {}
_opening = threading.Lock()


def session():
    """The session of this process, which is opened by the first call. A child process (fork) has
    one of its own."""
    with _opening:
        here = os.getpid()
        if here not in _sessions:
            _sessions[here] = _Session()
        return _sessions[here]


def _after_fork():
    global _opening
    _opening = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


# ------------ models


class Model:
    """The bytes of a fitted pipeline (docs/models.md), and what predicts with them. It is pickled
    as these bytes."""

    def __init__(self, data):
        self.data = data
        self._predictor = self._pipeline = None
        self._lock = threading.Lock()

    def __reduce__(self):
        return Model, (self.data,)

    @property
    def predictor(self):
        """The scl_predictor of the bytes."""
        with self._lock:
            if self._predictor is None:
                handle, error = pointer(), Error()
                _check(
                    _predict.scl_predictor_load_memory(self.data, len(self.data), handle, error),
                    error,
                )
                weakref.finalize(self, _predict.scl_predictor_close, handle)
                self._predictor = handle
            return self._predictor

    def _pipeline_here(self):
        """The scl_pipeline of the bytes in the session of this process."""
        with self._lock:
            if self._pipeline is None or self._pipeline[0] != os.getpid():
                handle = pointer()
                session().call(_fit.scl_session_load, session().handle, self.data,
                               len(self.data), handle)
                weakref.finalize(self, _fit.scl_pipeline_close, handle)
                self._pipeline = os.getpid(), handle
            return self._pipeline[1]

    def classes(self):
        """The labels of the classes, as numbers."""
        count = _predict.scl_predictor_classes(self.predictor)
        return np.array(
            [_predict.scl_predictor_class_number(self.predictor, k) for k in range(count)]
        )

    def has_probabilities(self):
        return bool(_predict.scl_predictor_has_probabilities(self.predictor))

    def predict(self, X, what=PREDICTIONS):
        """n x width numbers of the type of X: places of classes or values, scores, shares."""
        table, kept = table_of(X)
        handle = self.predictor
        columns = _predict.scl_predictor_columns(handle)
        if table.columns != columns:
            raise ValueError(f"X has {table.columns} columns, and the model has {columns}")
        classes = _predict.scl_predictor_classes(handle)
        outputs = _predict.scl_predictor_outputs(handle)
        if what == SHARES:
            width = classes
        else:
            width = 1 if what == PREDICTIONS and classes else outputs
        out, error = np.empty((table.rows, width), TYPES[table.dtype][0]), Error()
        if table.starts:
            code = _predict.scl_predictor_sparse(
                handle, what, table.dtype, table.starts, table.places, table.values, table.rows,
                out.ctypes.data, 0, error)
        else:
            function = (
                _predict.scl_predictor_predict,
                _predict.scl_predictor_scores,
                _predict.scl_predictor_probabilities,
            )[what]
            code = function(handle, table.dtype, table.values, table.rows, 0, out.ctypes.data, 0,
                            error)
        del kept
        _check(code, error)
        return out

    def apply(self, what, X, names=None, targets=None):
        """What scl_pipeline_apply makes of rows, an array."""
        table, kept = table_of(X, names)
        values, rows, columns, dtype = pointer(), size_t(), size_t(), integer()
        given = None if targets is None else targets[0]
        session().call(_fit.scl_pipeline_apply, self._pipeline_here(), what, table, given, values,
                       rows, columns, dtype, kept=(kept, targets))
        return _array_of(values.value, (rows.value, columns.value), dtype.value, _fit.scl_free,
                         values)

    def describe(self):
        """The pipeline as the command prints it."""
        out = pointer()
        session().call(_fit.scl_pipeline_describe, self._pipeline_here(), out)
        return _take_text(out)


def _array_of(address, shape, dtype, release, owner):
    """The numbers at an address as an array, which releases the owner in the end."""
    if 0 in shape:
        release(owner)
        return np.empty(shape, TYPES[dtype][0])
    raw = (TYPES[dtype][1] * (shape[0] * shape[1])).from_address(address)
    weakref.finalize(raw, release, owner)
    return np.frombuffer(raw, TYPES[dtype][0]).reshape(shape)


def fit(recipe, X, targets, names=None, keep=0, progress=None):
    """The model that the pipeline of a recipe, a text of Lua, learns. targets: of targets_of."""
    table, kept = table_of(X, names)
    out, size = pointer(), size_t()
    session().call(_fit.scl_session_fit, session().handle, recipe.encode(), table, targets[0], keep,
                   out, size, kept=(kept, targets), progress=progress)
    return Model(_take_bytes(out, size.value))


def help(topic=""):
    """The help of Scullery on a topic, such as "solver.ridge", "pipeline" or "choosing lambda": its
    text. Without a topic: an overview."""
    out = pointer()
    session().call(_fit.scl_session_help, session().handle, topic.encode(), out)
    return _take_text(out)
