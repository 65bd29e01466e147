"""Changes in PyTorch's test support: texts of errors and warnings are not compared, because edgegrad's are its own."""

from __future__ import annotations

import contextlib
import unittest
import warnings
from typing import Any

from target import is_own


class _Raises:
    """assertRaises and assertRaisesRegex: an error of edgegrad has to be of the expected class; of others the text counts, too."""

    def __init__(self, case: unittest.TestCase, expected: Any, regex: Any) -> None:
        self._case, self._expected, self._regex = case, expected, regex

    def __enter__(self) -> _Raises:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is None:
            raise self._case.failureException(f"{self._expected} not raised, expected {self._regex!r}")
        if not isinstance(error, self._expected):
            return False
        self.exception = error
        if self._regex is not None and not is_own(error):
            self._case.assertRegex(str(error), self._regex)
        return True


class _Warns:
    """assertWarns and assertWarnsRegex."""

    def __init__(self, case: unittest.TestCase, expected: Any) -> None:
        self._case, self._expected = case, expected
        self._recording = warnings.catch_warnings(record=True)

    def __enter__(self) -> _Warns:
        self.warnings = self._recording.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self._recording.__exit__(None, None, None)
        if kind is not None:
            return False
        found = [one for one in self.warnings if issubclass(one.category, self._expected)]
        if not found:
            raise self._case.failureException(f"{self._expected} not triggered")
        self.warning = found[0].message
        return False


def _run(context: Any, call: Any, args: tuple, keywords: dict) -> Any:
    if call is None:
        return context
    with context:
        call(*args, **keywords)
    return None


def _assert_raises(self: Any, expected: Any, call: Any = None, *args: Any, **keywords: Any) -> Any:
    return _run(_Raises(self, expected, None), call, args, keywords)


def _assert_raises_regex(
    self: Any, expected: Any, regex: Any, call: Any = None, *args: Any, **keywords: Any
) -> Any:
    return _run(_Raises(self, expected, regex), call, args, keywords)


def _assert_warns(self: Any, expected: Any, call: Any = None, *args: Any, **keywords: Any) -> Any:
    return _run(_Warns(self, expected), call, args, keywords)


def _assert_warns_regex(
    self: Any, expected: Any, regex: Any, call: Any = None, *args: Any, **keywords: Any
) -> Any:
    return _run(_Warns(self, expected), call, args, keywords)


def _assert_warns_once(self: Any, category: Any = UserWarning, regex: str = "") -> Any:
    return _Warns(self, category)


def _no_sub_test(self: Any, *_: Any, **__: Any) -> Any:
    """Ends the test at its first failure, as without sub-tests."""
    return contextlib.nullcontext()


def _allow_no_tests(cls: type) -> None:
    """Lets a decorator make no tests: PyTorch's lists of what it tests are empty where something is missing."""
    original = cls._parametrize_test

    def parametrize(self: Any, test: Any, generic_cls: Any, device_cls: Any) -> Any:
        try:
            yield from original(self, test, generic_cls, device_cls)
        except ValueError as error:
            if "An empty" not in str(error):
                raise

    cls._parametrize_test = parametrize


def prepare() -> None:
    """Changes the classes of PyTorch's test support."""
    from torch.testing._internal import common_device_type, common_utils

    _allow_no_tests(common_device_type.ops)
    _allow_no_tests(common_utils.parametrize)

    case = common_utils.TestCase
    case.assertRaises = _assert_raises
    case.assertRaisesRegex = case.assertRaisesRegexp = _assert_raises_regex
    case.assertWarns = _assert_warns
    case.assertWarnsRegex = _assert_warns_regex
    case.assertWarnsOnceRegex = _assert_warns_once
    case.subTest = _no_sub_test
