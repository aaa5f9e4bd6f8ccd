"""What the reference readers make of a file, compared with what Scullery made of it: Python's csv and
gzip, NumPy, scikit-learn. Each judge returns None where both say the same, or a sentence."""
import csv
import datetime
import gzip
import io
import math
import re
import struct
import sys
import warnings
import zlib

import numpy as np
from sklearn.datasets import load_svmlight_file

csv.field_size_limit(1 << 30)
sys.set_int_max_str_digits(0)
warnings.simplefilter("ignore")

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
WHOLE = re.compile(r"[+-]?[0-9]+\.?\Z")
MISSING = {"", "?", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "#N/A", "#NA", "#N/A N/A",
           "<NA>", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
BLANKS = " \t\r"


class Results:
    """Values in the order in which read.lua wrote them."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values if len(values) > 1 else values[0]

    def text(self):
        size = self.take("<I")
        self.at += size
        return self.data[self.at - size:self.at]

    def texts(self):
        return [self.text() for _ in range(self.take("<I"))]

    def matrix(self):
        rows, cols = self.take("<II")
        self.at += 8 * rows * cols
        return np.frombuffer(self.data[self.at - 8 * rows * cols:self.at], "<f8").reshape(rows, cols)


def unpacked(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


REFUSALS = (OSError, EOFError, zlib.error, ValueError, struct.error, csv.Error, IndexError, TypeError,
            OverflowError, SyntaxError, MemoryError, RecursionError, KeyError)


def same(ours, theirs):
    return ours.shape == theirs.shape and np.array_equal(ours, theirs, equal_nan=True)


# ------------ CSV

class Column:
    def __init__(self, results):
        self.kind, self.name = results.text().decode(), results.text()
        self.missing = results.take("<B") == 1
        self.levels = results.texts()
        self.width = {"category": len(self.levels) + self.missing, "skipped": 0}.get(self.kind, 1)


class Table:
    def __init__(self, results):
        self.header, self.separator = results.take("<BB")
        self.disagreement = results.text().decode(errors="replace")
        self.columns = [Column(results) for _ in range(results.take("<I"))]
        self.rounded = results.texts()
        self.X = results.matrix()


def rows_of(text, separator):
    """By the csv module: strictly, or, as blanks may follow a closing quote here, as it would guess."""
    given = dict(delimiter=separator, skipinitialspace=True)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True, **given))
    except csv.Error:
        return list(csv.reader(io.StringIO(text, newline=""), strict=False, **given))


def stripped(text):
    return text.strip(BLANKS)


def same_text(ours, theirs):
    """Blanks around a field count inside quotes alone, and the csv module does not tell quotes."""
    return stripped(ours.decode()) == stripped(theirs)


def is_missing(text):
    return stripped(text) in MISSING


def days_of(text):
    date = datetime.date.fromisoformat(stripped(text)[:10].replace("/", "-"))
    return (date - datetime.date(1970, 1, 1)).days


def judge_numbers(column, fields, X):
    values = [None if is_missing(f) else stripped(f) for f in fields]
    date = column.kind == "date"
    for value, number in zip(values, X):
        if value is None:
            continue
        if not date and not NUMBER.match(value):
            return "reads the text %r as the number %r" % (value, number)
        if math.floor(number) != days_of(value) if date else float(value) != number:
            return "reads %r as %r" % (value, number)
    known = [number for value, number in zip(values, X) if value is not None]
    if len(known) < len(X) and not all(
            X[i] in (np.median(known), np.sort(known)[len(known) // 2 - 1] / 2 + np.sort(known)[len(known) // 2] / 2)
            for i, value in enumerate(values) if value is None):
        return "fills in other than the median"
    return None


def judge_levels(column, fields, X):
    numbers = sum(NUMBER.match(f) is not None for f in fields)
    if numbers > 0 and numbers + sum(is_missing(f) for f in fields) == len(fields):
        return "takes numbers as categories"
    for text, row in zip(fields, X):
        place = np.flatnonzero(row)
        if len(place) != 1 or row[place[0]] != 1:
            return "has %d levels for one field" % len(place)
        level = None if place[0] == len(column.levels) else column.levels[place[0]]
        if not (is_missing(text) if level is None else same_text(level, text)):
            return "reads %r as the level %r" % (text, level)
    return None


def judge_columns(table, rows):
    first = 0
    rounded = set()
    for j, column in enumerate(table.columns):
        fields = [row[j] for row in rows]
        X = table.X[:, first:first + column.width]
        first += column.width
        if column.kind == "category":
            problem = judge_levels(column, fields, X)
        elif column.kind in ("number", "date"):
            problem = judge_numbers(column, fields, X[:, 0].tolist())
            if any(WHOLE.match(f) and abs(int(f.rstrip("."))) > 2 ** 53 for f in map(stripped, fields)):
                rounded.add(column.name)
        else:
            problem = "is left out"
        if problem:
            return "column %d %s" % (j + 1, problem)
    if rounded != set(table.rounded):
        return "says that %r were rounded, where %r were" % (table.rounded, rounded)
    return None if first == table.X.shape[1] else "X has other columns"


def judge_names(table, names):
    for j, (column, name) in enumerate(zip(table.columns, names)):
        if not same_text(column.name, name) and (stripped(name) or column.name != b"x%d" % (j + 1)):
            return "calls the column %r %r" % (name, column.name)
    return None


def judge_csv(data, results):
    table = Table(results)
    if table.disagreement:
        return table.disagreement
    separator = chr(table.separator)
    text = unpacked(data).decode("utf-8-sig")
    if separator != "\t" and re.search(r'\t[ \t]*"', text):
        return None  # a blank before a quote here, text to the csv module
    rows = rows_of(text, separator)
    if len(table.columns) > 1 or len([r for r in rows if r]) != len(table.X) + table.header:
        rows = [row for row in rows if len(row) > 1 or "".join(row).strip(BLANKS)]
    rows = [row for row in rows if row]
    if any(len(row) != len(table.columns) for row in rows):
        return "reads rows of unlike lengths"
    if table.header:
        problem = judge_names(table, rows[0])
        if problem:
            return problem
        rows = rows[1:]
    if len(rows) != len(table.X):
        return "reads %d rows where there are %d" % (len(table.X), len(rows))
    return judge_columns(table, rows)


# ------------ the others

def judge_libsvm(data, results):
    X, y = results.matrix(), results.matrix()
    theirs, labels = load_svmlight_file(io.BytesIO(unpacked(data)), zero_based=False)
    if not same(y[:, 0], labels):
        return "reads other labels"
    return None if same(X, theirs.toarray()) else "reads other numbers"


def judge_npy(data, results):
    X = results.matrix()
    theirs = np.load(io.BytesIO(unpacked(data)), allow_pickle=False)
    theirs = theirs.reshape(theirs.shape + (1,) * (2 - theirs.ndim)).astype(float)
    return None if same(X, theirs) else "reads other numbers"


def judge_idx(data, results):
    X = results.matrix()
    data = unpacked(data)
    zeros, code, dims = struct.unpack_from(">HBB", data)
    sizes = struct.unpack_from(">%dI" % dims, data, 4)
    kind = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}[code]
    theirs = np.frombuffer(data[4 + 4 * dims:], kind).reshape(sizes[0], -1).astype(float)
    return None if zeros == 0 and same(X, theirs) else "reads other numbers"


JUDGES = {"csv": judge_csv, "libsvm": judge_libsvm, "npy": judge_npy, "idx": judge_idx}


def judge(kind, data, results):
    """(was it read, what is wrong or None) of the next of the results."""
    if results.take("<B") == 0:
        sentence, alike = results.text().decode(errors="replace"), results.take("<B")
        if not alike:
            return False, "is refused whole and accepted as a stream: " + sentence
        words = len(sentence.split())
        return False, None if words > 3 and "bug in Scullery" not in sentence else "is refused: " + sentence
    start = results.at
    try:
        return True, JUDGES[kind](data, results)
    except REFUSALS as refusal:
        skip(kind, results, start)
        return True, "is read, and the reference refuses it: %s" % refusal


def skip(kind, results, start):
    results.at = start
    if kind == "csv":
        Table(results)
    else:
        for _ in range(2 if kind == "libsvm" else 1):
            results.matrix()
