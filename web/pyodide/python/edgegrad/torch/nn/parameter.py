"""torch.nn.parameter."""

from .._parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter"]


def __getattr__(name: str) -> object:
    if name in ("UninitializedParameter", "UninitializedBuffer"):
        import importlib

        lazy = importlib.import_module(f"{__package__}.lazy")
        return getattr(lazy, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
