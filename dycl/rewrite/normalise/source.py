"""Find the syntax tree of a running function, and the places in the user's files."""

import ast
import builtins
import inspect
import linecache
import os
import sys
import types
from functools import cache, lru_cache

from dycl.hcfg.types import Span
from dycl.rewrite.normalise.private_names import PrivateNames
from dycl.rewrite.signals import Refused

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.GeneratorExp


_full_paths: dict[str, str] = {}


def full_path(short: str) -> str:
    """The file that a span's short path means."""
    return _full_paths.get(short, short)


@cache
def short_path(filename: str) -> str:
    """A file's name as a person would say it: relative to where they work or to where Python imports from."""
    short = _shortened(os.path.abspath(filename))
    _full_paths[short] = filename
    return short


def _shortened(absolute: str) -> str:
    for root in sorted({os.getcwd(), *filter(None, sys.path)}, key=len, reverse=True):
        prefix = os.path.join(os.path.abspath(root), "")
        if absolute.startswith(prefix):
            return absolute[len(prefix) :]
    return absolute


def span_of(node: ast.AST, code: types.CodeType) -> Span:
    """The place of a syntax node."""
    line = getattr(node, "lineno", code.co_firstlineno)
    column = getattr(node, "col_offset", 0)
    end_line = getattr(node, "end_lineno", line)
    end_column = getattr(node, "end_col_offset", column)
    return Span(short_path(code.co_filename), line, column + 1, end_line, end_column + 1, code.co_qualname)


