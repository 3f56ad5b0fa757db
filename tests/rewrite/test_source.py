"""Finding the source of running code."""

import ast
import linecache
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import dycl
from dycl.rewrite.normalise.source import FunctionNode, function_node, has_source
from tests.case_module import import_program

WORDS = {f"word{number}" for number in range(40)}
MODEL = f"""
from torch import nn


class Model(nn.Module):
    mode = "word7"

    def forward(self, x):
        if self.mode in {{ {", ".join(map(repr, sorted(WORDS)))} }} and x.sum() > 0:
            return x
        return -x
"""
PROGRAM = "import dycl, model, torch; print(dycl.compile(model.Model().eval(), torch.ones(2))(torch.ones(2)).tolist())"


def test_code_that_another_process_compiled_is_the_same_code(tmp_path: Path) -> None:
    """Python keeps compiled modules in files; a set of texts has the order there that the writing process gave it."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    for seed in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        assert run.stdout.strip() == "[1.0, 1.0]", run.stderr


# Every function has a number of its own, by which it is known.
FUNCTIONS = """
pair = (lambda: 101, lambda: 102)
constants = lambda a=(lambda: 103): 104
nested = lambda a: (lambda b: (201, lambda c: 202))(203)
defaults = lambda a=(lambda: 301): (302, lambda a=a: 303)
expressions = lambda x: (401, sum(402 + y + (lambda: 403)() for y in x if any(404 == z for z in x)), (405 for _ in x))
def comprehensions(x, key=lambda: 501): return 502, [y for y in x if (lambda: 503)()], [lambda y=y: (504, y) for y in x]
@staticmethod
@(lambda function: (601, function)[1])
def decorated(
    x,
): return 602, {y: lambda: (603, y) for y in x}, {(lambda: 604)() for _ in x}, f"{(lambda: 605)()}{[lambda: 606]}"
class Class:
    def method(self): return super().__repr__(), 701, [lambda: (702, self) for self in ()]
    short = lambda self: (703, lambda: 704)
def outer():
    try:
        first = lambda: 801
    finally:
        second = lambda: 802
    def generator():
        yield 803
        yield from (804 for _ in ())
    async def coroutine():
        return 805
    return 806, [[(lambda: (807, a, b)) for a in ()] for b in ()]
spread = (lambda:
          901), (lambda
                 x: 902)
"""
GENERIC_FUNCTIONS = """
def generic[T](x: T, key=lambda: 101) -> T:
    def inner[U: int](y: U) -> U: return 102, [lambda: 103 for _ in y]
    return 104, inner
class Generic[T]:
    def method[U](self, x: T) -> U: return 201, T, U, f"{f"{(lambda: 202)()}"}"
"""


def codes_inside(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_inside(constant)


def innermost_function(tree: ast.AST, number: int) -> ast.AST:
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, FunctionNode)
        and any(isinstance(item, ast.Constant) and item.value == number for item in ast.walk(node))
    ]
    return min(around, key=lambda node: len(ast.unparse(node)))


@pytest.mark.parametrize("text", [FUNCTIONS, *([GENERIC_FUNCTIONS] if sys.version_info >= (3, 12) else [])])
def test_every_function_is_found(text: str, tmp_path: Path) -> None:
    file = tmp_path / "functions.py"
    file.write_text(text, encoding="utf-8")
    tree = ast.parse(text)
    numbers = set()
    for code in codes_inside(compile(text, str(file), "exec")):
        number = next((constant for constant in code.co_consts if isinstance(constant, int) and constant > 100), None)
        if number and code.co_name not in ("<listcomp>", "<setcomp>", "<dictcomp>"):
            assert ast.dump(function_node(code)) == ast.dump(innermost_function(tree, number)), code
            numbers.add(number)
    assert numbers == {int(number) for number in re.findall(r"\b\d0\d\b", text)}


RENAMED = """
from torch import nn


def doubled(function):
    def wrapped(*args):
        result = function(*args)
        return result if result.sum() > 0 else 2 * result

    wrapped.__code__ = wrapped.__code__.replace(co_name="doubled", co_qualname="doubled")
    return wrapped


class Model(nn.Module):
    @doubled
    def forward(self, x):
        return x + 1
"""


def results(module: types.ModuleType) -> list[list[float]]:
    program = dycl.compile(module.Model().eval(), torch.ones(2))
    return [program(torch.full((2,), value)).tolist() for value in (1.0, -2.0)]


def test_code_may_have_another_name_than_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert results(import_program(RENAMED, tmp_path, monkeypatch)) == [[2.0, 2.0], [-2.0, -2.0]]


def test_code_of_another_name_is_compared_with_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_program(RENAMED, tmp_path, monkeypatch)
    (tmp_path / "model.py").write_text(RENAMED.replace("2 * result", "3 * result"), encoding="utf-8")
    with pytest.raises(dycl.CompileError, match="is not the code that is running"):
        results(module)


def test_what_exec_made_has_no_source_though_a_text_goes_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `python -c` from Python 3.13 on."""
    text = "def helper(x):\n    return x\n"
    monkeypatch.setitem(linecache.cache, "<string>", (len(text), None, text.splitlines(True), "<string>"))
    made: dict[str, types.FunctionType] = {}
    exec(text, made)
    exec("def other(x):\n    return x + 1\n", made)
    assert has_source(made["helper"].__code__)
    assert not has_source(made["other"].__code__)


if sys.version_info >= (3, 12):  # type parameters are new there
    GENERIC = """
from torch import nn


class Model[M](nn.Module):
    def forward(self, x):
        def chosen[T](y: T, factor=2) -> T:
            return y + 1 if y.sum() > -2 else y * factor + 2

        return chosen(x)
"""

    def test_functions_may_have_type_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert results(import_program(GENERIC, tmp_path, monkeypatch)) == [[2.0, 2.0], [-2.0, -2.0]]

    def test_a_type_parameter_that_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        module = import_program(GENERIC.replace("y + 1 if", "(y, T) if"), tmp_path, monkeypatch)
        with pytest.raises(dycl.CompileError, match="the function reads its type parameter `T`"):
            results(module)
