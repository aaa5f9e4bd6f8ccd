"""The Python estimators beside scikit-learn's RBFSampler and RidgeClassifier, on digits and adult.

    PYTHONPATH=$(build/scullery --pythonpath) python3 scripts/bench/estimators.py [repeats]

prints the table of docs/python.md. Each fit is a process of its own: seconds of the clock and of the
processors, the most memory beyond what the rows took, and the accuracy on the test rows. Seconds are
the least of the repeats. SCULLERY_DATA has adult.train.csv.gz and adult.test.csv.gz.
"""

import json
import os
import resource
import subprocess
import sys
import time

COUNT = {"digits": 1000, "adult": 2000}


def digits():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, random_state=0)


def adult():
    import numpy as np
    import pandas

    folder = os.environ["SCULLERY_DATA"]
    parts = [pandas.read_csv(f"{folder}/adult.{p}.csv.gz", skipinitialspace=True)
             for p in ("train", "test")]
    both = pandas.concat(parts)
    y = both.iloc[:, -1].astype(str).str.rstrip(".").to_numpy()
    X = pandas.get_dummies(both.iloc[:, :-1]).to_numpy(np.float64)
    n = len(parts[0])
    return X[:n], X[n:], y[:n], y[n:]


def _make(kind, count):
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    from scullery import RandomFeatureClassifier

    if kind == "scullery, auto":
        return RandomFeatureClassifier(count, random_state=0)
    if kind == "scullery, gamma scale, alpha 1/n":
        return lambda n: RandomFeatureClassifier(
            count, gamma="scale", alpha=1 / n, random_state=0)
    if kind == "scullery, the same, int16":
        return lambda n: RandomFeatureClassifier(
            count, gamma="scale", alpha=1 / n, random_state=0, dtype="int16")
    plain = make_pipeline(RBFSampler(gamma="scale", n_components=count, random_state=0),
                          RidgeClassifier(alpha=1.0))
    if kind == "scikit-learn, gamma scale, alpha 1":
        return plain
    grid = {"rbfsampler__gamma": [0.0005, 0.002, 0.008], "ridgeclassifier__alpha": [0.01, 1, 100]}
    return GridSearchCV(plain, grid, cv=3)


KINDS = (
    "scullery, gamma scale, alpha 1/n",
    "scullery, the same, int16",
    "scikit-learn, gamma scale, alpha 1",
    "scullery, auto",
    "scikit-learn, 9 choices by 3 folds",
)


def _memory():
    """Bytes of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()



def run(name, kind):
    from sklearn.preprocessing import StandardScaler

    X, T, y, z = globals()[name]()
    scaler = StandardScaler().fit(X)
    X, T = scaler.transform(X), scaler.transform(T)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the peak begins anew
    model = _make(kind, COUNT[name])
    if not hasattr(model, "fit"):
        model = model(len(X))
    before, clock, work = _memory(), time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, work = time.perf_counter() - clock, time.process_time() - work
    with open("/proc/self/status", encoding="ascii") as file:
        peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    print(json.dumps([seconds, work, (peak - before) / 1e6, model.score(T, z)]))


def main(repeats=3):
    print("| | estimator | seconds | of the processors | MB | accuracy |\n|---|---|---|---|---|---|")
    for name in COUNT:
        found = {kind: [] for kind in KINDS}
        for _ in range(repeats):
            for kind in KINDS:
                out = subprocess.run([sys.executable, __file__, name, kind], check=True,
                                     stdout=subprocess.PIPE).stdout
                found[kind].append(json.loads(out))
        for kind, rows in found.items():
            least = [min(column) for column in zip(*rows)]
            print(f"| {name}, {COUNT[name]} features | {kind} | {least[0]:.2f} | {least[1]:.2f} | "
                  f"{least[2]:.0f} | {rows[0][3]:.4f} |")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run(*sys.argv[1:])
    else:
        main(*map(int, sys.argv[1:]))
