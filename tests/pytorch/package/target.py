"""What run_tests.py asks of the package on which the tests run: here `edgegrad.torch`, by pipes or in Pyodide."""

import gc
import sys
import traceback

import overlay
from edgegrad.torch import EdgeGradError

__all__ = ["MISSING_DTYPES", "BridgeDied", "channel", "collect", "emulated", "is_own", "needs_new_process"]

MISSING_DTYPES = list(overlay.MISSING_DTYPES)
# Nothing is done in edgegrad's place: what the package does is what users have.
emulated: set[str] = set()

if sys.platform == "emscripten":

    class BridgeDied(BaseException):
        """Nothing lies between that could end."""

    channel = None
    collect = gc.collect

    def needs_new_process() -> bool:
        """False: there is one process."""
        return False

else:
    from _edgegrad import BridgeDied, channel

    collect = channel.collect

    def needs_new_process() -> bool:
        """True if a test has left a conversation with Node in its middle, or an engine that does not work any more."""
        return channel.depth > 0 or channel.has_failed


def is_own(error: BaseException) -> bool:
    """True for an error of edgegrad or of its package, whose texts are its own."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, EdgeGradError) or bool(frames) and "/edgegrad/torch/" in frames[-1].filename
