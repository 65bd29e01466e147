"""torch.version."""

from .._version import __version__ as __version__

cuda = hip = None
