#!/usr/bin/python3
"""Rows of `scullery bench` and the same work by other tools, in one run: see scripts/bench/side_by_side.sh. Needs the standard library alone."""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))

# Rows of the bench in the order of docs/performance.md, and the row of peers.py beside each.
rows = {
    "adult_made_float64": "weighting",
    "adult_made_float32": None,
    "adult_values_float64": "weighting",
    "adult_values_float32": None,
    "search_lambda": None,
    "search_whole": None,
    "mnist_ridge": "sinks",
    "cg_gaussian": "sinks",
    "cg_hadamard": "sinks",
    "gram_1000": "gram_1000",
    "gram_2000": "gram_2000",
    "gram_5000": "gram_5000",
    "adult_stumps": "adult_stumps",
    "adult_stumps_numbers": None,
    "kddcup10_stumps": "kddcup10_stumps",
    "skin_stumps": "skin_stumps",
    "lasso_1e-4": None,
    "lasso_1e-6": None,
    "lasso_path": None,
    "box_hinge": None,
    "box_logistic": None,
    "hinge": "hinge",
    "logistic": "logistic",
    "sparse_hinge": "sparse_hinge",
    "sparse_squared_hinge": "sparse_squared_hinge",
    "sparse_logistic": "sparse_logistic",
    "svm_adult": "svm_adult",
    "svm_mnist17": "svm_mnist17",
    "svm_letter": "svm_letter",
    "kernel_ridge": "kernel_ridge",
    "kernel_ridge_20000": None,
    "adaboost": "adaboost",
    "neighbours": "neighbours",
    "reading": "reading",
    "words": "words",
    "word_pairs": "word_pairs",
}
# Environments: what this machine has, and what machines without AVX-512 have.
both = {"native": {}, "avx2": {"SCULLERY_ISA": "avx2", "OPENBLAS_CORETYPE": "Haswell"}}


def arguments():
    parser = argparse.ArgumentParser(prog="side_by_side.sh", description=__doc__)
    parser.add_argument("row", nargs="*", help="rows; all where none is named")
    parser.add_argument("--list", action="store_true", help="names of the rows, and their peers")
    parser.add_argument("--both", action="store_true", help="everything twice: native, and SCULLERY_ISA=avx2 with OPENBLAS_CORETYPE=Haswell")
    parser.add_argument("--json", metavar="FILE", help="also write the figures there; scripts/bench/page.lua puts them into docs/performance.md")
    parser.add_argument("--scullery", default=os.path.join(source, "build/scullery"), help="the command to measure (build/scullery)")
    given = parser.parse_args()
    unknown = [row for row in given.row if row not in rows]
    if unknown:
        parser.error("there is no row '%s'; --list names them" % unknown[0])
    return given


def run(command, environment):
    """Its last line as JSON, or a sentence that says why there is none."""
    done = subprocess.run(command, env=dict(os.environ, **environment), cwd=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().split("\n")
        return None, lines[-1] or "exit status %d" % done.returncode
    return json.loads(done.stdout.strip().split("\n")[-1]), None


def our_row(scullery, row, environment):
    document, why = run([scullery, "bench", "--row", row, "--json"], environment)
    if document is None:
        return None, why
    result = next((one for one in document["rows"] if one["id"] == row), document["rows"][0])
    return (None, result["skipped"]) if "skipped" in result else (dict(result, instruction_set=document["instruction_set"], bits=document["bits"]), None)


def write_rows(scullery, folder, sets):
    if not sets:
        return None
    done = subprocess.run([scullery, os.path.join(here, "rows.lua"), folder, *sets], cwd=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr.strip().split("\n")[-1] if done.returncode != 0 else None


def peer_row(scullery, name, folder, environment):
    from peers import rows as known

    why = write_rows(scullery, folder, known[name][3])
    if why:
        return None, why
    return run(["/usr/bin/python3", os.path.join(here, "peers.py"), name, folder], environment)


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    return {"processor": model, "threads": len(os.sched_getaffinity(0)), "system": platform.platform(), "load": os.getloadavg()[0], "began": time.strftime("%Y-%m-%d %H:%M")}


def side(result, why, memory):
    if result is None:
        return "left out: " + why
    more = [form % result[name] for name, form in (("processors", "%.2f s of processors"), (memory, "%.2f GB")) if name in result]
    return "%8.3f s%s" % (result["seconds"], " (" + ", ".join(more) + ")" if more else "")


def show(row, ours, peer, why_ours, why_peer, has_peer):
    print("%s: %s" % (row, ours["what"].strip() if ours else ""))
    floor = "; floor / time %.2f" % ours["floor_over_time"] if ours and "floor_over_time" in ours else ""
    print("  ours  %s%s" % (side(ours, why_ours, "resident"), floor))
    if has_peer:
        print("  peer  %s%s" % (side(peer, why_peer, "gigabytes"), "  " + peer["tool"] if peer else ""))
    if ours and peer:
        print("  ratio %8.3f of the time%s" % (ours["seconds"] / peer["seconds"], "".join(
            ", %.3f of %s" % (ours[mine] / peer[theirs], what)
            for mine, theirs, what in (("processors", "processors", "the processor seconds"), ("resident", "gigabytes", "the memory")) if ours.get(mine) and peer.get(theirs))))
        for name in ("error", "accuracy", "objective", "different"):
            if name in peer:
                print("  %s: ours %s, peer %s" % (name, ours.get(name, "-"), peer[name]))
    for warning in (peer or {}).get("warnings", []):
        print("  the peer says: " + warning)
    sys.stdout.flush()


def main():
    given = arguments()
    if given.list:
        for row, peer in rows.items():
            print("%-22s %s" % (row, peer or "-"))
        return
    if "SCULLERY_DATA" not in os.environ:
        sys.exit("side_by_side.sh: SCULLERY_DATA names no folder of data")
    if not os.access(given.scullery, os.X_OK):
        sys.exit("side_by_side.sh: %s is no program: build it, or name one by --scullery" % given.scullery)
    sys.dont_write_bytecode = True
    sys.path.insert(0, here)
    about = machine()
    version = subprocess.run([given.scullery, "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    document = {"machine": about, "version": version, "sets": {}}
    print("%s; %s, %d threads; load average %.2f" % (version, about["processor"], about["threads"], about["load"]))
    if about["load"] > 0.75:
        print("warning: the machine is busy (load average %.2f): times by the clock mislead, look at processor seconds" % about["load"])
    with tempfile.TemporaryDirectory() as folder:
        for name, environment in both.items():
            if name == "native" or given.both:
                measure(given, name, environment, folder, document)


def write(path, document):
    with open(path + ".new", "w") as file:
        json.dump(document, file, indent=1)
    os.replace(path + ".new", path)


def measure(given, name, environment, folder, document):
    print("\n%s %s" % (name, " ".join("%s=%s" % pair for pair in environment.items())))
    found, peers = document["sets"].setdefault(name, {}), {}
    for row in given.row or rows:
        peer = rows[row]
        ours, why_ours = our_row(given.scullery, row, environment)
        if peer and peer not in peers:
            peers[peer] = peer_row(given.scullery, peer, folder, environment)
        theirs, why_theirs = peers.get(peer, (None, None))
        show(row, ours, theirs, why_ours, why_theirs, peer is not None)
        found[row] = {"ours": ours or {"skipped": why_ours}}
        if peer:
            found[row]["peer"] = theirs or {"skipped": why_theirs}
        if given.json:
            write(given.json, document)


main()
