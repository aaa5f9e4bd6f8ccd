#!/usr/bin/env python3
"""Table 3 with the authors' library, scikit-learn: what their split, their AdaBoost and their lasso give.

    python3 scripts/rkhsw/authors.py split     # writes breast_cancer_split.csv
    python3 scripts/rkhsw/authors.py adaboost  # both algorithms on wdbc, adult and skin
    python3 scripts/rkhsw/authors.py lasso 3   # instantiation 1 on wdbc, of three seeds

adult and skin are read from the folder SCULLERY_DATA. SAMME.R left scikit-learn with version 1.6: take 1.2 to 1.5.

Protocol of the published code: columns standardised and a constant column; folds for the kernel weightings of
KFold(5, shuffle=True, random_state=0), for the other methods GridSearchCV's stratified ones in order; the first of
the options with the largest mean accuracy. In its search every fit draws its parameters anew.
"""
import gzip
import os
import sys
import warnings

import numpy as np
from scipy.special import erf
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import Lasso
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler, add_dummy_feature

HERE = os.path.dirname(os.path.abspath(__file__))


def write_split():
    _, y = load_breast_cancer(return_X_y=True)
    train, _ = train_test_split(np.arange(len(y)), random_state=0)
    fold, stratified = np.zeros(len(y), int), np.zeros(len(y), int)
    for k, (_, held) in enumerate(KFold(5, shuffle=True, random_state=0).split(train)):
        fold[train[held]] = k + 1
    for k, (_, held) in enumerate(StratifiedKFold(5).split(train, y[train])):
        stratified[train[held]] = k + 1
    with open(os.path.join(HERE, "breast_cancer_split.csv"), "w", encoding="ascii") as file:
        file.write("fold,stratified_fold\n")
        for pair in zip(fold, stratified):  # of a test row: 0, 0
            file.write("%d,%d\n" % pair)


def table(name):
    with gzip.open(os.path.join(os.environ["SCULLERY_DATA"], name), "rt") as file:
        return np.array([line.rstrip("\n").split(",") for line in file][1:], dtype=object)


def parts(name):
    """Rows and labels of the training part and of the test part."""
    if name == "adult":
        train, test = table("adult.train.csv.gz"), table("adult.test.csv.gz")
        rows = np.concatenate([train, test])
        numbers = [0, 2, 4, 10, 11, 12]
        texts = [j for j in range(14) if j not in numbers]
        X = np.c_[rows[:, numbers].astype(float), OneHotEncoder().fit_transform(rows[:, texts].astype(str)).toarray()]
        y = np.array([">50K" in text for text in rows[:, -1]])
        X, Z, y, z = X[:len(train)], X[len(train):], y[:len(train)], y[len(train):]
    else:
        if name == "wdbc":
            X, y = load_breast_cancer(return_X_y=True)
        else:
            rows = table("skin.csv.gz").astype(int)
            X, y = rows[:, :-1], rows[:, -1]
        X, Z, y, z = train_test_split(X, y, random_state=0)
    scale = StandardScaler().fit(X)
    return add_dummy_feature(scale.transform(X)), add_dummy_feature(scale.transform(Z)), y, z


def adaboost():
    stumps = [10, 25, 50, 100, 150, 200]
    for name in "wdbc", "skin", "adult":
        X, Z, y, z = parts(name)
        for algorithm in "SAMME", "SAMME.R":
            model = AdaBoostClassifier(algorithm=algorithm, n_estimators=200, random_state=0).fit(X, y)
            errors = [1 - score for score in model.staged_score(Z, z)]
            print(name, algorithm, " ".join(f"{k}: {errors[min(k, len(errors)) - 1]:.4f}" for k in stumps), flush=True)
            if name == "wdbc":
                model = AdaBoostClassifier(algorithm=algorithm, random_state=0)
                search = GridSearchCV(model, {"n_estimators": stumps}, cv=5).fit(X, y)
                print("  chosen:", search.best_params_, f"error {1 - search.score(Z, z):.4f}", flush=True)


def features(X, W, c):
    """E[k(u, w) sign<u, x>] with u ~ N(0, 1) and a Gaussian k whose width g gives (1 + 2/g^2)^(-d/4) = c."""
    d = X.shape[1]
    g2 = 2 / (c ** (-4 / d) - 1)
    cosine = X @ W.T / np.linalg.norm(X, axis=1)[:, None]
    return (1 + 1 / g2) ** (-d / 2) * np.exp(-(W**2).sum(1) / (2 + 2 * g2)) * erf(cosine / np.sqrt(2 * g2 * (1 + g2)))


def lasso(seeds):
    warnings.simplefilter("ignore")  # fits that have not converged after 5000 sweeps
    X, Z, y, z = parts("wdbc")
    y, z = 1.0 - 2 * y, 1.0 - 2 * z
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    errors = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)

        def fit(rows, penalty, c):
            W = rng.standard_normal((1000, X.shape[1]))
            model = Lasso(alpha=penalty, fit_intercept=False, max_iter=5000).fit(features(X[rows], W, c), y[rows])
            return lambda A: features(A, W, c) @ model.coef_

        def accuracy(penalty, c):
            return np.mean([np.mean((fit(train, penalty, c)(X[held]) > 0) == (y[held] > 0)) for train, held in folds])

        grid = [(penalty, c) for penalty in (1e-7, 1e-6, 1e-5, 1e-4, 1e-3) for c in (0.1, 0.5, 0.9)]
        best = max(grid, key=lambda options: accuracy(*options))
        scores = fit(np.arange(len(y)), *best)
        train, test = scores(X), scores(Z)
        squares = [np.mean((train - y) ** 2), np.mean((test - z) ** 2)]
        errors.append(squares + [np.mean(train * y <= 0), np.mean(test * z <= 0)])
        said = "lambda %g, c %g: mse %.3f, test %.3f; error %.3f, test %.3f" % (*best, *errors[-1])
        print(seed, said, flush=True)
    print("means:", " ".join(f"{value:.3f}" for value in np.mean(errors, axis=0)))


command = sys.argv[1] if len(sys.argv) > 1 else ""
if command == "split":
    write_split()
elif command == "adaboost":
    adaboost()
elif command == "lasso":
    lasso(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
else:
    sys.exit(__doc__)
