"""A test case whose assertions are plain Python, so that the machine can step through them."""

import contextlib
import re
import unittest
import warnings
from collections.abc import Callable, Iterable
from typing import Any


class Raises:
    """`with case.assertRaises(...)`."""

    def __init__(self, kinds: Any, pattern: Any) -> None:
        self.kinds = kinds
        self.pattern = pattern
        self.exception: Any = None

    def __enter__(self) -> "Raises":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is None:
            raise AssertionError("nothing was raised")
        if not issubclass(kind, self.kinds):
            return False
        self.exception = error
        if self.pattern is not None and not re.search(self.pattern, str(error)):
            raise AssertionError("another message: " + str(error))
        return True


class Case:
    """What these tests need of `unittest.TestCase`."""

    failureException = AssertionError
    maxDiff = None
    longMessage = True

    def __init__(self, method: str = "runTest") -> None:
        self._cleanups: list[Any] = []
        self._testMethodName = method

    def setUp(self) -> None:
        pass

    def tearDown(self) -> None:
        pass

    @classmethod
    def setUpClass(cls) -> None:
        pass

    def id(self) -> str:
        return self._testMethodName

    def addCleanup(self, function: Any, *args: Any, **kwargs: Any) -> None:
        self._cleanups.append((function, args, kwargs))

    def doCleanups(self) -> None:
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            function(*args, **kwargs)

    def enterContext(self, manager: Any) -> Any:
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def subTest(self, msg: Any = None, **params: Any) -> Any:
        return contextlib.nullcontext()

    def fail(self, msg: Any = None) -> None:
        raise AssertionError(msg)

    def skipTest(self, reason: Any) -> None:
        raise unittest.SkipTest(reason)

    def assertTrue(self, value: Any, msg: Any = None) -> None:
        if not value:
            raise AssertionError("not true")

    def assertFalse(self, value: Any, msg: Any = None) -> None:
        if value:
            raise AssertionError("not false")

    def assertEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        if not first == second:
            raise AssertionError("not equal: " + repr(first)[:100] + " and " + repr(second)[:100])

    def assertNotEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        if not first != second:
            raise AssertionError("equal")

    assertListEqual = assertTupleEqual = assertDictEqual = assertSetEqual = assertEqual
    assertMultiLineEqual = assertEqual

    def assertSequenceEqual(self, first: Any, second: Any, msg: Any = None, seq_type: Any = None) -> None:
        if len(first) != len(second):
            raise AssertionError("other lengths")
        for place in range(len(first)):
            self.assertEqual(first[place], second[place])

    def assertIs(self, first: Any, second: Any, msg: Any = None) -> None:
        if first is not second:
            raise AssertionError("not the same: " + repr(first)[:100] + " and " + repr(second)[:100])

    def assertIsNot(self, first: Any, second: Any, msg: Any = None) -> None:
        if first is second:
            raise AssertionError("the same")

    def assertIsNone(self, value: Any, msg: Any = None) -> None:
        if value is not None:
            raise AssertionError("not None: " + repr(value)[:100])

    def assertIsNotNone(self, value: Any, msg: Any = None) -> None:
        if value is None:
            raise AssertionError("None")

    def assertIn(self, item: Any, container: Any, msg: Any = None) -> None:
        if item not in container:
            raise AssertionError("not in: " + repr(item)[:100] + ", " + repr(container)[:100])

    def assertNotIn(self, item: Any, container: Any, msg: Any = None) -> None:
        if item in container:
            raise AssertionError("in")

    def assertIsInstance(self, value: Any, kind: Any, msg: Any = None) -> None:
        if not isinstance(value, kind):
            raise AssertionError("no instance: " + repr(value)[:100])

    def assertNotIsInstance(self, value: Any, kind: Any, msg: Any = None) -> None:
        if isinstance(value, kind):
            raise AssertionError("an instance")

    def assertHasAttr(self, value: Any, name: str, msg: Any = None) -> None:
        if not hasattr(value, name):
            raise AssertionError("no attribute " + name)

    def assertNotHasAttr(self, value: Any, name: str, msg: Any = None) -> None:
        if hasattr(value, name):
            raise AssertionError("an attribute " + name)

    def assertStartsWith(self, text: Any, prefix: Any, msg: Any = None) -> None:
        if not text.startswith(prefix):
            raise AssertionError("another start")

    def assertEndsWith(self, text: Any, suffix: Any, msg: Any = None) -> None:
        if not text.endswith(suffix):
            raise AssertionError("another end")

    def assertIsSubclass(self, cls: Any, other: Any, msg: Any = None) -> None:
        if not issubclass(cls, other):
            raise AssertionError("no subclass")

    def assertNotIsSubclass(self, cls: Any, other: Any, msg: Any = None) -> None:
        if issubclass(cls, other):
            raise AssertionError("a subclass")

    def assertLess(self, first: Any, second: Any, msg: Any = None) -> None:
        if not first < second:
            raise AssertionError("not less")

    def assertLessEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        if not first <= second:
            raise AssertionError("not less or equal")

    def assertGreater(self, first: Any, second: Any, msg: Any = None) -> None:
        if not first > second:
            raise AssertionError("not greater")

    def assertGreaterEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        if not first >= second:
            raise AssertionError("not greater or equal")

    def assertAlmostEqual(
        self, first: Any, second: Any, places: Any = None, msg: Any = None, delta: Any = None
    ) -> None:
        if first == second:
            return
        off = abs(first - second)
        if (off > delta) if delta is not None else round(off, 7 if places is None else places) != 0:
            raise AssertionError("not almost equal")

    def assertNotAlmostEqual(self, first: Any, second: Any, places: int = 7, msg: Any = None) -> None:
        if first == second or round(abs(first - second), places) == 0:
            raise AssertionError("almost equal")

    def assertRegex(self, text: Any, pattern: Any, msg: Any = None) -> None:
        if not re.search(pattern, text):
            raise AssertionError("no match: " + text[:200])

    def assertNotRegex(self, text: Any, pattern: Any, msg: Any = None) -> None:
        if re.search(pattern, text):
            raise AssertionError("a match")

    def assertCountEqual(self, first: Iterable[Any], second: Iterable[Any], msg: Any = None) -> None:
        rest = list(second)
        for item in first:
            if item not in rest:
                raise AssertionError("other items")
            rest.remove(item)
        if rest:
            raise AssertionError("other items")

    def assertRaises(self, kinds: Any, function: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        if function is None:
            return Raises(kinds, None)
        try:
            function(*args, **kwargs)
        except kinds:
            return None
        raise AssertionError("nothing was raised")

    def assertRaisesRegex(
        self, kinds: Any, pattern: Any, function: Callable[..., Any] | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        if function is None:
            return Raises(kinds, pattern)
        try:
            function(*args, **kwargs)
        except kinds as error:
            if not re.search(pattern, str(error)):
                raise AssertionError("another message: " + str(error)) from error
            return None
        raise AssertionError("nothing was raised")

    def assertWarns(self, kinds: Any, function: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        """Warnings are dropped by a compiled program, and nothing here looks at them."""
        if function is None:
            return warnings.catch_warnings()
        return function(*args, **kwargs)

    def assertWarnsRegex(
        self, kinds: Any, pattern: Any, function: Callable[..., Any] | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        return self.assertWarns(kinds, function, *args, **kwargs)
