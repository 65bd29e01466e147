"""torch.amp: mixed precision."""

from __future__ import annotations

from typing import Any

from ._bridge import Foreign, foreign, flush
from ._calls import construct, method
from ._modes import autocast, without_cuda
from ._tensor import Tensor


@foreign("GradScaler")
class GradScaler(Foreign):
    """Scales losses so that gradients of float16 do not vanish."""

    def __init__(self, device: str = "cpu", **options: Any) -> None:
        if device == "cuda":
            options["enabled"] = without_cuda("GradScaler", options.get("enabled", True))
        self.h = construct("amp", "GradScaler", [], {key: value for key, value in options.items() if value is not None})

    def scale(self, outputs: Tensor) -> Tensor:
        return method(self, "scale", [outputs])

    def unscale_(self, optimizer: Any) -> None:
        method(self, "unscale_", [optimizer])

    def step(self, optimizer: Any) -> None:
        flush()
        method(self, "step", [optimizer])

    def update(self, new_scale: float | None = None) -> None:
        method(self, "update", [] if new_scale is None else [new_scale])

    def get_scale(self) -> float:
        return float(method(self, "getScale"))

    def is_enabled(self) -> bool:
        return bool(method(self, "isEnabled"))

    def state_dict(self) -> dict:
        return method(self, "stateDict")

    def load_state_dict(self, state_dict: dict) -> None:
        method(self, "loadStateDict", [state_dict])


__all__ = ["GradScaler", "autocast"]
