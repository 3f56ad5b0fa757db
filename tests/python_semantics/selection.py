"""Which of Python's tests are run, and which say nothing of the language."""

import types
from collections.abc import Iterator
from typing import Any

from tests.python_semantics.case import Case

MODULES = (
    *("test_grammar", "test_scope", "test_generators", "test_yield_from", "test_with", "test_contextlib", "test_patma"),
    *("test_exceptions", "test_raise", "test_exception_variations", "test_exception_hierarchy", "test_exception_group"),
    *("test_baseexception", "test_named_expressions", "test_keywordonlyarg", "test_positional_only_arg"),
    *("test_augassign", "test_listcomps", "test_dictcomps", "test_super", "test_property", "test_descr"),
    *("test_subclassinit", "test_dynamicclassattribute", "test_decorators", "test_funcattrs", "test_iter"),
    *("test_iterlen", "test_enumerate", "test_functools", "test_itertools", "test_operator", "test_opcodes"),
    *("test_binop", "test_unary", "test_compare", "test_richcmp", "test_contains", "test_bool", "test_isinstance"),
    *("test_builtin", "test_slice", "test_list", "test_tuple", "test_dict", "test_dictviews", "test_set"),
    *("test_deque", "test_defaultdict", "test_fstring", "test_format"),
)

_INTERPRETER = "looks at the interpreter itself"
_MEMORY = "counts references or waits for garbage to be collected"
_PROCESS = "starts threads or processes, or reads and writes files"
_TEXT = "runs a text that is not in any file"
_PICKLES = "asks for pickles, which a library writes"
_WARNINGS = "asks which warnings or other complaints are printed, which a compiled program drops"
_LIMITS = "fills memory or the stack, or takes hundreds of thousands of steps"
_RANDOM = "draws random numbers, which no compiled program does"
_ADDRESSES = "compares texts with addresses in them"
_REUSED = "asks which tuples the interpreter uses again"
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        ("gc", "gc_collect", "getrefcount", "refcount_test", "weakref", "check_free_after_iterating", "__del__"),
        _MEMORY,
    ),
    **dict.fromkeys(("_getframe", "settrace", "setprofile", "dis", "_testcapi", "_testinternalcapi"), _INTERPRETER),
    **dict.fromkeys(("co_code", "f_locals", "gi_frame", "gi_code", "tb_frame", "tb_next", "tb_lineno"), _INTERPRETER),
    **dict.fromkeys(("__traceback__", "traceback", "check_sizeof", "getsizeof", "calcobjsize"), _INTERPRETER),
    **dict.fromkeys(("ag_frame", "cr_frame", "breakpoint", "breakpointhook"), _INTERPRETER),
    **dict.fromkeys(("threading", "subprocess", "script_helper", "tempfile", "open", "asyncio"), _PROCESS),
    **dict.fromkeys(("captured_stdout", "captured_stderr", "captured_output", "stdout", "stderr"), _PROCESS),
    **dict.fromkeys(("redirect_stdout", "redirect_stderr", "redirect_stream", "orig_stream"), _PROCESS),
    **dict.fromkeys(
        ("exec", "eval", "compile", "check_syntax_error", "check_syntax_warning", "run_doctest", "ast"), _TEXT
    ),
    **dict.fromkeys(("pickle", "check_pickle", "__reduce__", "__setstate__"), _PICKLES),
    **dict.fromkeys(("catch_warnings", "check_warnings", "check_no_warnings", "assertWarns"), _WARNINGS),
    **dict.fromkeys(("assertWarnsRegex", "catch_unraisable_exception"), _WARNINGS),
    **dict.fromkeys(("setrecursionlimit", "infinite_recursion", "bigmemtest"), _LIMITS),
    **dict.fromkeys(("randrange", "shuffle", "random", "choice", "randint"), _RANDOM),
}
"""Names by which tests are left out, and why."""
LEFT_OUT_TESTS: dict[str, str] = {
    **{
        f"test_enumerate.{case}.test_tuple_reuse": _REUSED
        for case in (
            "EnumerateTestCase",
            "EnumerateStartTestCase",
            "SubclassTestCase",
            "TestBig",
            "TestLongStart",
            "TestStart",
        )
    },
    **{
        f"test_itertools.TestBasicOps.test_{kind}_tuple_reuse": _REUSED
        for kind in ("combinations", "combinations_with_replacement", "permutations", "product", "zip_longest")
    },
    "test_iter.TestCase.test_ref_counting_behavior": _MEMORY,
    "test_yield_from.TestPEP380Operation.test_delegator_is_visible_to_debugger": _INTERPRETER,
    "test_descr.DictProxyTests.test_repr": _ADDRESSES,
    **{f"test_functools.TestPartial{kind}.test_repr": _ADDRESSES for kind in ("C", "CSubclass", "Py", "PySubclass")},
    **dict.fromkeys(
        (
            *("test_list.ListTest.test_repr_deep", "test_dict.DictTest.test_repr_deep"),
            *("test_list.ListTest.test_repr_large", "test_tuple.TupleTest.test_repr_large"),
            "test_dictviews.DictSetTest.test_deeply_nested_repr",
            "test_contextlib.TestExitStack.test_excessive_nesting",
            "test_exception_group.DeepRecursionInSplitAndSubgroup.test_deep_split",
            "test_exception_group.DeepRecursionInSplitAndSubgroup.test_deep_subgroup",
            "test_descr.ClassPropertiesAndMethods.test_slots_trash",
            "test_descr.ClassPropertiesAndMethods.test_wrapper_segfault",
            "test_itertools.RegressionTests.test_long_chain_of_empty_iterables",
            *(f"test_deque.TestBasic.test_big_{kind}" for kind in ("queue_popleft", "queue_popright")),
            *(f"test_deque.TestBasic.test_big_{kind}" for kind in ("stack_left", "stack_right")),
            *(f"test_deque.TestBasic.test_long_steadystate_queue_pop{side}" for side in ("left", "right")),
            *(f"test_set.{case}.test_hash_effectiveness" for case in ("TestFrozenSet", "TestFrozenSetSubclass")),
        ),
        _LIMITS,
    ),
    "test_list.ListTest.test_constructor_exception_handling": "raises KeyboardInterrupt, which ends a compilation",
}
"""Tests that are left out, and why."""


