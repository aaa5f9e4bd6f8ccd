"""The Python package `scullery`; python_slow_test.lua runs this, with its folder in PYTHONPATH."""

import copy
import doctest
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
import time
import unittest
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

import arrow_tables as arrow
import scullery
from scullery import RandomFeatureClassifier, RandomFeatureRegressor, RandomFeatures, _library

SOURCE = os.environ.get("SCULLERY_SOURCE", ".")
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(120, 4)
Y = np.sin(X[:, 0]) + 0.1 * X[:, 1]
WORDS = np.where(Y > 0, "up", "down")
FIXED = {"n_components": 60, "gamma": 0.3, "alpha": 1e-4, "random_state": 0}


def regressor(**more):
    return RandomFeatureRegressor(**{**FIXED, **more})


def classifier(**more):
    return RandomFeatureClassifier(**{**FIXED, **more})


class Checks(unittest.TestCase):
    """Those of scikit-learn, all of them, with options that are chosen from the data."""

    def check(self, estimator):
        ran = 0
        for one, check in check_estimator(estimator, generate_only=True):
            with self.subTest(check=str(check)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(one)
            ran += 1
        self.assertGreater(ran, 30)

    def test_classifier(self):
        self.check(RandomFeatureClassifier(n_components=20))

    def test_regressor(self):
        self.check(RandomFeatureRegressor(n_components=20))

    def test_transformer(self):
        self.check(RandomFeatures(n_components=20))


class Numbers(unittest.TestCase):
    def test_the_features_and_the_ridge_regression(self):
        """The model is sklearn's Ridge on the features of RandomFeatures, with alpha = n lambda."""
        Z = RandomFeatures(60, gamma=0.3, random_state=0).fit_transform(X)
        self.assertEqual(Z.shape, (120, 60))
        wanted = Ridge(alpha=120 * 1e-4).fit(Z, Y)
        model = regressor().fit(X, Y)
        np.testing.assert_allclose(model.predict(X), wanted.predict(Z), atol=1e-8)
        self.assertAlmostEqual(model.score(X, Y), wanted.score(Z, Y))

    def test_the_kernel(self):
        Z = RandomFeatures(4000, gamma=0.2, random_state=1).fit_transform(X)
        K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        self.assertLess(abs(Z @ Z.T - K).max(), 6 / np.sqrt(4000))

    def test_weights_are_copies(self):
        weights = np.arange(120) % 3
        kept = np.repeat(np.arange(120), weights)
        order = RANDOM.permutation(len(kept))
        for alpha in (1e-3, "auto"):
            one = regressor(alpha=alpha).fit(X, Y, sample_weight=weights)
            other = regressor(alpha=alpha).fit(X[kept][order], Y[kept][order])
            np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-7)

    def test_standard_deviations(self):
        model = regressor(posterior=True).fit(X, Y)
        mean, std = model.predict(np.vstack([X[:3], X[:1] + 50]), return_std=True)
        np.testing.assert_array_equal(mean[:3], model.predict(X[:3]))
        self.assertTrue((std[:3] > 0).all() and std[3] > 3 * std[:3].max())
        again = pickle.loads(pickle.dumps(model)).predict(X[:3], return_std=True)
        np.testing.assert_allclose(again[1], std[:3], rtol=1e-12)
        with self.assertRaisesRegex(ValueError, "posterior=True"):
            regressor().fit(X, Y).predict(X, return_std=True)

    def test_several_targets(self):
        both = np.column_stack([Y, X[:, 2]])
        model = regressor().fit(X, both)
        self.assertEqual(model.predict(X).shape, (120, 2))
        np.testing.assert_allclose(model.predict(X)[:, 0], regressor().fit(X, Y).predict(X),
                                   atol=1e-8)

    def test_quantiles(self):
        """One target, and a column for each tau."""
        both = [{"solver.quantile": {"tau": [0.1, 0.9], "lambda": 1e-3}}]
        said = regressor(pipeline=both).fit(X, Y).predict(X)
        self.assertEqual(said.shape, (120, 2))
        self.assertTrue((said[:, 0] <= said[:, 1]).all())
        self.assertGreater((Y <= said[:, 1]).mean(), 0.8)

    def test_labels(self):
        three = np.array(["b", "a", "c"])[np.digitize(Y, [-0.5, 0.5])]
        for y in (WORDS, three, Y > 0, three.astype(object), np.where(Y > 0, -3, 8)):
            model = classifier().fit(X, y)
            self.assertGreater(model.score(X, y), 0.9)
            scores = model.decision_function(X)
            if scores.ndim == 1:
                found = model.classes_[(scores > 0).astype(int)]
            else:
                found = model.classes_[scores.argmax(axis=1)]
            np.testing.assert_array_equal(found, model.predict(X))

    def test_multilabel(self):
        labels = np.column_stack([Y > 0, X[:, 1] > 0, X[:, 2] > 1]).astype(int)
        for pipeline in None, "sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }":
            model = RandomFeatureClassifier(50, random_state=0, pipeline=pipeline).fit(X, labels)
            said = model.predict(X)
            self.assertEqual(model.classes_.tolist(), [0, 1, 2])
            self.assertTrue(((model.decision_function(X) > 0) == said).all())
            self.assertEqual(model.score(X, labels), (said == labels).all(axis=1).mean())
            self.assertGreater((said == labels).mean(), 0.95)
            self.assertEqual(model.importance(X, labels)[0].shape, (4,))
        again = RandomFeatureClassifier(50, random_state=0, pipeline=pipeline)
        self.assertTrue((again.fit(X, sp.csr_matrix(labels)).predict(X) == said).all())
        np.testing.assert_array_equal(again.importance(X, sp.csr_matrix(labels)),
                                      again.importance(X, labels))

    def test_probabilities(self):
        model = classifier(probability=True).fit(X, WORDS)
        shares = model.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        self.assertGreater(shares[np.arange(120), (WORDS == "up").astype(int)].mean(), 0.8)
        self.assertFalse(hasattr(classifier().fit(X, WORDS), "predict_proba"))

    def test_importance(self):
        mean, error = regressor().fit(X, Y).importance(X, Y)
        self.assertEqual(mean.argmax(), 0)
        self.assertEqual(mean.shape, error.shape)
        mean, _ = classifier().fit(X, WORDS).importance(X, WORDS)
        self.assertEqual((mean.argmax(), len(mean)), (0, 4))


