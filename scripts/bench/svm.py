#!/usr/bin/python3
"""Support vector machines by scikit-learn (python3-sklearn), on the rows that scripts/bench/svm.lua wrote into FOLDER: times, and the decisions of both
compared. Argument: FOLDER."""
import os
import sys
import time

import numpy as np
from sklearn.svm import SVC

folder = sys.argv[1]
for name in sorted(file[: -len(".xt.npy")] for file in os.listdir(folder) if file.endswith(".xt.npy")):
    x, xt, y, scores, gamma = (np.load("%s/%s.%s.npy" % (folder, name, part)) for part in ("x", "xt", "y", "scores", "gamma"))
    x, xt, took, processors = x.astype(float), xt.astype(float), [], []
    model = SVC(C=1, gamma=float(gamma.ravel()[0]))
    for _ in range(3):
        began, cpu = time.perf_counter(), time.process_time()
        model.fit(x, y.ravel())
        took.append(time.perf_counter() - began)
        processors.append(time.process_time() - cpu)
    began = time.perf_counter()
    theirs = model.decision_function(xt)
    scoring = time.perf_counter() - began
    two = theirs.ndim == 1
    ours, their = (np.sign(scores.ravel()), np.sign(theirs)) if two else (scores.argmax(1), theirs.argmax(1))
    print("%s, scikit-learn: fit %.3f s (processors %.3f s), score %.3f s, %d of %d rows are support vectors" %
          (name, min(took), min(processors), scoring, len(model.support_), len(x)))
    print("  %d of %d decisions differ%s" % ((ours != their).sum(), len(xt), "; scores by at most %.1e" % np.abs(scores.ravel() - theirs).max() if two else ""))
