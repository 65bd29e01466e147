"""Runs tests of PyTorch's files in Pyodide, as run_tests.py does by pipes; pyodide.mjs starts it."""

from __future__ import annotations

import json
import pathlib
import sys
import warnings
from typing import Callable

import harness
import run_tests

sys.setrecursionlimit(3000)
warnings.simplefilter("ignore")
harness.prepare()


def warn(text: str) -> None:
    """Takes a warning of JavaScript, which by pipes is one of Python's, too."""
    warnings.warn(text, UserWarning, stacklevel=3)


def sample(path: str, chosen: str, emit: Callable[[str], None]) -> None:
    """Runs the chosen tests of a file, a list in JSON, and calls `emit` with a line of JSON for each."""
    sys.argv = [path]
    names = set(json.loads(chosen))
    ready: set[type] = set()
    for full, cls, method in run_tests.collect(run_tests.load(pathlib.Path(path))):
        if full not in names:
            continue
        if cls not in ready:
            cls.setUpClass()
            ready.add(cls)
        row = run_tests.run(full, cls, method)
        row.pop("trace", None)
        emit(json.dumps(row))
