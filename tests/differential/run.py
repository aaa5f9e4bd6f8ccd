#!/usr/bin/env python3
"""Bent files, read by Scullery and by the reference readers (judges.py): both say the same, or
Scullery refuses. Anything else is printed, and the exit status is 1.

run.py SCULLERY [--kind csv] [--files 200000] [--first 0] [--batch 2000] [--keep FOLDER]

--first: the number of the first file; each file depends on its number alone, so that a part of a long
run can be repeated. --keep: a folder for the files in which a difference was found."""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import files  # noqa: E402
import judges  # noqa: E402

MOST_SHOWN = 20


def line_of(options):
    words = {"\t": "tab", True: "true", False: "false"}
    return " ".join("%s=%s" % (name, words.get(value, value)) for name, value in options.items())


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def run_batch(given, kind, numbers, folder):
    """(files read, findings) of these numbers."""
    made = [files.make(kind, number) for number in numbers]
    for place, (data, _) in enumerate(made):
        write(os.path.join(folder, str(place)), data)
    cases = "".join(line_of(options) + "\n" for _, options in made)
    write(os.path.join(folder, "cases"), cases.encode())
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "read.lua")
    subprocess.run([given.scullery, reader, folder, kind, str(len(made))], check=True)
    with open(os.path.join(folder, "results"), "rb") as file:
        results = judges.Results(file.read())
    read, findings = 0, []
    for number, (data, options) in zip(numbers, made):
        was_read, problem = judges.judge(kind, data, results)
        read += was_read
        if problem:
            findings.append("%s %d (%s) %s" % (kind, number, line_of(options), problem))
            if given.keep:
                write(os.path.join(given.keep, "%s_%d" % (kind, number)), data)
    return read, findings


def run_kind(given, kind, folder):
    read, found, last = 0, 0, given.first + given.files
    for first in range(given.first, last, given.batch):
        more, findings = run_batch(given, kind, range(first, min(first + given.batch, last)), folder)
        read += more
        for finding in findings[:max(0, MOST_SHOWN - found)]:
            print(finding)
        found += len(findings)
    print("%s: %d files, %d read, %d refused, %d differ" % (kind, given.files, read, given.files - read, found))
    return found == 0 and read * 10 >= given.files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scullery")
    parser.add_argument("--kind", action="append", choices=sorted(files.MAKERS))
    parser.add_argument("--files", type=int, default=200000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--batch", type=int, default=2000)
    parser.add_argument("--keep")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        fine = [run_kind(given, kind, folder) for kind in given.kind or sorted(files.MAKERS)]
    sys.exit(0 if all(fine) else 1)


main()
