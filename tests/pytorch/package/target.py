"""What run_tests.py asks of the package on which the tests run: here `edgegrad.torch`, by pipes."""

import overlay
from _edgegrad import BridgeDied, channel
from edgegrad.torch import EdgeGradError

__all__ = ["MISSING_DTYPES", "BridgeDied", "EdgeGradError", "channel", "collect", "emulated", "is_talking"]

MISSING_DTYPES = list(overlay.MISSING_DTYPES)
collect = channel.collect
# Nothing is done in edgegrad's place: what the package does is what users have.
emulated: set[str] = set()


def is_talking() -> bool:
    """True if a test has left a conversation with Node in its middle."""
    return channel.depth > 0
