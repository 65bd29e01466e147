"""torch.random."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from ._functions import get_rng_state, initial_seed, manual_seed, seed, set_rng_state


@contextlib.contextmanager
def fork_rng(*_: Any, **__: Any) -> Iterator[None]:
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
