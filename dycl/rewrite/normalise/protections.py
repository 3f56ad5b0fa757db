"""Normalise what handles errors: `try`, `with` and `raise`.

Leaving a `with` or a `try/finally` by any way runs its clean-up, so the clean-up is written out once for each way.
"""

import ast
import operator
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dycl.rewrite.normalise import contexts, exception_groups, syntax
from dycl.rewrite.normalise.cleanups import only_cleans_up
from dycl.rewrite.normalise.expressions import Expressions
from dycl.rewrite.normalise.instructions import (
    BranchOn,
    Call,
    Drop,
    GoTo,
    Known,
    Label,
    NextItem,
    Operand,
    PopHandler,
    PushHandler,
    Raise,
    RaiseAgain,
    Read,
    Register,
    Yield,
)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop around the current statement, and the iterator that it goes over if it is a `for` loop."""

    leave: Label
    again: Label
    iterator: Register | None = None


@dataclass(frozen=True, slots=True)
class Protected:
    """A handler around the current statement, with what must run when control leaves it normally."""

    handler: Label
    finalbody: tuple[ast.stmt, ...] = ()
    manager: Register | None = None


@dataclass(frozen=True, slots=True)
class Handling:
    """The statement is inside an `except` clause for the exception in this register."""

    exception: Register


Scope = Loop | Protected | Handling


class Protections(Expressions):
    """Emits the statements that handle errors; the others build on it."""

    def __init__(self, code: types.CodeType) -> None:
        super().__init__(code)
        self.scopes: list[Scope] = []

    def block(self, statements: list[ast.stmt] | tuple[ast.stmt, ...]) -> None:
        raise NotImplementedError

    def handler(self) -> Label | None:
        for scope in reversed(self.scopes):
            if isinstance(scope, Protected):
                return scope.handler
        return None

    def handled(self) -> Register | None:
        return next((scope.exception for scope in reversed(self.scopes) if isinstance(scope, Handling)), None)

    def unwind(self, depth: int) -> None:
        """Emit what must run when control leaves the innermost `depth` scopes."""
        saved = self.scopes
        for _ in range(depth):
            scope = self.scopes[-1]
            self.scopes = self.scopes[:-1]
            if isinstance(scope, Protected):
                self.leave_protected(scope)
            if isinstance(scope, Loop):
                self.leave_loop(scope)
        self.scopes = saved

    def leave_loop(self, loop: Loop) -> None:
        """Emit what must run when control leaves a loop before its end: nobody will go on with its iterator."""
        if loop.iterator is not None:
            self.emit(Drop(loop.iterator, self.here))

    def leave_protected(self, scope: Protected) -> None:
        self.emit(PopHandler(self.here))
        self.block(scope.finalbody)
        if scope.manager is not None:
            self.exit_manager(scope.manager, Known(None))

    def exit_manager(self, manager: Register, exception: Operand) -> Operand:
        dest = self.register("exit")
        self.emit(Call(dest, Known(contexts.exit_context), (Read(manager), exception), (), self.here))
        return Read(dest)

    def with_block(self, items: list[ast.withitem], body: list[ast.stmt], node: ast.stmt) -> None:
        if not items:
            self.block(body)
            return
        handler, reraise, end = self.label(), self.label(), self.label()
        manager, exception = self.register("manager"), self.register("exception")
        source = self.expression(items[0].context_expr)
        self.move(manager, source, items[0].context_expr)
        value = self.call(Known(contexts.enter_context), (Read(manager),), items[0].context_expr)
        scope = Protected(handler, manager=manager)
        self.emit(PushHandler(handler, exception, self.span(node), manager=manager))
        self.scopes.append(scope)
        target = items[0].optional_vars
        if target is not None:
            self.assign(target, value)
        self.with_block(items[1:], body, node)
        self.scopes.pop()
        self.leave_protected(scope)
        self.emit(GoTo(end, self.span(node)))
        self.place(handler)
        self.scopes.append(Handling(exception))
        swallowed = self.exit_manager(manager, Read(exception))
        self.emit(BranchOn(swallowed, end, reraise, self.span(node)))
        self.scopes.pop()
        self.place(reraise)
        self.emit(RaiseAgain(Read(exception), self.span(node)))
        self.place(end)

    def try_block(self, node: ast.Try) -> None:
        if node.finalbody:
            self.with_finally(lambda: self.try_except(node), node.finalbody, _before_finally(node), node)
        else:
            self.try_except(node)

    def with_finally(
        self, body: Callable[[], None], finalbody: list[ast.stmt], protected: Sequence[ast.AST], node: ast.AST
    ) -> None:
        """Emit `body`, made of the `protected` statements, and `finalbody` for each way of leaving it."""
        handler, end = self.label(), self.label()
        exception = self.register("exception")
        scope = Protected(handler, tuple(finalbody))
        self.emit(PushHandler(handler, exception, self.span(node), only_cleans_up(finalbody, protected)))
        self.scopes.append(scope)
        body()
        self.scopes.pop()
        self.leave_protected(scope)
        self.emit(GoTo(end, self.span(node)))
        self.place(handler)
        self.scopes.append(Handling(exception))
        self.block(finalbody)
        self.scopes.pop()
        self.emit(RaiseAgain(Read(exception), self.span(node)))
        self.place(end)

    def try_except(self, node: ast.Try) -> None:
        if not node.handlers:
            self.block(node.body)
            self.block(node.orelse)
            return
        handler, end = self.label(), self.label()
        exception = self.register("exception")
        self.emit(PushHandler(handler, exception, self.span(node)))
        self.scopes.append(Protected(handler))
        self.block(node.body)
        self.scopes.pop()
        self.emit(PopHandler(self.span(node)))
        self.block(node.orelse)
        self.emit(GoTo(end, self.span(node)))
        self.place(handler)
        for clause in node.handlers:
            self.except_clause(clause, exception, end)
        self.emit(RaiseAgain(Read(exception), self.span(node)))
        self.place(end)

    def except_clause(self, clause: ast.ExceptHandler, exception: Register, end: Label) -> None:
        following = self.label()
        self.scopes.append(Handling(exception))
        if clause.type is not None:
            caught = self.label()
            kinds = self.expression(clause.type)
            matches = self.call(Known(syntax.catches), (Read(exception), kinds), clause)
            self.emit(BranchOn(matches, caught, following, self.span(clause)))
            self.place(caught)
        self.named_clause(clause, exception)
        self.scopes.pop()
        self.emit(GoTo(end, self.span(clause)))
        self.place(following)

    def try_star(self, node: ast.TryStar) -> None:
        if node.finalbody:
            self.with_finally(lambda: self.try_except_star(node), node.finalbody, _before_finally(node), node)
        else:
            self.try_except_star(node)

    def try_except_star(self, node: ast.TryStar) -> None:
        handler, again, end, span = self.label(), self.label(), self.label(), self.span(node)
        exception, left = self.register("exception"), self.register("left")
        self.emit(PushHandler(handler, exception, span))
        self.scopes.append(Protected(handler))
        self.block(node.body)
        self.scopes.pop()
        self.emit(PopHandler(span))
        self.block(node.orelse)
        self.emit(GoTo(end, span))
        self.place(handler)
        self.scopes.append(Handling(exception))
        raised = self.call(Known(syntax.make_list), (), node)
        self.move(left, Read(exception), node)
        for clause in node.handlers:
            self.star_clause(clause, left, raised)
        arguments = (Read(exception), raised, Read(left))
        error = self.call(Known(exception_groups.raised_again), arguments, node)
        self.scopes.pop()
        self.emit(BranchOn(self.call(Known(operator.is_), (error, Known(None)), node), end, again, span))
        self.place(again)
        self.emit(RaiseAgain(error, span))
        self.place(end)

    def star_clause(self, clause: ast.ExceptHandler, left: Register, raised: Operand) -> None:
        caught, failed, following, span = self.label(), self.label(), self.label(), self.span(clause)
        taken, error = self.register("exception"), self.register("exception")
        assert clause.type is not None
        kinds = self.expression(clause.type)
        parts = self.call(Known(exception_groups.split_off), (Read(left), kinds), clause)
        self.emit(Call(taken, Known(syntax.getitem), (parts, Known(0)), (), span))
        self.emit(Call(left, Known(syntax.getitem), (parts, Known(1)), (), span))
        self.emit(BranchOn(self.call(Known(operator.is_), (Read(taken), Known(None)), clause), following, caught, span))
        self.place(caught)
        self.emit(PushHandler(failed, error, span))
        self.scopes.extend((Protected(failed), Handling(taken)))
        self.named_clause(clause, taken)
        del self.scopes[-2:]
        self.emit(PopHandler(span))
        self.emit(GoTo(following, span))
        self.place(failed)
        self.call(Known(list.append), (raised, Read(error)), clause)
        self.place(following)

    def named_clause(self, clause: ast.ExceptHandler, exception: Register) -> None:
        """Emit the body of an `except` clause, with its name for what it has caught."""
        if clause.name is None:
            self.block(clause.body)
        else:
            self.assign(ast.copy_location(ast.Name(clause.name, ast.Store()), clause), Read(exception))
            self.with_finally(lambda: self.block(clause.body), _unbinding(clause.name, clause), clause.body, clause)

    def raising(self, node: ast.Raise) -> None:
        if node.exc is None:
            active = self.call(Known(syntax.active_error), (), node)
            self.emit(RaiseAgain(active, self.span(node)))
            return
        error = self.kept(self.expression(node.exc), node.exc)
        cause = None if node.cause is None else self.kept(self.expression(node.cause), node.cause)
        error = self._object_of(error, node.exc)
        if cause is not None and node.cause is not None:
            cause = self._object_of(cause, node.cause)
        self.emit(Raise(error, cause, self.span(node)))

    def _object_of(self, error: Operand, node: ast.expr) -> Operand:
        """What is raised: if that is the class of an error, what Python makes from it."""
        if isinstance(node, ast.Call | ast.Constant):
            return error
        made, span = self.register("error"), self.span(node)
        make, following = self.label(), self.label()
        self.move(made, error, node)
        self.emit(BranchOn(self.call(Known(syntax.is_error_class), (error,), node), make, following, span))
        self.place(make)
        self.emit(Call(made, error, (), (), span))
        self.emit(Call(made, Known(syntax.made_from), (error, Read(made)), (), span))
        self.place(following)
        return Read(made)

    def yield_from(self, source: Operand, node: ast.expr) -> Operand:
        """`yield from source`: whoever goes on with this generator goes on with `source`, which may be a generator."""
        iterator, item, sent = self.register("loop"), self.register("item"), self.register("sent")
        error, result = self.register("exception"), self.register("result")
        again, hand_out, send, throw, end, leave = (self.label() for _ in range(6))
        span = self.span(node)
        self.start_loop(iterator, source, node)
        self.place(again)
        self.emit(NextItem(item, iterator, leave, span))
        self.emit(Call(item, Known(syntax.loop_item), (Read(iterator), Read(item)), (), span))
        self.place(hand_out)
        self.emit(PushHandler(throw, error, span))
        self.scopes.append(Protected(throw))
        self.emit(Yield(sent, Read(item), span))
        self.scopes.pop()
        self.emit(PopHandler(span))
        self.emit(BranchOn(self.call(Known(operator.is_), (Read(sent), Known(None)), node), again, send, span))
        self.place(send)
        self._until_it_stops(item, Known(syntax.send_to), (Read(iterator), Read(sent)), result, end)
        self.emit(GoTo(hand_out, span))
        self.place(throw)
        self._until_it_stops(item, Known(syntax.throw_into), (Read(iterator), Read(error)), result, end)
        self.emit(GoTo(hand_out, span))
        self.place(leave)
        self.move(result, self.call(Known(syntax.returned), (Read(iterator),), node), node)
        self.place(end)
        return Read(result)

    def _until_it_stops(
        self, item: Register, callee: Operand, args: tuple[Operand, ...], result: Register, end: Label
    ) -> None:
        """Emit a call for the next item; if it raises `StopIteration` instead, end with that one's value."""
        handler, stop, other, following = self.label(), self.label(), self.label(), self.label()
        error, span = self.register("exception"), self.here
        self.emit(PushHandler(handler, error, span))
        self.scopes.append(Protected(handler))
        self.emit(Call(item, callee, args, (), span))
        self.scopes.pop()
        self.emit(PopHandler(span))
        self.emit(GoTo(following, span))
        self.place(handler)
        self.emit(Call(result, Known(syntax.catches), (Read(error), Known(StopIteration)), (), span))
        self.emit(BranchOn(Read(result), stop, other, span))
        self.place(other)
        self.emit(RaiseAgain(Read(error), span))
        self.place(stop)
        self.emit(Call(result, Known(getattr), (Read(error), Known("value")), (), span))
        self.emit(GoTo(end, span))
        self.place(following)


def _before_finally(node: ast.Try | ast.TryStar) -> list[ast.AST]:
    """All that a `try` has before its `finally`."""
    return [*node.body, *node.handlers, *node.orelse]


def _unbinding(name: str, place: ast.AST) -> list[ast.stmt]:
    """What Python does at the end of `except ... as name`."""
    statements = [
        ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)),
        ast.Delete([ast.Name(name, ast.Del())]),
    ]
    return [ast.fix_missing_locations(ast.copy_location(statement, place)) for statement in statements]
