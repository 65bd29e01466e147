"""torch.nn.modules: where PyTorch's sources have their layers."""

import importlib as _importlib

from .. import *  # noqa: F403

# torch.nn has a file of this name as well, which the line above has brought.
__all__ = [name for name, one in list(globals().items()) if isinstance(one, type) and issubclass(one, Module) and name[0] != "_"]  # noqa: F405
module = _importlib.import_module(".module", __name__)


def __getattr__(name: str) -> object:
    if name == "lazy":
        return _importlib.import_module(".lazy", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
