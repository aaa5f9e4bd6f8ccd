#!/usr/bin/python3
"""One row of scripts/bench/side_by_side.py by the tools that people use now: scikit-learn (python3-sklearn), liblinear (inside it), pandas (python3-pandas),
and the RKHS weighting written with NumPy and SciPy as its authors write it. Arguments: ROW FOLDER, where scripts/bench/rows.lua wrote the rows. Prints one
line of JSON: seconds by the clock, processor seconds, gigabytes (the peak of the process), and what else is worth comparing. A module that is missing is
told in a sentence, with exit status 3."""
import gzip
import importlib
import json
import os
import resource
import sys
import time
import warnings


def measured(times, f):
    """The least seconds and processor seconds of f, and its last result."""
    seconds, processors, result = [], [], None
    for _ in range(times):
        began, busy = time.perf_counter(), time.process_time()
        result = f()
        seconds.append(time.perf_counter() - began)
        processors.append(time.process_time() - busy)
    return dict(seconds=min(seconds), processors=min(processors), gigabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6), result


def load(name, *parts):
    import numpy as np

    return [np.load("%s/%s.%s.npy" % (folder, name, part)) for part in parts]


def standardized(x, *others):
    import numpy as np

    mean, deviation = x.mean(0), x.std(0)
    scale = np.where(deviation > 0, deviation, 1)
    return [(part - mean) / scale for part in (x, *others)]


# ------------ ridge


def weighting():
    """RKHS weighting 2, T = 1000, float64, one fit."""
    import numpy as np
    from scipy.special import erf

    x, y = load("adult", "x", "y")
    n, y = len(x), 2 * y.ravel() - 1
    x = np.hstack([standardized(x)[0], np.ones((n, 1))])
    d, rng = x.shape[1], np.random.default_rng(0)

    def fit(T=1000, s=1.0, g=1.0, lam=1e-7):
        i, u = rng.integers(0, d, T), s * rng.standard_normal(T)
        z = np.sqrt(s * s * g * g / (s * s + g * g))
        c = z / (s * d) * np.exp(-(u**2) / (2 * (s * s + g * g)))
        phi = c * erf((x[:, i] - u * s * s / (s * s + g * g)) / (np.sqrt(2) * z))
        G = (i[:, None] == i[None, :]) * np.exp(-((u[:, None] - u[None, :]) ** 2) / (2 * g * g))
        return np.linalg.solve(phi.T @ phi + n * lam * G, phi.T @ y)

    return measured(5, fit)[0]


def gram(features):
    """Phi'Phi of 32,768 rows, float32: NumPy calls ssyrk."""
    import numpy as np

    phi = np.where(np.random.default_rng(0).random((32768, features), np.float32) < 0.5, np.float32(-1), np.float32(1))
    return measured(3, lambda: phi.T @ phi)[0]


def stumps(name, T):
    """Features sign(x_i - t) in float32, made block by block into one matrix, and ridge."""
    import numpy as np
    from sklearn.linear_model import Ridge

    x, y = load(name, "x", "y")
    x, classes = x.astype(np.float32, copy=False), int(y.max()) + 1
    codes = y.ravel().astype(int)
    y = (2 * np.eye(classes, dtype=np.float32)[codes] - 1) if classes > 2 else (2 * codes - 1).astype(np.float32)
    rng = np.random.default_rng(0)
    column, threshold = rng.integers(0, x.shape[1], T), rng.standard_normal(T).astype(np.float32)

    def fit():
        mean, deviation = x.mean(0, dtype=float), x.std(0, dtype=float)
        shift, scale = mean.astype(np.float32), np.where(deviation > 0, deviation, 1).astype(np.float32)
        phi = np.empty((len(x), T), np.float32)
        one = np.float32(1 / np.sqrt(T))
        for start in range(0, len(x), 4096):
            block = (x[start : start + 4096] - shift) / scale
            phi[start : start + 4096] = np.where(block[:, column] >= threshold, one, -one)
        return Ridge(alpha=len(x) * 1e-5, solver="cholesky", copy_X=False).fit(phi, y)

    return measured(3 if name == "adult" else 1, fit)[0]


