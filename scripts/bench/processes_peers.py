#!/usr/bin/python3
"""The same work on two cores by two processes of one thread each: Scullery beside NumPy, scikit-learn and joblib (python3-sklearn).

  build/scullery's tree> /usr/bin/python3 scripts/bench/processes_peers.py [SCULLERY] [ROUNDS]

fit: 60,000 rows x 100, 1000 Fourier features in float32, ridge. The peer makes Phi'Phi and Phi'y of half of the rows in each of two joblib workers, and solves.
search: 20,000 rows, the same features, 10 values of lambda, 5 folds; the peer is GridSearchCV(n_jobs=2) over RBFSampler and Ridge.
Prints a table in Markdown: the least seconds of the rounds without the start of the processes and the making of the rows, and the largest memory of all processes
together (the sum of their proportional set sizes, seen every 20 ms) above that of the same script without the work."""
import os
import subprocess
import sys
import time

ROWS = {"fit": 60000, "search": 20000}
COLUMNS, T, WIDTH = 100, 1000, 0.1
LAMBDAS = [10.0 ** (-6 + i / 2) for i in range(10)]

LUA = """
local sc = require "scullery"
local X = sc.randn{ %d, %d, seed = 1, dtype = "float32" }
local y = X:column(1):map(math.sin)
local kind = "%s"
if %s then os.exit(true) end
local lambda = kind == "search" and sc.choose.log{ 1e-6, 10 ^ -1.5, count = 10 } or 1e-6
local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = %g }, T = %d, seed = 1,
  phi = sc.nonlinearity.fourier(), dtype = "float32" }, sc.solver.ridge{ lambda = lambda } }
local ds, began = sc.dataset{ X = X, y = y, task = "regression" }, sc.clock()
if kind == "search" then p:search(ds, { folds = 5, seed = 0 }) else p:fit(ds) end
print(sc.clock() - began)
"""


def work(kind, idle):
    """In a process of its own: the peer's work; prints its seconds."""
    import joblib
    import numpy as np

    n = ROWS[kind]
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, COLUMNS), dtype=np.float32)
    y = np.sin(X[:, 0])
    w = WIDTH * rng.standard_normal((COLUMNS, T), dtype=np.float32)
    b = rng.uniform(0, 2 * np.pi, T).astype(np.float32)

    def part(x, y):
        G, r = np.zeros((T, T)), np.zeros(T)
        for at in range(0, len(x), 4096):
            phi = np.cos(x[at:at + 4096] @ w + b) * np.float32(np.sqrt(2 / T))
            G += phi.T @ phi
            r += phi.T @ y[at:at + 4096]
        return G, r

    with joblib.Parallel(n_jobs=2) as parallel:
        parallel(joblib.delayed(len)([0]) for _ in range(2))  # starts the workers
        if idle:
            return
        began = time.perf_counter()
        if kind == "fit":
            half = n // 2
            parts = parallel(joblib.delayed(part)(x, t) for x, t in ((X[:half], y[:half]), (X[half:], y[half:])))
            G, r = (sum(one[i] for one in parts) for i in range(2))
            np.linalg.solve(G / n + 1e-6 * np.eye(T), r / n)
        else:
            from sklearn.kernel_approximation import RBFSampler
            from sklearn.linear_model import Ridge
            from sklearn.model_selection import GridSearchCV
            from sklearn.pipeline import make_pipeline

            p = make_pipeline(RBFSampler(gamma=WIDTH**2 / 2, n_components=T, random_state=1), Ridge(solver="cholesky"))
            GridSearchCV(p, {"ridge__alpha": [n * value for value in LAMBDAS]}, cv=5, n_jobs=2).fit(X, y)
        print(time.perf_counter() - began)


def tree(root):
    """The processes of a session: its leader and all that it started."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == root:
                found.append(name)
        except OSError:
            pass
    return found


def memory(root):
    total = 0
    for name in tree(root):
        try:
            with open(f"/proc/{name}/smaps_rollup") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except OSError:
            pass
    return total / 1e3


def run(command):
    """Seconds that the command prints (or None), and the peak of its memory in MB."""
    environment = dict(os.environ, SCULLERY_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, start_new_session=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory(process.pid))
        time.sleep(0.02)
    text = process.stdout.read()
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed with status {process.returncode}")
    return float(text) if text.strip() else None, peak


def command_of(who, scullery, kind, idle, script):
    if who == "peer":
        return ["/usr/bin/python3", __file__, "--work", kind] + (["idle"] if idle else [])
    with open(script, "w") as file:
        file.write(LUA % (ROWS[kind], COLUMNS, kind, "true" if idle else "false", WIDTH, T))
    return [scullery, "--processes", "2", script]


def main(scullery="build/scullery", rounds="3"):
    import tempfile

    print("| work | Scullery | NumPy, scikit-learn, joblib | memory above the start, Scullery | the same, peer |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "work.lua")
        for kind in ROWS:
            cells = {}
            for who in ("scullery", "peer"):
                base = run(command_of(who, scullery, kind, True, script))[1]
                command = command_of(who, scullery, kind, False, script)
                found = [run(command) for _ in range(int(rounds))]
                cells[who] = min(seconds for seconds, _ in found), min(peak for _, peak in found) - base
            (ours, our_memory), (theirs, their_memory) = cells["scullery"], cells["peer"]
            print(f"| {kind} | {ours:.2f} s | {theirs:.2f} s | {our_memory:.0f} MB | {their_memory:.0f} MB |")


if sys.argv[1:2] == ["--work"]:
    work(sys.argv[2], len(sys.argv) > 3)
else:
    main(*sys.argv[1:])
