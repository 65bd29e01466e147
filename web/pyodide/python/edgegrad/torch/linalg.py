"""torch.linalg: the functions of edgegrad."""

from __future__ import annotations

from typing import Any

from ._declared import namespace

__getattr__ = namespace("linalg", __name__)
# edgegrad's codes stand for RuntimeError, of which PyTorch's error of matrices is a kind.
LinAlgError = RuntimeError
_matrix_rank = __getattr__("matrix_rank")


def matrix_rank(A: Any, *args: Any, **keywords: Any) -> Any:
    """The rank. PyTorch's older form names one tolerance, and whether the matrices are Hermitian comes second."""
    if len(args) == 2 and isinstance(args[1], bool):
        args, keywords = (), {**keywords, "tol": args[0], "hermitian": args[1]}
    if "tol" in keywords:
        keywords = {**keywords, "atol": keywords["tol"], "rtol": 0}
        del keywords["tol"]
    return _matrix_rank(A, *args, **keywords)

