"""torch.nn.modules: where PyTorch's sources have their layers."""

import importlib as _importlib

from .. import *  # noqa: F403

# torch.nn has a file of this name as well, which the line above has brought.
module = _importlib.import_module(".module", __name__)