class Forms(unittest.TestCase):
    def test_layouts_of_rows(self):
        wanted = regressor().fit(X, Y).predict(X)
        for rows in (np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=0)[::2],
                     sp.csr_matrix(X), sp.csc_matrix(X), sp.coo_matrix(X)):
            np.testing.assert_allclose(regressor().fit(rows, Y).predict(rows), wanted, atol=1e-8)
        narrow = X.astype(np.float32)
        said = regressor(dtype="float32").fit(narrow, Y).predict(narrow)
        self.assertLess(abs(said - wanted).max(), 1e-2)
        self.assertEqual(RandomFeatures(9, dtype="float32").fit_transform(narrow).dtype, np.float32)

    def test_rows_are_borrowed(self):
        """Arrays whose layout agrees are those that the library sees."""
        for rows in (X, X.astype(np.float32), sp.csr_matrix(X)):
            checked = regressor()._rows(rows)
            table, _ = _library.table_of(checked)
            values = rows.data if sp.issparse(rows) else rows
            self.assertEqual(table.values, values.ctypes.data)

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("there is no pandas")
        frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
        model = regressor().fit(frame, pandas.Series(Y))
        np.testing.assert_allclose(model.predict(frame), regressor().fit(X, Y).predict(X))
        with self.assertRaisesRegex(ValueError, "feature names"):
            model.predict(frame[["b", "a", "c", "d"]])
        self.assertEqual(RandomFeatures(3).fit(frame).get_feature_names_out()[2], "randomfeatures2")

    def test_arrow_streams(self):
        X, y = arrow.numbers(40), np.arange(40) % 2
        table = arrow.Table({"a": X[:, 0], "b": X[:, 1]}, batches=3)
        model = RandomFeatureClassifier(n_components=20, random_state=0).fit(table, y)
        plain = RandomFeatureClassifier(n_components=20, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict(table), plain.predict(X))
        self.assertEqual(list(model.feature_names_in_), ["a", "b"])
        with self.assertRaisesRegex(ValueError, "feature names"):
            model.predict(arrow.Table({"a": X[:, 0], "c": X[:, 1]}))
        with self.assertRaisesRegex(ValueError, "row 3, column 'b' of the Arrow stream is null"):
            model.predict(arrow.Table({"a": X[:, 0], "b": X[:, 1]}, null=("b", 2)))

    def test_arrow_texts(self):
        X, words = arrow.numbers(40), np.array(["low", "high", "größer", "?"])[np.arange(40) % 4]
        table = arrow.Table({"a": X[:, 0], "w": words}, batches=3)
        model = RandomFeatureRegressor(n_components=20, random_state=0).fit(table, X[:, 1])
        coded = np.column_stack([X[:, 0]] + [words == one for one in ("größer", "high", "low", "?")])
        plain = RandomFeatureRegressor(n_components=20, random_state=0).fit(coded, X[:, 1])
        self.assertEqual(model.feature_names_in_[1], "w=größer")
        np.testing.assert_allclose(model.predict(table), plain.predict(coded))
        model = pickle.loads(pickle.dumps(model))
        turned = arrow.Table({"w": words[:2], "a": X[:2, 0]})
        np.testing.assert_allclose(model.predict(turned), plain.predict(coded[:2]))
        with self.assertWarnsRegex(RuntimeWarning, "1 texts of the Arrow stream"):
            model.predict(arrow.Table({"w": ["low", "new"], "a": X[:2, 0]}))
        with self.assertRaisesRegex(ValueError, "no column 'a'"):
            model.predict(arrow.Table({"w": words, "b": X[:, 0]}))
        with self.assertRaisesRegex(ValueError, "has texts, and the model learnt from numbers"):
            plain.predict(table)

    def test_arrow_lists_are_borrowed(self):
        X = np.ascontiguousarray(arrow.numbers(9))
        table = arrow.Table({"v": X})
        rows, names, _ = _library.arrow_rows(table)
        self.assertTrue(np.shares_memory(rows, X))
        np.testing.assert_array_equal(rows, X)
        self.assertEqual(names, ["v_1", "v_2"])
        self.assertEqual(table.released, 0)
        del rows
        self.assertEqual(table.released, 1)
        _library.arrow_rows(arrow.Table({"v": X}, batches=2))

    def test_pipelines(self):
        lua = ("sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ gamma = 0.1 }, "
               "phi = sc.nonlinearity.fourier(), T = 50, seed = 3 }, sc.solver.logistic{ lambda = 0.01 } }")
        stages = [
            {"standardize": None},
            {"features": {"p": {"sampler.gaussian": {"gamma": 0.1}},
                          "phi": {"nonlinearity.fourier": None}, "T": 50, "seed": np.int64(3)}},
            {"solver.logistic": {"lambda": 0.01}},
        ]
        said = classifier(pipeline=lua).fit(X, WORDS).predict_proba(X)
        for pipeline in (stages, {"stages": stages, "class_weights": {"up": 1, "down": 1}}):
            model = classifier(pipeline=pipeline)
            if isinstance(pipeline, list):
                np.testing.assert_array_equal(model.fit(X, WORDS).predict_proba(X), said)
        self.assertIn("logistic", model.set_params(pipeline=lua).fit(X, WORDS).describe())
        searched = [{"solver.ridge": {"lambda": {"choose": [1e-3, 1e3]}}}]
        self.assertIn("0.001", regressor(pipeline=searched).fit(X, Y).describe())
        scaled = RandomFeatures(pipeline=[{"standardize": None}]).fit_transform(X)
        np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=0.01)

    def test_recipes(self):
        """Texts and numbers of Python are the same in Lua."""
        self.assertEqual(
            scullery.recipe([{"a.b": {"x": [1, 2.5, True, None], "y": 'q"\\\n'}}]),
            'sc.pipeline{ sc.a.b{ ["x"] = { 1, 2.5, true, nil }, ["y"] = "q\\x22\\x5c\\x0a" } }',
        )
        for wrong in (3, {"x": 1}):
            with self.assertRaisesRegex(ValueError, "a text of Lua"):
                scullery.recipe(wrong)
        with self.assertRaisesRegex(TypeError, "takes numbers"):
            scullery.recipe([object()])


