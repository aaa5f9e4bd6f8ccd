#!/usr/bin/python3
"""The same work by the tools that people use now, for a run beside `scullery bench`: scikit-learn (python3-sklearn), pandas (python3-pandas), and the RKHS
weighting written with NumPy and SciPy as its authors write it. SCULLERY_DATA names the folder of the data. Arguments choose among weighting, baselines,
reading, stumps, sinks; without any all run."""
import gzip
import os
import resource
import sys
import time

import numpy as np
import pandas as pd
from scipy.special import erf
from sklearn.ensemble import AdaBoostClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

data = os.environ["SCULLERY_DATA"] + "/"


def best_of(times, f):
    took = []
    for _ in range(times):
        began = time.perf_counter()
        f()
        took.append(time.perf_counter() - began)
    return min(took)


def adult():
    """Rows and +-1 of both parts, and how many belong to the first, the training part."""
    parts = [pd.read_csv(data + "adult.%s.csv.gz" % part) for part in ("train", "test")]
    both = pd.concat(parts)
    y = np.where(both.pop("income") == ">50K", 1.0, -1.0)
    return pd.get_dummies(both).to_numpy(float), y, len(parts[0])


def standardized(x, n):
    deviation = x[:n].std(0)
    return (x - x[:n].mean(0)) / np.where(deviation > 0, deviation, 1)


def adult_baselines():
    x, y, n = adult()

    def report(what, model, rows):
        fitting = best_of(3, lambda: model.fit(rows[:n], y[:n]))
        scoring = best_of(3, lambda: model.score(rows[n:], y[n:]))
        accuracy = model.score(rows[n:], y[n:])
        print("adult, %s, scikit-learn: fit %.3f s, score %.3f s, accuracy %.4f" % (what, fitting, scoring, accuracy))

    report("AdaBoost, 200 stumps", AdaBoostClassifier(n_estimators=200, algorithm="SAMME"), x)
    report("5 nearest neighbours", KNeighborsClassifier(5, n_jobs=-1), standardized(x, n))


def adult_weighting():
    x, y, n = adult()
    x = np.hstack([standardized(x, n)[:n], np.ones((n, 1))])
    y, d = y[:n], x.shape[1]
    rng = np.random.default_rng(0)

    def fit(T=1000, s=1.0, g=1.0, lam=1e-7):
        i, u = rng.integers(0, d, T), s * rng.standard_normal(T)
        z = np.sqrt(s * s * g * g / (s * s + g * g))
        c = z / (s * d) * np.exp(-(u**2) / (2 * (s * s + g * g)))
        phi = c * erf((x[:, i] - u * s * s / (s * s + g * g)) / (np.sqrt(2) * z))
        G = (i[:, None] == i[None, :]) * np.exp(-((u[:, None] - u[None, :]) ** 2) / (2 * g * g))
        return np.linalg.solve(phi.T @ phi + n * lam * G, phi.T @ y)

    print("adult, RKHS weighting 2, T = 1000, NumPy, float64: %.3f s" % best_of(5, fit))


def mnist_sinks():
    def images(name):
        return np.frombuffer(gzip.open(data + "mnist/" + name).read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / np.float32(255)

    def labels(name):
        return np.frombuffer(gzip.open(data + "mnist/" + name).read(), np.uint8, offset=8)

    x, y = images("train-images-idx3-ubyte.gz"), labels("train-labels-idx1-ubyte.gz")
    xt, yt = images("t10k-images-idx3-ubyte.gz"), labels("t10k-labels-idx1-ubyte.gz")
    targets = (2 * np.eye(10)[y] - 1).astype(np.float32)
    began = time.perf_counter()
    sampler = RBFSampler(gamma=0.025, n_components=5000, random_state=0).fit(x)
    sampler.random_weights_ = sampler.random_weights_.astype(np.float32)
    sampler.random_offset_ = sampler.random_offset_.astype(np.float32)
    model = Ridge(alpha=60000 * 1e-6, solver="cholesky").fit(sampler.transform(x), targets)
    took = time.perf_counter() - began
    error = np.mean(model.predict(sampler.transform(xt)).argmax(1) != yt)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print("MNIST 60,000 x 784, Fourier D = 5000, float32, scikit-learn: %.2f s, test error %.4f, peak %.2f GB" % (took, error, peak))


def stumps(name, x, y, T):
    """Features sign(x_i - t) in float32, made row by row into one matrix, and scikit-learn's ridge."""
    rng = np.random.default_rng(0)
    column, threshold = rng.integers(0, x.shape[1], T), rng.standard_normal(T).astype(np.float32)
    began, busy = time.perf_counter(), time.process_time()
    x = standardized(x, len(x)).astype(np.float32)
    phi = np.empty((len(x), T), np.float32)
    for start in range(0, len(x), 4096):
        phi[start : start + 4096] = np.where(x[start : start + 4096, column] >= threshold, 1, -1) / np.float32(np.sqrt(T))
    model = Ridge(alpha=len(x) * 1e-5, solver="cholesky", copy_X=False).fit(phi, y)
    took, busy = time.perf_counter() - began, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print("%s, %d stumps, ridge, scikit-learn float32: %.2f s, %.2f s of processors, peak %.2f GB, %d coefficients" % (name, T, took, busy, peak, model.coef_.size))


def adult_stumps():
    x, y, n = adult()
    stumps("adult", x[:n], y[:n], 1000)


def reading():
    print("reading kddcup10, pandas.read_csv: %.3f s" % best_of(3, lambda: pd.read_csv(data + "kddcup10.csv.gz")))


work = {"weighting": adult_weighting, "baselines": adult_baselines, "reading": reading, "stumps": adult_stumps, "sinks": mnist_sinks}
for name in sys.argv[1:] or work:
    work[name]()
