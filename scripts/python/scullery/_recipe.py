"""Pipelines as Python dicts: the text of Lua that makes them."""

import numbers
import re

import numpy as np

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z")


def _text(value):
    """A text as Lua reads it."""
    escaped = "".join(
        c if c.isprintable() and c not in '"\\' else "".join(f"\\x{b:02x}" for b in c.encode())
        for c in value
    )
    return f'"{escaped}"'


def _number(value):
    if isinstance(value, numbers.Integral):
        return str(int(value))
    value = float(value)
    if np.isnan(value):
        return "(0/0)"
    if np.isinf(value):
        return "math.huge" if value > 0 else "(-math.huge)"
    return repr(value)


def _is_call(value):
    """Whether a dict is a component: one name of the library, and its options or None."""
    if len(value) != 1:
        return False
    ((name, options),) = value.items()
    return (
        isinstance(name, str)
        and _NAME.match(name) is not None
        and (options is None or isinstance(options, (dict, list, tuple)))
    )


def _table(value):
    """The fields of a table of Lua."""
    if isinstance(value, (list, tuple)):
        return ", ".join(lua(one) for one in value)
    return ", ".join(f"[{_text(str(key))}] = {lua(one)}" for key, one in value.items())


def lua(value):
    """A value of a recipe as Lua: {"solver.ridge": {"lambda": 1e-3}} is a component, other dicts
    and lists are tables."""
    if value is None:
        return "nil"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Real):
        return _number(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, np.ndarray):
        return lua(value.tolist())
    if isinstance(value, dict) and _is_call(value):
        ((name, options),) = value.items()
        return f"sc.{name}{{ {_table(options or {})} }}"
    if isinstance(value, (dict, list, tuple)):
        return f"{{ {_table(value)} }}"
    raise TypeError(
        f"a pipeline holds {value!r}; it takes numbers, texts, lists and dicts"
    )


def recipe(pipeline):
    """The text of Lua that makes a pipeline: a text as it stands; a list of stages; or a dict of
    "stages" and the options of the pipeline."""
    if isinstance(pipeline, str):
        return pipeline
    if isinstance(pipeline, (list, tuple)):
        pipeline = {"stages": pipeline}
    if not isinstance(pipeline, dict) or "stages" not in pipeline:
        raise ValueError(
            f"pipeline={pipeline!r}: it takes a text of Lua, a list of stages, or a dict with "
            "'stages'"
        )
    options = {key: value for key, value in pipeline.items() if key != "stages"}
    parts = [_table(pipeline["stages"]), _table(options)]
    return f"sc.pipeline{{ {', '.join(part for part in parts if part)} }}"
