"""PyTorch's API for Python in the page, computed by edgegrad.

In a page, `edgegrad/pyodide` of the npm package connects Pyodide with the engine; where Python starts itself (PyScript, notebooks),
`await edgegrad.init(...)` does. Then `import edgegrad.torch as torch`.
"""

from __future__ import annotations

import sys
from typing import Any

from ._version import __version__

__all__ = ["__version__", "init", "install_as_torch"]

# Imports the bridge and calls its install(), for Python that has started itself. Addresses are relative to the page.
_START = """
async (pyodide, bridge, engine, options) => {
  const at = (address) => new URL(address, globalThis.location?.href).href;
  const { install } = await import(at(bridge));
  const eg = engine === null ? undefined : await import(at(engine));
  await install(pyodide, { ...(eg && { engine: eg }), init: options, wheel: null });
}
"""


async def init(bridge: str, engine: str | None = None, **options: Any) -> None:
    """Loads the engine and connects this Python with it.

    `bridge` is the address of the package's `dist/pyodide/index.js`, `engine` that of its `dist/index.js`; without `engine`, the bridge
    imports "edgegrad" itself. Other keywords are options of edgegrad's `init`, in Python's spelling. Does nothing if it has run before.
    """
    if "_edgegrad" in sys.modules:
        return
    import pyodide_js
    from js import Object
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    given = {_camel(name): value for name, value in options.items()}
    await run_js(_START)(pyodide_js, bridge, engine, to_js(given, dict_converter=Object.fromEntries))


def install_as_torch() -> None:
    """Makes `import torch` mean `edgegrad.torch` in this Python. ImportError if another torch is imported already."""
    other = sys.modules.get("torch")
    if other is not None and other.__name__ != "edgegrad.torch":
        raise ImportError("install_as_torch: another package named torch is imported already; restart Python first.")
    if other is None:
        from ._alias import Finder

        sys.meta_path.insert(0, Finder())
        import torch  # noqa: F401  From here on it is there, also for what imports a part of it.


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
