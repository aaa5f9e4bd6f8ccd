"""Learning with random features: estimators for scikit-learn that fit by the library of Scullery.

    from scullery import RandomFeatureClassifier
    model = RandomFeatureClassifier(n_components=1000, random_state=0).fit(X, y)

RandomFeatureClassifier and RandomFeatureRegressor learn ridge regressions on random features, or
any pipeline of Scullery; RandomFeatures makes the features. help("solver.ridge") is the help of the
library on a topic, recipe(...) the text of a pipeline that is given as a dict. docs/python.md has
examples.
"""

from ._estimators import RandomFeatureClassifier, RandomFeatureRegressor, RandomFeatures
from ._library import help, version
from ._recipe import recipe

__version__ = "0.2.0"
__all__ = [
    "RandomFeatureClassifier",
    "RandomFeatureRegressor",
    "RandomFeatures",
    "help",
    "recipe",
    "version",
]
