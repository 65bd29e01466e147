"""Runs tests of one of PyTorch's test files on the shim, and prints a line of JSON for each. run.mjs starts it.

    EG_PYTORCH_SOURCE=FOLDER python3 run_tests.py test/test_indexing.py [--shard 0/2] [--sample 10] [--without REGEX] [--after TEST] [--core 0] [-k REGEX] [--list] [-v]

Ends with the status 75 after a test during which Node crashed or hung; the tests after it need a new process (`--after`).
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import importlib.util
import json
import os
import pathlib
import re
import signal
import sys
import time
import traceback
import unittest
import warnings
import zlib
from typing import Any, Iterator

HERE = pathlib.Path(__file__).parent
NEEDS_NEW_PROCESS = 75
_MOST_SECONDS = 240  # of one test: only what hangs takes so long, also on a busy machine
_TESTS_PER_COLLECTION = 20

# The package `torch` of the tests: the shim, or edgegrad.torch with what these tests need beside it.
sys.path[:0] = [str(HERE / "support"), str(HERE / os.environ.get("EG_PYTORCH_ON", "shim"))]
# Of PyTorch's test support: no other devices, and no advice how to run a test that failed.
os.environ["PYTORCH_TESTING_DEVICE_ONLY_FOR"] = "cpu"
os.environ["PYTORCH_PRINT_REPRO_ON_FAILURE"] = "0"

import stubs  # noqa: E402
import target  # noqa: E402
import torch  # noqa: E402


class TooLong(BaseException):
    """A test took too long."""


class Result(unittest.TestResult):
    """The outcome of one test: its status, and what its exceptions say."""

    def __init__(self) -> None:
        super().__init__()
        self.status, self.error, self.reason = "pass", None, ""

    def addSkip(self, test: Any, reason: str) -> None:
        self.status, self.reason = "skip", reason

    def addFailure(self, test: Any, err: Any) -> None:
        self._fail("fail", err)

    def addError(self, test: Any, err: Any) -> None:
        self._fail("error", err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._fail("fail", err)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self.status, self.reason = "skip", "PyTorch fails, too"

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.addExpectedFailure(test, None)

    def _fail(self, status: str, err: Any) -> None:
        if self.error is not None:
            return
        self.error = err[1]
        kinds = {stubs.Unsupported: "unsupported", target.BridgeDied: "crash", TooLong: "timeout"}
        self.status = kinds.get(type(self.error), status)
        code = getattr(self.error, "code", None)
        self.reason = f"{code if isinstance(code, str) else type(self.error).__name__}: {self.error}"


def load(path: pathlib.Path) -> Any:
    """Imports a test file, as `python3 FILE` would find what is next to it."""
    sys.path[1:1] = [str(path.parent), str(path.parents[1] if path.parent.name != "test" else path.parent)]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def collect(module: Any) -> Iterator[tuple[str, type, str]]:
    """Yields the tests of a module: the full name, the class and the method."""
    from torch.testing._internal.common_utils import TestCase

    for name, cls in list(vars(module).items()):
        is_case = isinstance(cls, type) and issubclass(cls, unittest.TestCase) and cls is not TestCase
        if not is_case or cls.__module__ != module.__name__:
            continue
        for method in sorted(dir(cls)):
            if method.startswith("test") and callable(getattr(cls, method, None)):
                yield f"{name}.{method}", cls, method


_WITH_DTYPE = re.compile(rf"_cpu_(?:\w+_)?({'|'.join(target.MISSING_DTYPES)})(?:_\w+)?$")


def missing_dtype(name: str) -> str | None:
    """Returns the dtype that a test needs, by its name, if edgegrad lacks it."""
    found = _WITH_DTYPE.search(name)
    return found and found.group(1)


def hash_of(name: str) -> int:
    """A number that divides tests into samples and shards, the same everywhere."""
    return zlib.crc32(name.encode())


def stay_on_core(index: int) -> None:
    """Keeps this process and its Node on one core: they take turns, and waking the other one is many times faster on the same core."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[index % len(cores)]})


def _alarm_after(seconds: float) -> None:
    """Ends the test after some seconds, 0 for never. In Pyodide there are no timers that interrupt."""
    if sys.platform != "emscripten":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _alarm(*_: Any) -> None:
    # The conversation is broken off in its middle: whatever asks from now on has to fail, too.
    target.channel.process.kill()
    raise TooLong("a test took too long")


def run(full: str, cls: type, method: str) -> dict:
    """Runs a test and describes its outcome."""
    target.emulated.clear()
    torch.set_default_dtype(torch.float32)
    result, started = Result(), time.monotonic()
    case = cls(method)
    stubs.running[0] = True
    _alarm_after(_MOST_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            unittest.TestCase.run(case, result)
    except TooLong as error:
        result._fail("error", (TooLong, error, None))
    finally:
        _alarm_after(0)
        stubs.running[0] = False
    row = {"test": full, "status": result.status, "seconds": round(time.monotonic() - started, 2)}
    if result.reason:
        row["reason"] = result.reason[:400]
    if result.error is not None:
        row["at"] = _line_of_test(result.error)
        row["trace"] = "".join(traceback.format_exception(result.error))[-3000:]
    if target.emulated:
        row["emulated"] = sorted(target.emulated)
    return row


def _line_of_test(error: BaseException) -> str:
    """Returns the line of the test file in which the error came up."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.line for frame in frames if "/test/" in frame.filename]
    return lines[-1] if lines else ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--without", default="")
    parser.add_argument("--after", default="")
    parser.add_argument("--core", type=int)
    parser.add_argument("-k", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    sys.argv = [str(options.file)]
    if options.core is not None:
        stay_on_core(options.core)
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _alarm)
    sys.setrecursionlimit(3000)
    warnings.simplefilter("ignore")
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what tests print is not mixed with the results

    from harness import prepare

    prepare()
    tests = list(collect(load(options.file.resolve())))
    shard, shards = map(int, options.shard.split("/"))
    reached = not options.after
    ready: set[type] = set()
    count = 0
    for full, cls, method in tests:
        is_ours = hash_of(full) // options.sample % shards == shard
        if not is_ours or (options.k and not re.search(options.k, full)):
            continue
        if not reached:
            reached = full == options.after
            continue
        lacking = missing_dtype(full)
        if lacking:
            row = {"test": full, "status": "unsupported", "reason": f"missing: dtype {lacking}"}
        elif hash_of(full) % options.sample:
            row = {"test": full, "status": "left out", "reason": "outside the sample"}
        elif options.without and re.search(options.without, full):
            row = {"test": full, "status": "left out", "reason": "takes too long"}
        elif options.list:
            row = {"test": full, "status": "listed"}
        else:
            if cls not in ready:
                cls.setUpClass()
                ready.add(cls)
            row = run(full, cls, method)
        trace = row.pop("trace", None)
        print(json.dumps(row), file=output, flush=True)
        if options.v and trace:
            print(trace, file=sys.stderr)
        if row["status"] in ("crash", "timeout") or target.needs_new_process():
            return NEEDS_NEW_PROCESS
        count += "seconds" in row
        if "seconds" in row and count % _TESTS_PER_COLLECTION == 0:
            gc.collect()
            target.collect()
    target.channel.stop()
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