class Life(unittest.TestCase):
    def test_copies(self):
        for made, y in ((regressor(), Y), (classifier(), WORDS)):
            model = made.fit(X, y)
            wanted = model.predict(X)
            for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
                np.testing.assert_array_equal(other.predict(X), wanted)
            with self.assertRaises(NotFittedError):
                clone(model).predict(X)
            np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), wanted)

    def test_saved_files(self):
        path = os.path.join(os.environ["FOLDER"], "m.safetensors")
        model = regressor().fit(X, Y)
        model.save(path)
        with open(path, "rb") as file:
            np.testing.assert_array_equal(_library.Model(file.read()).predict(X)[:, 0],
                                          model.predict(X))

    def test_threads(self):
        wanted, found = regressor().fit(X, Y).predict(X), []
        threads = [threading.Thread(target=lambda: found.append(regressor().fit(X, Y).predict(X)))
                   for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(len(found), 4)
        for one in found:
            np.testing.assert_array_equal(one, wanted)

    def test_forks(self):
        model = regressor(posterior=True).fit(X, Y)
        wanted = model.predict(X, return_std=True)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            for said in pool.map(refit, [model] * 3):
                for one, other in zip(said, wanted):
                    np.testing.assert_allclose(one, other, atol=1e-9)

    def test_ctrl_c(self):
        """It ends Lua that never would, and the next fit is as ever. Others go on meanwhile."""
        wanted, counted = regressor().fit(X, Y).predict(X), []

        def press():
            for _ in range(20):
                time.sleep(0.005)
                counted.append(1)  # the interpreter's lock is free
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=press).start()
        with self.assertRaises(KeyboardInterrupt):
            regressor(pipeline="while true do end").fit(X, Y)
        self.assertEqual(len(counted), 20)
        np.testing.assert_array_equal(regressor().fit(X, Y).predict(X), wanted)

    def test_progress(self):
        stages = []
        targets = _library.targets_of(_library.VALUES, Y)
        _library.fit("sc.pipeline{ sc.solver.ridge{} }", X, targets,
                     progress=lambda *step: stages.append(step[0]))
        self.assertIn("learning", stages)
        with self.assertRaises(ZeroDivisionError):
            _library.fit("sc.pipeline{ sc.solver.ridge{} }", X, targets,
                         progress=lambda *_: 1 // 0)

    def test_warnings(self):
        code = "(function() io.stderr:write('scullery: ', 'so', '\\n') return sc.pipeline{ " \
               "sc.solver.ridge{ lambda = 1 } } end)()"
        with self.assertWarnsRegex(RuntimeWarning, "^so$"):
            regressor(pipeline=code).fit(X, Y)


def refit(model):
    clone(model).fit(X, Y)
    return model.predict(X, return_std=True)


class Errors(unittest.TestCase):
    def refused(self, words, call, *arguments, kind=ValueError):
        with self.assertRaisesRegex(kind, words):
            call(*arguments)

    def test_options(self):
        for words, options in (
            ("n_components=0: it takes", {"n_components": 0}),
            ("alpha=-1: it takes", {"alpha": -1}),
            ("gamma=0: it takes", {"gamma": 0}),
            ("dtype='int32'", {"dtype": "int32"}),
            ("option 'gamma' got \"wide\"", {"gamma": "wide"}),
            ("recipe:1:", {"pipeline": "sc.pipeline{"}),
            ("the recipe gives 1", {"pipeline": "1"}),
            ("did you mean 'ridge'", {"pipeline": [{"solver.rigde": None}]}),
        ):
            self.refused(words, regressor(**options).fit, X, Y)
        self.refused("sees no targets", RandomFeatures(gamma="auto").fit, X)

    def test_data(self):
        model = regressor().fit(X, Y)
        self.refused("X has 3 features", model.predict, X[:, :3])
        self.refused("NaN", model.fit, np.full((9, 2), np.nan), np.ones(9))
        self.refused("inconsistent numbers", model.fit, X, Y[:3])
        self.refused("only one class", classifier().fit, X, np.ones(120))
        self.refused("all weights are 0", model.fit, X, Y, np.zeros(120))
        self.refused("not fitted", regressor().predict, X, kind=NotFittedError)
        self.refused("labels that the model does not know", classifier().fit(X, WORDS).importance,
                     X, np.repeat("sideways", 120))
        for one, y in ((regressor().fit(X, Y), Y), (classifier().fit(X, WORDS), WORDS)):
            self.refused("inconsistent numbers", one.importance, X, y[:3])
        self.refused("begin as a saved model", lambda: _library.Model(b"no model").predictor)
        self.refused("X has 3 columns, and the model has 4",
                     regressor().fit(X, Y)._model.predict, X[:, :3])

    def test_a_fit_that_fails_leaves_no_model(self):
        model = regressor().fit(X, Y).set_params(pipeline="1")
        self.refused("the recipe gives 1", model.fit, X[:, :3], Y)
        self.refused("not fitted", model.predict, X[:, :3], kind=NotFittedError)


class Texts(unittest.TestCase):
    def test_help(self):
        self.assertIn("sc.solver.ridge", scullery.help("solver.ridge"))
        self.assertEqual(scullery.__version__, scullery.version())

    def test_examples(self):
        self.assertEqual(doctest.testmod(scullery._estimators, verbose=False).failed, 0)
        for name in scullery.__all__:
            self.assertTrue(getattr(scullery, name).__doc__, name)

    def test_the_page(self):
        """The Python of docs/python.md, block by block."""
        with open(os.path.join(SOURCE, "docs", "python.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
        self.assertGreater(len(blocks), 1)
        names, folder = {}, os.getcwd()
        os.chdir(os.environ["FOLDER"])
        try:
            for block in blocks:
                exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102
        finally:
            os.chdir(folder)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
