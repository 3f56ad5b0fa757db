"""What a `finally` does: whether that is the same after an error as without one, and the error goes on."""

import ast
from collections.abc import Iterable, Sequence

_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Delete, ast.If, ast.For, ast.Pass)
_TESTS = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp)
_EXPRESSIONS = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.Slice, ast.Starred, ast.BinOp, ast.UnaryOp),
    *(ast.Tuple, ast.List, ast.Dict, ast.Compare, ast.JoinedStr, ast.FormattedValue),
)
_ASK_FOR_ERRORS = frozenset(("exc_info", "exception"))
_PARTS = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context, ast.keyword)


def only_cleans_up(finalbody: Sequence[ast.stmt], protected: Iterable[ast.AST]) -> bool:
    """Whether a `finally` does after an error what it does without one: it neither leaves nor asks what had happened.

    What it does may depend on variables, but on none that the statements before it set.
    """
    read = _read(finalbody)
    return all(map(_is_plain, finalbody)) and read.isdisjoint(_set_in(protected)) and read.isdisjoint(_ASK_FOR_ERRORS)


def _is_plain(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(test=test):
            return _consists_of(_TESTS, test) and all(map(_is_plain, (*statement.body, *statement.orelse)))
        case ast.For(target=target, iter=source):
            known = isinstance(source, ast.Name) and _consists_of(_EXPRESSIONS, target)
            return known and all(map(_is_plain, (*statement.body, *statement.orelse)))
        case _:
            parts = ast.iter_child_nodes(statement)
            return isinstance(statement, _STATEMENTS) and all(_consists_of(_EXPRESSIONS, part) for part in parts)


def _consists_of(kinds: tuple[type[ast.AST], ...], node: ast.AST) -> bool:
    return all(isinstance(part, (*kinds, *_PARTS)) for part in ast.walk(node))


def _read(statements: Iterable[ast.stmt]) -> set[str]:
    """All names of variables and attributes in statements."""
    parts = [part for statement in statements for part in ast.walk(statement)]
    attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return attributes | {part.id for part in parts if isinstance(part, ast.Name)}


def _set_in(statements: Iterable[ast.AST]) -> set[str]:
    """All names that statements may set or delete."""
    found: set[str] = set()
    for part in (part for statement in statements for part in ast.walk(statement)):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
    return found
