"""Runs every n-th test of one of PyTorch's files in Pyodide, as run_tests.py does by pipes; pyodide.mjs starts it."""

from __future__ import annotations

import json
import pathlib
import re
import sys
import warnings
from typing import Callable

import harness
import run_tests

sys.setrecursionlimit(3000)
warnings.simplefilter("ignore")
harness.prepare()


def sample(path: str, every: int, without: str, emit: Callable[[str], None]) -> None:
    """Calls `emit` with a line of JSON for each test."""
    sys.argv = [path]
    ready: set[type] = set()
    for full, cls, method in run_tests.collect(run_tests.load(pathlib.Path(path))):
        if run_tests.hash_of(full) % every or run_tests.missing_dtype(full) or (without and re.search(without, full)):
            continue
        if cls not in ready:
            cls.setUpClass()
            ready.add(cls)
        row = run_tests.run(full, cls, method)
        row.pop("trace", None)
        emit(json.dumps(row))
