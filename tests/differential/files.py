"""Files of each format: small valid ones, bent by flipped bits, cuts, bytes put in, other line ends
and quotes, and packed by gzip in one part or several."""
import gzip
import io
import random
import struct

import numpy as np

SEPARATORS = [",", ";", "\t", "|"]


# ------------ CSV

def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def number(draw):
    kind = draw.randrange(12)
    if kind < 5:
        return str(draw.randrange(-9, 100))
    if kind < 8:
        return "%.*f" % (draw.randrange(1, 12), draw.gauss(0, 1000))
    if kind == 8:
        return repr(draw.gauss(0, 1) * 10.0 ** draw.randrange(-300, 300))
    if kind == 9:
        return draw.choice(["", "+", "-"]) + str(2 ** 53 + draw.randrange(-3, 4))
    if kind == 10:
        odd = ["0x1A", "1_0", "inf"] if draw.randrange(6) == 0 else []
        return draw.choice(["1.", ".5", "+7", "-0", "00012", "1e5", "2E-3"] + odd)
    return draw.choice(["0.", "1"]) + "".join(draw.choices("0123456789", k=draw.randrange(15, 40)))


def long_number(draw):
    return "0." + "".join(draw.choices("0123456789", k=draw.randrange(1900, 2200)))


WORDS = ["red", "green", "blue", "été", "a b", "x,y", "p;q", 'say "no"', "3\r4", "two\nlines", "NA?",
         " pad ", "ß", "日本"]
MISSING = ["", "?", "NA", "NaN", "nan", "n/a", "null", "None", "#N/A"]


def field(draw, kind, separator):
    if draw.randrange(25) == 0:
        return draw.choice(MISSING)
    if kind == "number":
        text = number(draw)
    elif kind == "date":
        text = "20%02d-%02d-%02d" % (draw.randrange(100), draw.randrange(1, 13), draw.randrange(1, 29))
    elif kind == "few":
        text = draw.choice(["1", "2", "x"])
    else:
        text = draw.choice(WORDS)
    special = any(c in text for c in '"\r\n' + separator) or text != text.strip()
    return quoted(text) if special or draw.randrange(12) == 0 else text


def csv_file(draw):
    separator = draw.choice(SEPARATORS)
    columns = draw.choice([1, 1, 2, 2, 3, 4, 5])
    kinds = [draw.choice(["number", "number", "number", "word", "few", "date"]) for _ in range(columns)]
    header = draw.randrange(4) > 0
    lines = []
    if header:
        names = [draw.choice(["a", "b", "wide name", 'a "q" x', "é", "n,m", "y", ""]) + str(j)
                 for j in range(columns)]
        lines.append(separator.join(
            quoted(name) if '"' in name or separator in name or draw.randrange(6) == 0 else name
            for name in names))
    for _ in range(draw.randrange(1, 12)):
        lines.append(separator.join(field(draw, kind, separator) for kind in kinds))
    if draw.randrange(200) == 0:
        lines.append(separator.join([long_number(draw)] * columns))
    ends = draw.choice(["\n", "\n", "\n", "\r\n", "\r"])
    text = ends.join(lines) + draw.choice([ends, ends, ends, ""])
    if draw.randrange(10) == 0:
        text = "\ufeff" + text
    options = {}
    if draw.randrange(3) > 0 or separator == "|":
        options["separator"] = separator
    if draw.randrange(3) > 0:
        options["header"] = header
    return text.encode(), options


# ------------ LIBSVM

def libsvm_file(draw):
    lines = []
    for _ in range(draw.randrange(1, 10)):
        index, words = 0, [draw.choice(["1", "-1", "+1", "0.5", "3", number(draw)])]
        for _ in range(draw.randrange(0, 6)):
            index += draw.randrange(1, 4)
            shown = draw.choice(["%d"] * 40 + ["+%d", "0%d", "%d.0", "%de0"]) % index
            words.append("%s:%s" % (shown, number(draw)))
        comment = draw.choice([""] * 8 + [" # comment 1:2"])
        lines.append(draw.choice([" "] * 6 + ["  ", "\t"]).join(words) + comment)
    if draw.randrange(200) == 0:
        lines.append("1 1:" + long_number(draw))
    ends = draw.choice(["\n", "\n", "\n", "\r\n"])
    return (ends.join(lines) + draw.choice([ends, ""])).encode(), {}


# ------------ NPY and IDX

