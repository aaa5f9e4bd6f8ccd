"""Estimators of scikit-learn over the library."""

import numbers

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _library as library
from ._recipe import lua, recipe

if not hasattr(BaseEstimator, "_validate_data"):
    raise ImportError("scullery takes scikit-learn 1.1 to 1.5, and a newer one is installed")

_LARGEST_SEED = 2**31 - 1
_DTYPES = ("float64", "float32", "int16", "int8")


def _has_probabilities(self):
    if hasattr(self, "_model"):
        if self._model.has_probabilities():
            return True
    elif self.probability or self.pipeline is not None:
        return True
    raise AttributeError(
        "predict_proba: the model has no probabilities; probability=True calibrates them"
    )


def _named(X, names):
    """An array as a DataFrame of the same memory, whose names scikit-learn looks at, or the array
    where there is no pandas."""
    try:
        from pandas import DataFrame
    except ImportError:
        return X
    return DataFrame(X, columns=names, copy=False)


def _are_indicators(y):
    """Whether y holds multi-label targets: a column of 0 and 1 for each label."""
    if y is None:
        return False
    y = y if hasattr(y, "toarray") else np.asarray(y)
    return y.ndim == 2 and y.shape[1] > 1 and type_of_target(y) == "multilabel-indicator"


def _indicators(y):
    """Multi-label targets as numbers, a column for each label."""
    return (y.toarray() if hasattr(y, "toarray") else np.asarray(y)).astype(float)


