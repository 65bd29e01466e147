"""The part of expecttest that PyTorch's test support imports. Texts are not compared: edgegrad's are its own."""

from __future__ import annotations

import unittest
from typing import Any, Callable


class TestCase(unittest.TestCase):
    longMessage = True

    def assertExpectedInline(self, actual: str, expect: str, skip: int = 0) -> None:
        pass

    def assertExpectedRaisesInline(
        self, exc_type: type, callable: Callable, expect: str, *args: Any, skip: int = 0, **keywords: Any
    ) -> None:
        self.assertRaises(exc_type, callable, *args, **keywords)
