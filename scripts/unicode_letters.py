#!/usr/bin/env python3
"""Writes core/text/letters_table.h from Python's own copy of the Unicode character database:

    python3 scripts/unicode_letters.py > core/text/letters_table.h
"""
import textwrap
import unicodedata

TEMPLATE = """/* Made by scripts/unicode_letters.py from the Unicode character database %s. */
#ifndef SCULLERY_LETTERS_TABLE_H
#define SCULLERY_LETTERS_TABLE_H

#include <stdint.h>

// clang-format off
/* The ranges of letters, marks, numbers and connecting punctuation (general categories L, M, N and
 * Pc) above ASCII, two numbers for each: from the last character before to the first, and from the
 * first to the last. */
static const int32_t word_ranges[] = {
%s
};

/* Characters above ASCII with a lower case of one character, four numbers for each run: from the
 * last character before to the first, from the first to the last, step, and what is added. */
static const int32_t lower_runs[] = {
%s
};
// clang-format on

#endif"""


def is_word(code):
    category = unicodedata.category(chr(code))
    return category[0] in "LMN" or category == "Pc"


def word_ranges():
    ranges = []
    for code in filter(is_word, range(0x80, 0x110000)):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return ranges


def lower_of(code):
    lower = chr(code).lower()
    # The one character whose lower case is two: I with a dot, which becomes i.
    return ord(lower) if len(lower) == 1 else ord("i") if code == 0x130 else code


def lower_runs():
    runs = []  # first, last, step (0: one character so far), added
    for code in range(0x80, 0x110000):
        added = lower_of(code) - code
        if added == 0:
            continue
        last = runs[-1] if runs else None
        gap = code - last[1] if last else 0
        if last and last[3] == added and gap in ((1, 2) if last[2] == 0 else (last[2],)):
            last[1:3] = code, gap
        else:
            runs.append([code, code, 0, added])
    return [(first, last, max(step, 1), added) for first, last, step, added in runs]


def lines(runs):
    numbers, before = [], 0
    for first, last, *more in runs:
        numbers += [first - before, last - first, *more]
        before = last
    return textwrap.fill(", ".join(map(str, numbers)), 100).replace(", ", ",")


print(TEMPLATE % (unicodedata.unidata_version, lines(word_ranges()), lines(lower_runs())))
