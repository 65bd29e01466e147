"""The BLAS library behind PyTorch's products: which it is, and its speed."""

import ctypes
import os
import time

import torch

SIDE = 512
SECONDS = 0.3


def library():
    """Returns the name of the library that this process has loaded, and OpenBLAS's name for the processor, if it is OpenBLAS."""
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps if "/" in line}
    paths = [path for path in loaded if any(part in os.path.basename(path) for part in ("blas", "mkl_rt", "libatlas"))]
    for path in sorted(paths, key=lambda path: "openblas" not in path):
        try:
            core = ctypes.CDLL(path).openblas_get_corename
        except AttributeError:
            continue
        core.restype = ctypes.c_char_p
        return f"OpenBLAS for {core().decode()}"
    return ", ".join(sorted(os.path.basename(os.path.realpath(path)) for path in paths)) or "no BLAS library"


def gflops():
    """Returns the speed of a matrix product in float32 on the threads that PyTorch uses, the best of several."""
    a, b = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    out = torch.mm(a, b)
    best = float("inf")
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        before = time.perf_counter()
        torch.mm(a, b, out=out)
        best = min(best, time.perf_counter() - before)
    return 2 * SIDE**3 / best / 1e9


def describe():
    speed = gflops()
    return {"library": library(), "gflops": speed}