def npy_file(draw):
    kind = draw.choice(["<f8", "<f8", "<f4", ">f8", ">f4", "<i4", "<i8", ">i2", "|u1", "|i1", "<u8", "|b1"])
    shape = draw.choice([(draw.randrange(0, 9),), (draw.randrange(1, 6), draw.randrange(1, 5)),
                         (draw.randrange(1, 6), draw.randrange(1, 5)), ()])
    count = int(np.prod(shape, dtype=int))
    size = int(kind[2:])
    numbers = np.frombuffer(draw.randbytes(count * size), dtype=kind)
    if "f" in kind and draw.randrange(3) > 0:
        numbers = np.array([draw.gauss(0, 10) for _ in range(count)]).astype(kind)
    file = io.BytesIO()
    array = numbers.reshape(shape)
    if draw.randrange(4) == 0:
        array = np.asfortranarray(array)
    np.lib.format.write_array(file, array, version=draw.choice([(1, 0), (1, 0), (2, 0), (3, 0)]))
    return file.getvalue(), {}


def idx_file(draw):
    code = draw.choice([8, 8, 8, 9, 11, 12, 13, 14])
    size = {8: 1, 9: 1, 11: 2, 12: 4, 13: 4, 14: 8}[code]
    dims = [draw.randrange(1, 6) for _ in range(draw.choice([1, 2, 3]))]
    body = draw.randbytes(int(np.prod(dims)) * size)
    return struct.pack(">HBB", 0, code, len(dims)) + struct.pack(">%dI" % len(dims), *dims) + body, {}


# ------------ bending

TOKENS = {
    "csv": [b'"', b'"', b'""', b",", b";", b"\n", b"\r", b"\r", b"\r\n", b" ", b"\xe9", b"\xc3", b"\xef\xbb\xbf",
            b"NA", b"?", b"1e5", b"-", b"+", b".", b"9007199254740993", b'"b"junk', b"\xe0\x80\x80", b"$5"],
    "libsvm": [b" ", b":", b"\n", b"\r", b"\t", b"#", b"1:1", b"1e0:1", b"qid:1", b"0:1", b"-", b"+", b".", b"e5",
               b"nan", b"\x0b", b"2147483648:1"],
    "npy": [b"\x00", b"\x01", b"\x02", b" ", b"(", b")", b",", b"'", b"3", b"0", b"True", b"False", b"\n"],
    "idx": [b"\x00", b"\x01", b"\x08", b"\xff"],
}


def other_ends(draw, data):
    """Some or all line ends become others."""
    all_of_them, to = draw.random() < 0.5, draw.choice([b"\r", b"\r\n", b"\n", b"\r\r\n", b"\n\r"])
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    ends = [to if all_of_them or draw.random() < 0.3 else b"\n" for _ in lines[1:]] + [b""]
    return b"".join(line + end for line, end in zip(lines, ends))


def bend(draw, data, tokens):
    for _ in range(draw.choice([0, 0, 1, 1, 1, 1, 2, 3, 5])):
        at = draw.randrange(len(data) + 1)
        kind = draw.randrange(9)
        if kind <= 1 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1:]
        elif kind == 2:
            data = data[:at]
        elif kind <= 4:
            data = data[:at] + draw.choice(tokens) + data[at:]
        elif kind == 5:
            data = data[:at] + data[at + draw.randrange(1, 4):]
        elif kind == 6:
            stop = min(len(data), at + draw.randrange(1, 20))
            data = data[:stop] + data[at:stop] + data[stop:]
        elif kind == 7:
            data = other_ends(draw, data)
        else:
            data = data[:at] + bytes([draw.randrange(256)]) + data[at:]
    return data


def pack(draw, data):
    """Parts of gzip, perhaps with something between, behind or missing."""
    cuts = sorted(draw.randrange(len(data) + 1) for _ in range(draw.choice([0, 0, 1, 2])))
    parts = [gzip.compress(data[a:b], 1, mtime=0) for a, b in zip([0] + cuts, cuts + [len(data)])]
    between = draw.choice([b""] * 20 + [b"\x00", b"\x00" * 512, b"x"])
    packed = between.join(parts)
    packed += draw.choice([b""] * 16 + [b"\x00"] * 3 + [b"\x00" * 700, b"tail", b"\x1f", b"\x1f\x8b", b"\x00\x1f"])
    return bend(draw, packed, [b"\x00", b"\x1f", b"\x1f\x8b\x08"]) if draw.randrange(4) == 0 else packed


MAKERS = {"csv": csv_file, "libsvm": libsvm_file, "npy": npy_file, "idx": idx_file}


def make(kind, seed):
    """A bent file of this kind, and the options to read it with; the same for the same seed."""
    draw = random.Random("%s %d" % (kind, seed))
    data, options = MAKERS[kind](draw)
    data = bend(draw, data, TOKENS[kind])
    return pack(draw, data) if draw.randrange(3) == 0 else data, options
