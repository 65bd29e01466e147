"""torch.linalg."""

from ._functions import namespace

__getattr__ = namespace("linalg")

# edgegrad has no error of its own for matrices; its codes stand for RuntimeError, of which PyTorch's LinAlgError is a kind.
LinAlgError = RuntimeError