class _Base(BaseEstimator):
    """What the estimators share."""

    def _features(self, gamma):
        """The features as Lua."""
        count = self.n_components
        if count != "auto" and not (isinstance(count, numbers.Integral) and count >= 1):
            raise ValueError(
                f"n_components={count!r}: it takes a whole number of at least 1, or 'auto'"
            )
        if np.dtype(self.dtype).name not in _DTYPES:
            raise ValueError(f"dtype={self.dtype!r}: it takes one of {', '.join(_DTYPES)}")
        if not (isinstance(gamma, str) or isinstance(gamma, numbers.Real) and gamma > 0):
            raise ValueError(
                f"gamma={gamma!r}: it takes a positive number, 'auto', 'scale' or 'median'"
            )
        seed = check_random_state(self.random_state).randint(_LARGEST_SEED)
        given = {} if gamma == "auto" else {"gamma": gamma}
        options = {
            "p": {"sampler.gaussian": given},
            "phi": {"nonlinearity.fourier": None},
            "T": count if isinstance(count, str) else int(count),
            "seed": int(seed),
            "dtype": np.dtype(self.dtype).name,
        }
        return lua({"features": options})

    def _recipe(self):
        """The pipeline as Lua."""
        if self.pipeline is not None:
            return recipe(self.pipeline)
        alpha = self.alpha
        if alpha != "auto" and not (isinstance(alpha, numbers.Real) and alpha > 0):
            raise ValueError(f"alpha={alpha!r}: it takes a positive number, or 'auto'")
        solver = lua({"solver.ridge": {} if alpha == "auto" else {"lambda": float(alpha)}})
        return f"sc.pipeline{{ {self._features(self.gamma)}, {solver} }}"

    def _rows(self, X, reset=True, **more):
        if reset:  # a fit that fails leaves no model of other columns and classes
            vars(self).pop("_model", None)
            vars(self).pop("_columns", None)
        if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc"):
            X, names, texts = library.arrow_rows(X, getattr(self, "_columns", None))
            if texts and reset:
                self._columns = names
            elif texts and not hasattr(self, "_columns"):
                raise ValueError("the Arrow stream has texts, and the model learnt from numbers")
            X = _named(X, names)
        return self._validate_data(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
            accept_large_sparse=True, reset=reset, **more
        )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def _names(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _weights(self, sample_weight, X):
        """The weights of the rows as float64, none of them below 0; None without weights."""
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64, only_non_negative=True)

    def _learn(self, X, kind, y, weights, keep):
        """Fit the pipeline to rows, of those with a positive weight."""
        if weights is not None and (weights == 0).any():
            kept = weights > 0
            if not kept.any():
                raise ValueError("sample_weight: all weights are 0")
            X, y, weights = X[kept], y[kept], weights[kept]
        targets = library.targets_of(kind, y, weights)
        self._model = library.fit(self._recipe(), X, targets, self._names(), keep)
        return self

    def describe(self):
        """The fitted pipeline as Scullery prints it: its stages, what was chosen from the data, the
        report of the solver, the seconds of each part.

        Returns
        -------
        text : str
        """
        check_is_fitted(self)
        return self._model.describe()

    def save(self, path):
        """Write the model to a file, which the command (`scullery predict`), sc.load and
        scullery/scullery.h read. Its classes are the places in `classes_`.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        with open(path, "wb") as file:
            file.write(self._model.data)

    def _more_tags(self):
        return {"preserves_dtype": [np.float64]}


class _Learner(_Base):
    """What classifier and regressor share."""

    def _importance(self, X, kind, y):
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        check_consistent_length(X, y)
        targets = library.targets_of(kind, y)
        found = self._model.apply(library.IMPORTANCE, X, self._names(), targets)
        return found[:, 0], found[:, 1]


_PARAMETERS = """n_components : int or "auto", default=500
        The number of random features. "auto" doubles it as long as the loss on held-out rows falls.

    alpha : float or "auto", default="auto"
        The regularisation (lambda) of the ridge regression, which minimises the mean of the squared
        errors over 2 plus alpha/2 times the squared norm of the coefficients: n times smaller than
        the alpha of sklearn.linear_model.Ridge. "auto" chooses it by the loss on held-out rows.

    gamma : float, "auto", "scale" or "median", default="auto"
        The rate of the Gaussian kernel exp(-gamma ||x - y||^2). "auto" chooses it, with alpha, by
        the loss on held-out rows. "scale": 1 / (n_features * variance of X). "median": by the
        median squared distance of two rows.

    random_state : int, RandomState instance or None, default=None
        The seed of the features.

    dtype : "float64", "float32", "int16" or "int8", default="float64"
        The type of the features while it learns. Those of "int16" and "int8" are whole numbers,
        whose sums are exact and fast.

    pipeline : str, list, dict or None, default=None
        Any pipeline of Scullery in place of all options above: its Lua text, as
        'sc.pipeline{ sc.standardize(), sc.features{ T = 300 }, sc.solver.logistic{} }', or its
        stages as dicts, as [{"standardize": None}, {"features": {"T": 300}},
        {"solver.logistic": None}]. Where an option is sc.choose{ ... }, the best choice by five
        folds is fitted."""


class RandomFeatureClassifier(ClassifierMixin, _Learner):
    __doc__ = f"""A classifier: ridge regression on random Fourier features of the Gaussian kernel,
    as a random kitchen sink, or any pipeline of Scullery.

    Rows are taken as they are: put a StandardScaler before it where columns have different units.
    Options that are "auto" depend neither on the order of rows nor on whether a row comes twice or
    with weight 2.

    Parameters
    ----------
    {_PARAMETERS}

    probability : bool, default=False
        Whether predict_proba is there for a pipeline whose solver has no probabilities of its own:
        by Platt's calibration of out-of-fold scores, five further fits.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        With multi-label targets the numbers of the columns of y, as of RidgeClassifier.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where all names of columns are texts.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from scullery import RandomFeatureClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RandomFeatureClassifier(n_components=500, random_state=0).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.93
    True
    """

    def __init__(
        self,
        n_components=500,
        *,
        alpha="auto",
        gamma="auto",
        random_state=None,
        dtype="float64",
        pipeline=None,
        probability=False,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.gamma = gamma
        self.random_state = random_state
        self.dtype = dtype
        self.pipeline = pipeline
        self.probability = probability

    def fit(self, X, y, sample_weight=None):
        """Learn from rows.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow stream or sparse matrix of shape (n_samples, n_features)
            Not copied where it is row by row of float64 or float32, or CSR with sorted columns. An
            object with __arrow_c_stream__ has columns of numbers and texts, or one of lists.
        y : array-like of shape (n_samples,), or (n_samples, n_labels) of 0 and 1
            With several columns, multi-label targets: a row has any number of labels.
        sample_weight : array-like of shape (n_samples,) or None

        Returns
        -------
        self
        """
        self._several = _are_indicators(y)
        X, y = self._rows(X, y=y, multi_output=self._several)
        check_classification_targets(y)
        sample_weight = self._weights(sample_weight, X)
        if self._several:
            return self._fit_labels(X, y, sample_weight)
        self.classes_, places = np.unique(y, return_inverse=True)
        present = places if sample_weight is None else places[sample_weight > 0]
        if len(np.unique(present)) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data "
                f"contains only one class: {self.classes_[present[:1]].tolist()}"
            )
        keep = library.PROBABILITIES if self.probability else 0
        self._learn(X, library.LABELS, places, sample_weight, keep)
        # A class without rows of positive weight is none of the model's.
        self._places = self._model.classes().astype(int)
        self.classes_ = self.classes_[np.sort(self._places)]
        self._places = np.searchsorted(np.sort(self._places), self._places)
        return self

    def _fit_labels(self, X, y, sample_weight):
        if self.probability:
            raise ValueError("probability=True is for targets of one column")
        self.classes_ = self._places = np.arange(y.shape[1])
        return self._learn(X, library.INDICATORS, _indicators(y), sample_weight, 0)

    def _more_tags(self):
        return {"multilabel": True}

    def predict(self, X):
        """The class of each row; with multi-label targets 0 or 1 for each label.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        """
        check_is_fitted(self)
        if self._several:
            return self._model.predict(self._rows(X, reset=False)).astype(int)
        found = self._model.predict(self._rows(X, reset=False))[:, 0].astype(int)
        return self.classes_[self._places[found]]

    def decision_function(self, X):
        """The scores of each row: of two classes one, positive for the second; of more classes the
        largest is that of the predicted class.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With multi-label targets above 0 for the labels that are predicted.
        """
        check_is_fitted(self)
        scores = self._model.predict(self._rows(X, reset=False), library.SCORES)
        if scores.shape[1] == 1 and not self._several:
            return scores[:, 0] if self._places[1] == 1 else -scores[:, 0]
        out = np.empty_like(scores)
        out[:, self._places] = scores
        return out

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """The probabilities of the classes, which sum to 1 in each row: the solver's own, where its
        loss has them, or Platt's (probability=True).

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        found = self._model.predict(self._rows(X, reset=False), library.SHARES)
        out = np.empty_like(found)
        out[:, self._places] = found
        return out

    def importance(self, X, y):
        """Permutation importance: what the accuracy loses when the values of a column are shuffled
        among the rows.

        Returns
        -------
        mean, standard_error : ndarrays of shape (n_features,)
        """
        check_is_fitted(self)
        if self._several:
            return self._importance(X, library.INDICATORS, _indicators(y))
        places = np.searchsorted(self.classes_, y)
        known = self.classes_[np.minimum(places, len(self.classes_) - 1)] == np.asarray(y)
        if not known.all():
            raise ValueError("importance: y has labels that the model does not know")
        return self._importance(X, library.LABELS, places)


