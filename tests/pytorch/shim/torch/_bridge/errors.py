"""Exceptions: those of the package for Python, which knows what of Python each error code of edgegrad stands for."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

from stubs import Unsupported as Unsupported

_FILE = pathlib.Path(__file__).parents[5] / "web" / "pyodide" / "python" / "edgegrad" / "torch" / "_errors.py"


def _load() -> Any:
    """The file by itself: its package needs a connection."""
    spec = importlib.util.spec_from_file_location("edgegrad_errors", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_errors = _load()
EdgeGradError, error_of = _errors.EdgeGradError, _errors.error_of


class BridgeDied(BaseException):
    """The Node process has ended."""
