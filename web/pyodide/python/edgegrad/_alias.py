"""Lets `import torch` find `edgegrad.torch`, after install_as_torch()."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `torch` and its parts: the same modules under a second name."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" and not name.startswith("torch."):
            return None
        try:
            found = importlib.import_module("edgegrad." + name)
        except ModuleNotFoundError as error:
            if error.name is not None and error.name.startswith("edgegrad."):
                return None
            raise
        # Python would load a module that came up meanwhile once more, by its own description.
        sys.modules.pop(name, None)
        return importlib.machinery.ModuleSpec(name, self, loader_state=found.__spec__, is_package=hasattr(found, "__path__"))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return sys.modules["edgegrad." + spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """The module has run under its own name, which it keeps."""
        spec: Any = module.__spec__
        if spec.loader is self:
            module.__spec__ = spec.loader_state
        own = module.__name__.removeprefix("torch")
        module.__name__ = own if own.startswith("edgegrad.") else module.__name__
        # An import of a part that is loaded already must not give its name in the package to the module: gradcheck is a function there.
        for name, part in list(sys.modules.items()):
            if name.startswith("edgegrad.torch.") and not getattr(part.__spec__, "_initializing", False):
                sys.modules.setdefault(name.removeprefix("edgegrad."), part)