def cases_of(module: types.ModuleType) -> Iterator[tuple[type[Case], str]]:
    """The test methods of a module."""
    for _, cls in sorted(vars(module).items()):
        if not isinstance(cls, type) or not issubclass(cls, Case) or cls.__module__ != module.__name__:
            continue
        if getattr(cls, "__unittest_skip__", False):
            continue
        for name in sorted(dir(cls)):
            method = getattr(cls, name)
            if name.startswith("test") and callable(method) and not getattr(method, "__unittest_skip__", False):
                yield cls, name


def why_left_out(test: str, cls: type[Case], name: str) -> str | None:
    """Why a test says nothing of the language; None if it does."""
    if test in LEFT_OUT_TESTS:
        return LEFT_OUT_TESTS[test]
    run = (getattr(cls, part, None) for part in (name, "setUp", "tearDown"))
    named = set[str]().union(*(_names(part, cls) for part in run)) & LEFT_OUT.keys()
    return LEFT_OUT[min(named)] if named else None


def _names(function: Any, cls: type[Case]) -> set[str]:
    """Every name in a function's code, in the functions in it and in the methods of its class that it names."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    waiting: list[types.CodeType] = [] if code is None else [code]
    names: set[str] = set()
    for code in waiting:
        for name in set(code.co_names) - names:
            other = getattr(getattr(cls, name, None), "__code__", None)
            if other is not None and not hasattr(Case, name) and other not in waiting:
                waiting.append(other)
        names.update(code.co_names)
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names
