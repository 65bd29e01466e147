"""What lies between this package and JavaScript: the module `_edgegrad` and what it takes and gives.

In a page `_edgegrad` is an object of JavaScript (`install.ts` has its functions) and Pyodide converts what passes. Elsewhere it is a module of
Python with the same functions, which brings its own versions of the names imported here.
"""

from __future__ import annotations

import sys
from typing import Any

try:
    import _edgegrad as _module
except ModuleNotFoundError:
    raise ImportError(
        "edgegrad.torch: this Python is not connected with the engine. In JavaScript, call install(pyodide) of edgegrad/pyodide first; "
        "in Python, await edgegrad.init(...)."
    ) from None
if sys.platform == "emscripten":
    from pyodide.ffi import JsException, can_run_sync, create_proxy, run_sync, to_js
else:
    from _edgegrad import JsException, can_run_sync, create_proxy, run_sync, to_js


class _Functions:
    """The functions of JavaScript, each looked up once: to look one up costs as much as to call it."""

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(_module, name)
        return found


js = _Functions()
__all__ = ["JsException", "can_run_sync", "create_proxy", "js", "run_sync", "to_js"]
