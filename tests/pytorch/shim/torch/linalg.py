"""torch.linalg."""

from typing import Any

from ._functions import forward, namespace

__getattr__ = namespace("linalg")

_matrix_rank = forward("linalg", "matrixRank")


def matrix_rank(A: Any, *args: Any, **keywords: Any) -> Any:
    """PyTorch's older form names one tolerance, and whether the matrices are Hermitian comes second."""
    if len(args) == 2 and isinstance(args[1], bool):
        args, keywords = (), {**keywords, "tol": args[0], "hermitian": args[1]}
    if "tol" in keywords:
        tol = keywords.pop("tol")
        keywords = {**keywords, "atol": tol, "rtol": 0}
    return _matrix_rank(A, *args, **keywords)

# edgegrad has no error of its own for matrices; its codes stand for RuntimeError, of which PyTorch's LinAlgError is a kind.
LinAlgError = RuntimeError
