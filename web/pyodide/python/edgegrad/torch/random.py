"""torch.random, and torch.Generator."""

from __future__ import annotations

from typing import Any

from ._bridge import Foreign, foreign
from ._calls import construct, method
from ._functions import get_rng_state, initial_seed, manual_seed, seed, set_rng_state


@foreign("Generator")
class Generator(Foreign):
    """A source of random numbers with a state of its own."""

    def __init__(self, device: Any = "cpu") -> None:
        self.h = construct("", "Generator", [])

    def manual_seed(self, seed: int) -> Generator:
        method(self, "manualSeed", [seed])
        return self

    def __repr__(self) -> str:
        return "<torch.Generator>"


class _Default:
    """The generator that is used where none is given."""

    manual_seed = staticmethod(manual_seed)
    seed, initial_seed = staticmethod(seed), staticmethod(initial_seed)
    get_state, set_state = staticmethod(get_rng_state), staticmethod(set_rng_state)


default_generator = _Default()
__all__ = ["Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]