def sinks():
    """MNIST, 5000 Fourier features, ten classes."""
    import numpy as np
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import Ridge

    data = os.environ["SCULLERY_DATA"] + "/mnist/"

    def images(name):
        return np.frombuffer(gzip.open(data + name).read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / np.float32(255)

    def labels(name):
        return np.frombuffer(gzip.open(data + name).read(), np.uint8, offset=8)

    x, y = images("train-images-idx3-ubyte.gz"), labels("train-labels-idx1-ubyte.gz")
    targets = (2 * np.eye(10)[y] - 1).astype(np.float32)

    def fit():
        sampler = RBFSampler(gamma=0.025, n_components=5000, random_state=0).fit(x)
        sampler.random_weights_ = sampler.random_weights_.astype(np.float32)
        sampler.random_offset_ = sampler.random_offset_.astype(np.float32)
        return sampler, Ridge(alpha=60000 * 1e-6, solver="cholesky").fit(sampler.transform(x), targets)

    result, (sampler, model) = measured(1, fit)
    xt, yt = images("t10k-images-idx3-ubyte.gz"), labels("t10k-labels-idx1-ubyte.gz")
    result["error"] = float(np.mean(model.predict(sampler.transform(xt)).argmax(1) != yt))
    return result


# ------------ liblinear


def linear(loss, lam):
    """The features of the row `hinge`, mean loss + (lam/2)||a||^2; liblinear also penalises its constant."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    x, y = load("stumps", "x", "y")
    y = 2 * y.ravel() - 1
    x, C = x.astype(float), 1 / (lam * len(x))
    model = LinearSVC(loss="hinge", C=C, max_iter=10000, random_state=0) if loss == "hinge" else LogisticRegression(solver="liblinear", C=C)
    result, model = measured(1, lambda: model.fit(x, y))
    margin = y * model.decision_function(x)
    mean = np.maximum(0, 1 - margin).mean() if loss == "hinge" else np.logaddexp(0, -margin).mean()
    result["objective"] = float(mean + lam / 2 * (model.coef_**2).sum())
    return result


def sparse(loss, lam=1e-5):
    """Sparse rows by dual coordinate descent, logistic by trust-region Newton, to a tolerance of 1e-3; the constant is penalised too."""
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    x, y = load_svmlight_file(folder + "/sparse.svm")
    n = 20000
    x, xt, y, yt = x[:n], x[n:], y[:n], y[n:]
    C, losses = 1 / (lam * n), {"hinge": lambda z: np.maximum(0, z), "squared_hinge": lambda z: np.maximum(0, z) ** 2 / 2, "logistic": lambda z: np.logaddexp(0, z - 1)}
    if loss == "logistic":
        model = LogisticRegression(solver="liblinear", C=C, tol=1e-3)
    else:  # LinearSVC's squared hinge has no half
        model = LinearSVC(loss=loss, C=C / 2 if loss == "squared_hinge" else C, tol=1e-3, max_iter=10000, random_state=0)
    result, model = measured(1, lambda: model.fit(x, y))
    result["objective"] = float(losses[loss](1 - y * model.decision_function(x)).mean() + lam / 2 * (model.coef_**2).sum())
    result["error"] = float(np.mean(model.predict(xt) != yt))
    return result


# ------------ baselines


def svc(name):
    """Also how many decisions differ from those of `svm`, on rows that neither has learnt."""
    import numpy as np
    from sklearn.svm import SVC

    x, xt, y, scores, gamma = load(name, "x", "xt", "y", "scores", "gamma")
    x, xt = x.astype(float), xt.astype(float)
    result, model = measured(3, lambda: SVC(C=1, gamma=float(gamma.ravel()[0])).fit(x, y.ravel()))
    theirs = model.decision_function(xt)
    if theirs.ndim == 1:
        result["different"] = int((np.sign(scores.ravel()) != np.sign(theirs)).sum())
    else:
        result["different"] = int((scores.argmax(1) != theirs.argmax(1)).sum())
    result["decisions"] = len(xt)
    return result


def kernel_ridge():
    """Five lambdas, judged on a tenth of the rows, and a fit of the best to all."""
    from sklearn.kernel_ridge import KernelRidge

    x, y = load("svm_adult", "x", "y")
    x, y = x.astype(float), 2 * y.ravel() - 1
    some = len(x) * 9 // 10

    def fit(lam, n):
        return KernelRidge(alpha=n * lam, kernel="rbf", gamma=1 / x.shape[1]).fit(x[:n], y[:n])

    def search():
        best = min((1e-7, 1e-6, 1e-5, 1e-4, 1e-3), key=lambda lam: ((fit(lam, some).predict(x[some:]) >= 0) != (y[some:] >= 0)).mean())
        return fit(best, len(x))

    return measured(1, search)[0]


def adaboost():
    from sklearn.ensemble import AdaBoostClassifier

    x, y, xt, yt = load("adult", "x", "y", "xt", "yt")
    result, model = measured(1, lambda: AdaBoostClassifier(n_estimators=200, algorithm="SAMME").fit(x, y.ravel()))
    result["accuracy"] = float(model.score(xt, yt.ravel()))
    return result


def neighbours():
    from sklearn.neighbors import KNeighborsClassifier

    x, y, xt, yt = load("adult", "x", "y", "xt", "yt")
    x, xt = standardized(x, xt)
    model = KNeighborsClassifier(5, n_jobs=-1).fit(x, y.ravel())
    result, accuracy = measured(2, lambda: model.score(xt, yt.ravel()))
    result["accuracy"] = float(accuracy)
    return result


def reading():
    import pandas as pd

    return measured(3, lambda: pd.read_csv(os.environ["SCULLERY_DATA"] + "/kddcup10.csv.gz"))[0]


def words(most):
    """Counts of words, or of words and pairs, hashed to 2^20 columns."""
    from sklearn.feature_extraction.text import HashingVectorizer

    texts = open(folder + "/texts.txt", encoding="utf8").read().split("\n")
    made = HashingVectorizer(n_features=2**20, alternate_sign=False, norm=None, ngram_range=(1, most))
    return measured(3, lambda: made.transform(texts))[0]


# What it does, the modules that it needs, the tool's name, the sets of rows.lua.
rows = {
    "weighting": (weighting, "scipy", "NumPy as the authors write it", ["adult"]),
    "gram_1000": (lambda: gram(1000), "numpy", "NumPy (ssyrk)", []),
    "gram_2000": (lambda: gram(2000), "numpy", "NumPy (ssyrk)", []),
    "gram_5000": (lambda: gram(5000), "numpy", "NumPy (ssyrk)", []),
    "adult_stumps": (lambda: stumps("adult", 1000), "sklearn", "scikit-learn Ridge, float32", ["adult"]),
    "kddcup10_stumps": (lambda: stumps("kddcup10", 2000), "sklearn", "scikit-learn Ridge, float32", ["kddcup10"]),
    "skin_stumps": (lambda: stumps("skin", 5000), "sklearn", "scikit-learn Ridge, float32", ["skin"]),
    "sinks": (sinks, "sklearn", "scikit-learn RBFSampler, Ridge", []),
    "hinge": (lambda: linear("hinge", 1e-4), "sklearn", "liblinear (LinearSVC)", ["stumps"]),
    "logistic": (lambda: linear("logistic", 1e-4), "sklearn", "liblinear (LogisticRegression)", ["stumps"]),
    "sparse_hinge": (lambda: sparse("hinge"), "sklearn", "liblinear (LinearSVC)", ["sparse"]),
    "sparse_squared_hinge": (lambda: sparse("squared_hinge"), "sklearn", "liblinear (LinearSVC)", ["sparse"]),
    "sparse_logistic": (lambda: sparse("logistic"), "sklearn", "liblinear (LogisticRegression)", ["sparse"]),
    "svm_adult": (lambda: svc("svm_adult"), "sklearn", "scikit-learn SVC", ["svm_adult"]),
    "svm_mnist17": (lambda: svc("svm_mnist17"), "sklearn", "scikit-learn SVC", ["svm_mnist17"]),
    "svm_letter": (lambda: svc("svm_letter"), "sklearn", "scikit-learn SVC", ["svm_letter"]),
    "kernel_ridge": (kernel_ridge, "sklearn", "scikit-learn KernelRidge", ["svm_adult"]),
    "adaboost": (adaboost, "sklearn", "scikit-learn AdaBoost", ["adult"]),
    "neighbours": (neighbours, "sklearn", "scikit-learn KNeighbors", ["adult"]),
    "words": (lambda: words(1), "sklearn", "scikit-learn HashingVectorizer", ["texts"]),
    "word_pairs": (lambda: words(2), "sklearn", "scikit-learn HashingVectorizer", ["texts"]),
    "reading": (reading, "pandas", "pandas.read_csv", []),
}


def versions(module):
    """Versions of the modules in use, and what NumPy's BLAS runs on."""
    found = {name: sys.modules[name].__version__ for name in ("numpy", "scipy", "sklearn", "pandas") if name in sys.modules}
    try:
        from threadpoolctl import threadpool_info

        found["blas"] = ", ".join("%s %s, %s" % (b["internal_api"], b["version"], b.get("architecture")) for b in threadpool_info() if b["user_api"] == "blas")
    except ImportError:
        pass
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in rows:
        sys.exit("usage: peers.py ROW FOLDER; rows: " + ", ".join(rows))
    folder = sys.argv[2]
    work, module, tool, _ = rows[sys.argv[1]]
    try:
        importlib.import_module(module)
    except ImportError as missing:
        print("peers.py: the row '%s' needs the module %s (python3-%s): %s" % (sys.argv[1], module, module, missing), file=sys.stderr)
        sys.exit(3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = work()
    result["warnings"] = sorted({str(one.message).split("\n")[0] for one in told if "Converge" in one.category.__name__})
    print(json.dumps(dict(result, tool=tool, versions=versions(module))))
