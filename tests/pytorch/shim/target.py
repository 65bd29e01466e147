"""What run_tests.py asks of the package on which the tests run: here the shim."""

from torch import _types
from torch._bridge import BridgeDied, EdgeGradError, channel, collect, emulated

__all__ = ["MISSING_DTYPES", "BridgeDied", "channel", "collect", "emulated", "is_own", "needs_new_process"]

MISSING_DTYPES = [name for name in _types.dtype.by_name if name not in _types.SUPPORTED]


def is_own(error: BaseException) -> bool:
    """True for an error of edgegrad, whose text is its own."""
    return isinstance(error, EdgeGradError)


def needs_new_process() -> bool:
    """True if a test has left a conversation with Node in its middle."""
    return channel.blocks > 0
