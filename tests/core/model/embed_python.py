"""scullery.h from Python: embed_python.py EXAMPLE-FOLDER LIBRARY MODELS. The models, with what Lua
predicts of them, come from embed_models.lua. Prints "all well"."""

import array
import os
import struct
import sys
import threading

sys.path.insert(0, sys.argv[1])
import predict  # noqa: E402

library, folder = predict.open_library(sys.argv[2]), sys.argv[3]


def table(name):
    with open(f"{folder}/{name}", "rb") as file:
        rows, cols = struct.unpack("<qq", file.read(16))
        numbers = array.array("d", file.read())
    assert len(numbers) == rows * cols
    return numbers


def model(name):
    return predict.Predictor(f"{folder}/{name}.safetensors", library)


def refused(words, f, *arguments):
    try:
        f(*arguments)
    except (predict.SculleryError, TypeError, ValueError) as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


names = ["linear", "logistic", "regression", "neighbours", "cells", "sections", "whole", "bytes",
         "labels"]
models = {name: model(name) for name in names}


def check(name):
    rows = table(name + ".rows")
    assert models[name].scores(rows) == table(name + ".scores"), name
    assert models[name].predict(rows) == table(name + ".predictions"), name
    if models[name].has_probabilities:
        assert models[name].probabilities(rows) == table(name + ".probabilities"), name


for name in names:
    check(name)

with model("table") as fields:
    rows, unknown = fields.encode([{"colour": "red", "size": "2"}, {"colour": "grey", "size": 3}])
    assert list(rows) == [2, 0, 1, 3, 0, 0] and unknown == 1, rows
    refused("row 1, field 'size': 'x' is not a number", fields.encode, [{"colour": "red", "size": "x"}])

failed = []


def check_often(name):
    try:
        for _ in range(10):
            check(name)
    except BaseException as error:  # a thread's error would only be printed
        failed.append(error)


threads = [threading.Thread(target=check_often, args=(name,)) for name in names * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed

# A child predicts, as in a server that forks after it has loaded: calls start no threads.
child = os.fork()
if child == 0:
    for name in names:
        check(name)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0

assert library.scl_set_threads(2, None) == 0
for name in names:
    check(name)

single = array.array("f", table("linear.rows"))
gaps = [a - b for a, b in zip(models["linear"].scores(single), table("linear.scores"))]
assert max(map(abs, gaps)) < 1e-4
refused("row 1, column 2", models["linear"].predict, array.array("d", [1, float("nan"), 3]))
refused("3 numbers each", models["linear"].predict, array.array("d", [1, 2]))
refused("float64 or float32", models["linear"].predict, array.array("q", [1, 2, 3]))
refused("no such file", model, "nothing")
refused("before it was fitted", model, "unfitted")
assert models["linear"].labels == ["class 1", "class 2", "class 3"]
assert len(models["linear"].predict(array.array("d"))) == 0
for one in models.values():
    one.close()
print("all well")
