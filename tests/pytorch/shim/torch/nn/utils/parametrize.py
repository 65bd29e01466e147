"""torch.nn.utils.parametrize."""

from typing import Any

from ..._bridge import BODY, Block
from . import functions_of

__getattr__ = functions_of("nn.utils.parametrize")


def cached() -> Any:
    return Block("nn.utils.parametrize", "cached", [BODY])