class RandomFeatureRegressor(RegressorMixin, _Learner):
    __doc__ = f"""A regression: ridge regression on random Fourier features of the Gaussian kernel,
    or any pipeline of Scullery.

    Rows are taken as they are: put a StandardScaler before it where columns have different units.
    Options that are "auto" depend neither on the order of rows nor on whether a row comes twice or
    with weight 2.

    Parameters
    ----------
    {_PARAMETERS}

    posterior : bool, default=False
        Whether the model keeps what predict(X, return_std=True) needs: a matrix of n_components
        squared numbers, and the time of a further fit.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where all names of columns are texts.

    Examples
    --------
    >>> import numpy as np
    >>> from scullery import RandomFeatureRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = RandomFeatureRegressor(n_components=100, random_state=0, posterior=True)
    >>> mean, std = model.fit(X, np.sin(X[:, 0])).predict([[1.5], [30]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.5)) < 0.01 and std[1] > std[0])
    True
    """

    def __init__(
        self,
        n_components=500,
        *,
        alpha="auto",
        gamma="auto",
        random_state=None,
        dtype="float64",
        pipeline=None,
        posterior=False,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.gamma = gamma
        self.random_state = random_state
        self.dtype = dtype
        self.pipeline = pipeline
        self.posterior = posterior

    def fit(self, X, y, sample_weight=None):
        """Learn from rows.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow stream or sparse matrix of shape (n_samples, n_features)
            Not copied where it is row by row of float64 or float32, or CSR with sorted columns. An
            object with __arrow_c_stream__ has columns of numbers and texts, or one of lists.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,) or None

        Returns
        -------
        self
        """
        X, y = self._rows(X, y=y, multi_output=True, y_numeric=True)
        sample_weight = self._weights(sample_weight, X)
        self._one = y.ndim == 1
        keep = library.POSTERIOR if self.posterior else 0
        return self._learn(X, library.VALUES, y, sample_weight, keep)

    def _shaped(self, values):
        return values[:, 0] if self._one and values.shape[1] == 1 else values

    def predict(self, X, return_std=False):
        """The value of each row.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether the standard deviation of the function at each row is returned too, by Bayesian
            linear regression on the features. It takes posterior=True.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
            A pipeline by solver.quantile with several tau gives a column for each of them.
        std : ndarray of the same shape, with return_std=True
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        values = self._shaped(self._model.predict(X))
        if not return_std:
            return values
        if not self.posterior:
            raise ValueError("return_std=True takes a model that was fitted with posterior=True")
        return values, self._shaped(self._model.apply(library.DEVIATIONS, X, self._names()))

    def importance(self, X, y):
        """Permutation importance: what R2 loses when the values of a column are shuffled among the
        rows.

        Returns
        -------
        mean, standard_error : ndarrays of shape (n_features,)
        """
        return self._importance(X, library.VALUES, y)

    def _more_tags(self):
        return {"multioutput": True}


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Base):
    """A transformer: random Fourier features of the Gaussian kernel, as
    sklearn.kernel_approximation.RBFSampler, or any pipeline of Scullery without a solver.

    Parameters
    ----------
    n_components : int, default=500
        The number of features.

    gamma : float, "scale" or "median", default="scale"
        The rate of the Gaussian kernel exp(-gamma ||x - y||^2). "scale": 1 / (n_features * variance
        of X). "median": by the median squared distance of two rows.

    random_state : int, RandomState instance or None, default=None
        The seed of the features.

    dtype : "float64" or "float32", default="float64"
        The type of the features.

    pipeline : str, list, dict or None, default=None
        Any pipeline without a solver in place of all options above: its Lua text, or its stages as
        dicts, as for RandomFeatureClassifier.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where all names of columns are texts.

    Examples
    --------
    >>> import numpy as np
    >>> from scullery import RandomFeatures
    >>> X = np.random.RandomState(0).randn(20, 3)
    >>> Z = RandomFeatures(n_components=4000, gamma=0.5, random_state=0).fit_transform(X)
    >>> K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    >>> bool(abs(Z @ Z.T - K).max() < 0.1)
    True
    """

    def __init__(
        self,
        n_components=500,
        *,
        gamma="scale",
        random_state=None,
        dtype="float64",
        pipeline=None,
    ):
        self.n_components = n_components
        self.gamma = gamma
        self.random_state = random_state
        self.dtype = dtype
        self.pipeline = pipeline

    def _recipe(self):
        if self.pipeline is not None:
            return recipe(self.pipeline)
        if self.gamma == "auto":
            raise ValueError(
                "gamma='auto': RandomFeatures sees no targets to choose it by; it takes a positive "
                "number, 'scale' or 'median'"
            )
        return f"sc.pipeline{{ {self._features(self.gamma)} }}"

    def fit(self, X, y=None):
        """Draw the features for the columns of X, and what depends on the rows ("scale", "median").

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        # the rules for gamma compare rows
        least = 2 if self.pipeline is None and isinstance(self.gamma, str) else 1
        X = self._rows(X, ensure_min_samples=least)
        self._learn(X, library.NONE, None, None, 0)
        self._n_features_out = self._model.apply(
            library.TRANSFORM, X[:1], self._names()
        ).shape[1]
        return self

    def transform(self, X):
        """The features of rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._model.apply(library.TRANSFORM, self._rows(X, reset=False), self._names())