def span_of_function(function: object) -> Span:
    """The place where a function is defined."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)  # type: ignore[arg-type]
    if code is None:
        return Span("<builtin>", 1, 1, 1, 1, getattr(function, "__name__", "?"))
    line = linecache.getline(code.co_filename, code.co_firstlineno).rstrip()
    indent = len(line) - len(line.lstrip())
    place = (code.co_firstlineno, indent + 1, code.co_firstlineno, len(line) + 1)
    return Span(short_path(code.co_filename), *place, code.co_qualname)


def has_source(code: types.CodeType) -> bool:
    """Whether the text of this code can be read."""
    text = "".join(linecache.getlines(code.co_filename))
    # Python 3.13 knows the text of `python -c` by the name that all code has which `exec` runs.
    return bool(text) and (code.co_filename != "<string>" or _is_compiled_from(text, code))


def function_node(code: types.CodeType) -> FunctionNode:
    """The syntax tree of the function that was compiled to `code`."""
    if not has_source(code):
        raise Refused(
            "DY003",
            f"a decision hides in `{code.co_qualname}`, whose source cannot be read",
            "define the function in a file or a notebook cell, not through `exec`",
        )
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename))
    here = [node for node in _functions(text, code.co_filename) if _first_line(node) == code.co_firstlineno]
    # A decorator may give code another name, as PyTorch's `no_grad` does, to be seen in stack traces.
    found = [node for node in here if _name(node) == code.co_name] or here
    if len(found) > 1:
        # Of functions inside each other, the innermost starts last.
        around = [node for node in found if _covers(node, code)]
        found = sorted(around, key=lambda node: (node.lineno, node.col_offset))[-1:]
    if len(found) != 1 or not _is_running(found[0], code, text):
        raise Refused(
            "DY003",
            f"the source of `{code.co_qualname}` in {short_path(code.co_filename)} is not the code that is running",
            "reload the module after editing its file",
        )
    return found[0]


def _is_running(node: FunctionNode, code: types.CodeType, text: str) -> bool:
    """Whether compiling the text gives the code that is running.

    Test runners rewrite `assert` statements, so a function that has one is only compared by its name and parameters.
    """
    if _parameters(node) != _code_parameters(code):
        return False
    if _name(node) == code.co_name and any(isinstance(item, ast.Assert) for item in ast.walk(node)):
        return True
    return _is_compiled_from(text, code, _name(node))


def _is_compiled_from(text: str, code: types.CodeType, name: str | None = None) -> bool:
    """Whether compiling this text gives the code, under this name or its own."""
    key = (name or code.co_name, code.co_firstlineno)
    return any(_same_code(code, candidate) for candidate in _codes(text, code.co_filename).get(key, ()))


def _same_code(left: types.CodeType, right: types.CodeType) -> bool:
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars")
    if any(getattr(left, name) != getattr(right, name) for name in names):
        return False
    if len(left.co_consts) != len(right.co_consts):
        return False
    return all(map(_same_constant, left.co_consts, right.co_consts))


def _same_constant(left: object, right: object) -> bool:
    """Whether two constants of codes are the same; nested codes are compared when they run."""
    if isinstance(left, types.CodeType):
        return isinstance(right, types.CodeType)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_same_constant, left, right))
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        # Texts in a set have another order in every process.
        return {repr(item) for item in left} == {repr(item) for item in right}
    return repr(left) == repr(right)


@lru_cache(maxsize=64)
def _codes(text: str, filename: str) -> dict[tuple[str, int], list[types.CodeType]]:
    """Every code object that Python makes of this text, by name and first line."""
    found: dict[tuple[str, int], list[types.CodeType]] = {}
    waiting = [builtins.compile(text, filename, "exec", dont_inherit=True)]
    for code in waiting:
        found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return found


def nested_code(node: FunctionNode, code: types.CodeType) -> types.CodeType | None:
    """The code object that Python compiled for a function inside the function that was compiled to `code`.

    None if Python left it out, as it does after a `return`.
    """
    wanted = (_name(node), _first_line(node))
    candidates = [inner for inner in _inner_codes(code) if (inner.co_name, inner.co_firstlineno) == wanted]
    if len(candidates) > 1:
        inside = [item for item in ast.walk(node) if isinstance(item, FunctionNode) and item is not node]
        candidates = [
            inner
            for inner in candidates
            if _covers(node, inner) and not any(_name(item) == _name(node) and _covers(item, inner) for item in inside)
        ]
    if any(inner != candidates[0] for inner in candidates):
        # Python compiles the body of `finally` several times, to equal codes.
        raise Refused("DY003", f"the code of `{_name(node)}` inside `{code.co_qualname}` cannot be told apart")
    return candidates[0] if candidates else None


def nested_class_code(node: ast.ClassDef, code: types.CodeType) -> types.CodeType | None:
    """The code object that Python compiled for the body of a class inside the function that was compiled to `code`."""
    line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    found = [inner for inner in _inner_codes(code) if (inner.co_name, inner.co_firstlineno) == (node.name, line)]
    found = [inner for inner in found if not inner.co_flags & inspect.CO_NEWLOCALS]
    if any(inner != found[0] for inner in found):
        raise Refused("DY003", f"the code of `{node.name}` inside `{code.co_qualname}` cannot be told apart")
    return found[0] if found else None


def _inner_codes(code: types.CodeType) -> list[types.CodeType]:
    """The functions written directly in `code`, also those inside its comprehensions and behind type parameters."""
    found: list[types.CodeType] = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            around = constant.co_name.startswith(("<listcomp>", "<setcomp>", "<dictcomp>", "<generic parameters"))
            found.extend(_inner_codes(constant) if around else [constant])
    return found


@lru_cache(maxsize=64)
def _functions(text: str, filename: str) -> tuple[FunctionNode, ...]:
    tree = ast.parse(text, filename)
    PrivateNames().visit(tree)
    return tuple(node for node in ast.walk(tree) if isinstance(node, FunctionNode))


def _first_line(node: FunctionNode) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(decorators[0].lineno if decorators else node.lineno)


def _name(node: FunctionNode) -> str:
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    return "<genexpr>" if isinstance(node, ast.GeneratorExp) else node.name


def _covers(node: FunctionNode, code: types.CodeType) -> bool:
    """Whether every instruction of `code` that has a place has it inside `node`."""
    region = node.body if isinstance(node, ast.Lambda) else node
    start = (region.lineno, region.col_offset)
    end = (region.end_lineno or region.lineno, region.end_col_offset or 0)
    placed = False
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) != (code.co_firstlineno, 0):
            placed = True
            if (line, column) < start or (end_line, end_column) > end:
                return False
    # Python 3.12 gives no place to a constant that a lambda returns.
    return placed or not isinstance(node, ast.Lambda) or _compiles_to(node, code)


def _compiles_to(node: ast.Lambda, code: types.CodeType) -> bool:
    made = builtins.compile(ast.Expression(node), code.co_filename, "eval", dont_inherit=True)
    return any(isinstance(inner, types.CodeType) and _same_code(inner, code) for inner in made.co_consts)


def _parameters(node: FunctionNode) -> tuple[str, ...]:
    if isinstance(node, ast.GeneratorExp):
        return (".0",)
    arguments = node.args
    return tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _code_parameters(code: types.CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
