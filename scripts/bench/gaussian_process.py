"""Standard deviations of p:predict beside scikit-learn's GaussianProcessRegressor.

    mkdir gp && build/scullery scripts/bench/gaussian_process.lua gp
    python3 scripts/bench/gaussian_process.py gp

prints, for each number T of random features: of 100 draws of the features and 60 rows the share whose
standard deviation is within 5 % of the exact one and whose mean is within 0.1 exact deviations, the
root mean squares of both errors, and the slope of their logarithms against log T, which is -1/2.
"""

import sys

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

GAMMA = 0.5


def main(folder):
    X, y, at, noise = (np.load(f"{folder}/{name}.npy") for name in ("X", "y", "at", "noise"))
    kernel = RBF(length_scale=(1 / (2 * GAMMA)) ** 0.5, length_scale_bounds="fixed")
    exact = GaussianProcessRegressor(kernel, alpha=noise.item(), optimizer=None).fit(X, y[:, 0])
    mean, std = exact.predict(at, return_std=True)
    print("| T | std within 5 % | mean within 0.1 std | error of std | error of mean, in std |")
    print("|---:|---:|---:|---:|---:|")
    counts, errors = [100, 300, 1000, 3000, 10000], []
    for count in counts:
        wide = np.load(f"{folder}/std_{count}.npy") / std - 1
        away = (np.load(f"{folder}/mean_{count}.npy") - mean) / std
        errors.append([np.sqrt((e**2).mean()) for e in (wide, away)])
        print("| %d | %.1f %% | %.1f %% | %.2f %% | %.3f |" % (
            count, 100 * (abs(wide) < 0.05).mean(), 100 * (abs(away) < 0.1).mean(),
            100 * errors[-1][0], errors[-1][1]))
    slopes = np.polyfit(np.log(counts[2:]), np.log(errors[2:]), 1)[0]
    print("slopes: std %.2f, mean %.2f" % tuple(slopes))


main(sys.argv[1])
