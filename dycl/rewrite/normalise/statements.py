"""Normalise a function: its syntax tree becomes a flat list of instructions with jumps.

`for`, `while`, `with`, `try`, `return`, `break` and `continue` become jumps and handlers; expressions are taken
apart by `expressions.py`. Leaving a `with` or a `try/finally` by any way runs its clean-up, so the
clean-up is written out once for each way.
"""

import ast
import dis
import types
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from dycl.rewrite.normalise import syntax
from dycl.rewrite.normalise.instructions import (
    Call,
    Delete,
    FlatFunction,
    GoTo,
    Known,
    Leave,
    MakeFunction,
    NextItem,
    Operand,
    Raise,
    Read,
    Register,
    Unsupported,
)
from dycl.rewrite.normalise.liveness import dropped_iterators, inside_while_loops, live_registers
from dycl.rewrite.normalise.patterns import match_case
from dycl.rewrite.normalise.private_names import class_around, mangled
from dycl.rewrite.normalise.protections import Loop, Protections
from dycl.rewrite.normalise.source import function_node, nested_class_code

# Code objects are equal if they do the same; where they stand counts too, since messages name it.
_flat_functions: WeakKeyDictionary[types.CodeType, dict[str, FlatFunction]] = WeakKeyDictionary()


def normalise(code: types.CodeType) -> FlatFunction:
    """The flat form of the function that was compiled to `code`."""
    by_file = _flat_functions.setdefault(code, {})
    if code.co_filename not in by_file:
        by_file[code.co_filename] = _Statements(code).function()
    return by_file[code.co_filename]


_ASKING = frozenset(("locals", "vars"))


class _Statements(Protections):
    """Emits the instructions of one function."""

    def function(self) -> FlatFunction:
        node = function_node(self.code)
        self.rebinds = any(isinstance(item, ast.NamedExpr) for item in ast.walk(node))
        self.deletes = {
            item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Del)
        }
        match node:
            case ast.Lambda():
                self.emit(Leave(self.expression(node.body), self.span(node.body)))
            case ast.GeneratorExp():
                self.generator_expression_body(node)
                self.emit(Leave(Known(None), self.span(node)))
            case ast.AsyncFunctionDef():
                self.emit(Unsupported("DY002", "`async` functions are not supported", self.span(node)))
            case ast.FunctionDef():
                self.block(node.body)
                self.emit(Leave(Known(None), self.span(node)))
        instructions, positions = self.resolved()
        handlers = tuple(None if label is None else positions[label] for label in self.handler_labels)
        return FlatFunction(
            code=self.code,
            name=self.code.co_qualname,
            instructions=instructions,
            handlers=handlers,
            handled=tuple(self.handled_registers),
            cells=frozenset((*self.code.co_cellvars, *self.code.co_freevars)),
            live=self.with_local_names(live_registers(instructions, handlers, self.handled_registers)),
            dropped=dropped_iterators(instructions, handlers),
            endless=inside_while_loops(instructions),
            loops={item.iterator: at for at, item in enumerate(instructions) if isinstance(item, NextItem)},
        )

    def with_local_names(self, live: tuple[frozenset[Register], ...]) -> tuple[frozenset[Register], ...]:
        """All variables matter to the end where the function may ask for them by `locals()`."""
        if _ASKING.isdisjoint(self.code.co_names):
            return live
        names = (*self.code.co_varnames, *self.code.co_cellvars, *self.code.co_freevars)
        return tuple(registers.union(names) for registers in live)

    def block(self, statements: list[ast.stmt] | tuple[ast.stmt, ...]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Name() as value):
                # A name on a line of its own fails if it is not bound.
                self.move(self.register("unused"), self.expression(value), value)
            case ast.Expr(value=value):
                self.expression(value)
            case ast.Assign(targets=targets, value=value):
                source = self.expression(value)
                for target in targets:
                    self.assign(target, source)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, self.expression(value))
            case ast.AugAssign():
                self.augmented(node)
            case ast.If(test=test, body=body, orelse=orelse):
                then, otherwise, end = self.label(), self.label(), self.label()
                self.condition(test, then, otherwise)
                self.place(then)
                self.block(body)
                self.emit(GoTo(end, self.span(node)))
                self.place(otherwise)
                self.block(orelse)
                self.place(end)
            case ast.While():
                self.while_loop(node)
            case ast.For():
                self.for_loop(node)
            case ast.Return(value=value):
                source = Known(None) if value is None else self.kept(self.expression(value), node)
                self.unwind(len(self.scopes))
                self.emit(Leave(source, self.span(node)))
            case ast.Break() | ast.Continue():
                depth = next(n for n, scope in enumerate(reversed(self.scopes)) if isinstance(scope, Loop))
                loop = self.scopes[len(self.scopes) - 1 - depth]
                assert isinstance(loop, Loop)
                self.unwind(depth)
                self.span(node)
                if isinstance(node, ast.Break):
                    self.leave_loop(loop)
                self.emit(GoTo(loop.leave if isinstance(node, ast.Break) else loop.again, self.span(node)))
            case ast.Pass() | ast.Nonlocal():
                pass
            case ast.Raise():
                self.raising(node)
            case ast.Assert(test=test, msg=msg):
                holds, fails = self.label(), self.label()
                self.condition(test, holds, fails)
                self.place(fails)
                arguments = () if msg is None else (self.expression(msg),)
                error = self.call(Known(AssertionError), arguments, node)
                self.emit(Raise(error, None, self.span(node)))
                self.place(holds)
            case ast.With(items=items, body=body):
                self.with_block(items, body, node)
            case ast.Try():
                self.try_block(node)
            case ast.TryStar():
                self.try_star(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.nested_function(node)
            case ast.ClassDef():
                self.nested_class(node)
            case ast.Import() | ast.ImportFrom():
                self.importing(node)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.delete(target)
            case ast.Match():
                self.match_block(node)
            case ast.Global(names=names) if _assigns(self.code, names):
                self.emit(
                    Unsupported("DY007", "a global variable is assigned, which outlives the call", self.span(node))
                )
            case ast.Global():
                pass
            case _:
                name = type(node).__name__
                self.emit(Unsupported("DY002", f"the statement `{name}` is not supported", self.span(node)))

    def augmented(self, node: ast.AugAssign) -> None:
        function = Known(syntax.IN_PLACE[type(node.op)])
        match node.target:
            case ast.Name():
                load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
                current = self.expression(load)
                self.assign(node.target, self.call(function, (current, self.expression(node.value)), node))
            case ast.Attribute(value=value, attr=attribute):
                owner = self.kept(self.expression(value), value)
                current = self.call(Known(getattr), (owner, Known(attribute)), node.target)
                result = self.call(function, (current, self.expression(node.value)), node)
                self.call(Known(setattr), (owner, Known(attribute), result), node)
            case ast.Subscript(value=value, slice=index):
                owner = self.kept(self.expression(value), value)
                key = self.kept(self.expression(index), index)
                current = self.call(Known(syntax.getitem), (owner, key), node.target)
                result = self.call(function, (current, self.expression(node.value)), node)
                self.call(Known(syntax.setitem), (owner, key, result), node)

    def while_loop(self, node: ast.While) -> None:
        again, body, otherwise, leave = self.label(), self.label(), self.label(), self.label()
        self.place(again)
        self.condition(node.test, body, otherwise)
        self.place(body)
        self.scopes.append(Loop(leave, again))
        self.block(node.body)
        self.scopes.pop()
        self.emit(GoTo(again, self.span(node)))
        self.place(otherwise)
        self.block(node.orelse)
        self.place(leave)

    def for_loop(self, node: ast.For) -> None:
        again, otherwise, leave = self.label(), self.label(), self.label()
        iterator, item = self.register("loop"), self.register("item")
        self.start_loop(iterator, self.expression(node.iter), node.iter)
        self.place(again)
        self.emit(NextItem(item, iterator, otherwise, self.span(node.iter)))
        self.scopes.append(Loop(leave, again, iterator))
        self.assign(node.target, self.call(Known(syntax.loop_item), (Read(iterator), Read(item)), node.iter))
        self.block(node.body)
        self.scopes.pop()
        self.emit(GoTo(again, self.span(node)))
        self.place(otherwise)
        self.block(node.orelse)
        self.place(leave)

    def nested_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorators = [self.kept(self.expression(item), item) for item in node.decorator_list]
        function: Operand = self.make_function(node, node.args)
        for decorator in reversed(decorators):
            function = self.call(decorator, (function,), node)
        name = mangled(node.name, class_around(self.code.co_qualname))
        self.assign(ast.copy_location(ast.Name(name, ast.Store()), node), function)

    def nested_class(self, node: ast.ClassDef) -> None:
        """A class's body runs natively, as a function of Python's own; its methods are followed like others."""
        decorators = [self.kept(self.expression(item), item) for item in node.decorator_list]
        code = nested_class_code(node, self.code)
        if code is None or bool(getattr(node, "type_params", None)):
            self.emit(Unsupported("DY002", "a class with type parameters is not supported", self.span(node)))
            return
        body, made = self.register("body"), self.register("class")
        captures = tuple(self.renamed(name) for name in code.co_freevars)
        self.emit(MakeFunction(body, code, (), (), (), captures, self.span(node)))
        bases = self.elements(node.bases)
        keywords = tuple((keyword.arg, self.expression(keyword.value)) for keyword in node.keywords)
        arguments = (Read(body), Known(node.name), *bases)
        self.emit(Call(made, Known(syntax.make_class), arguments, keywords, self.span(node)))
        cls: Operand = Read(made)
        for decorator in reversed(decorators):
            cls = self.call(decorator, (cls,), node)
        name = mangled(node.name, class_around(self.code.co_qualname))
        self.assign(ast.copy_location(ast.Name(name, ast.Store()), node), cls)

    def importing(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                package = self.load_global("__package__", node) if node.level else Known(None)
                arguments = (Known(node.module or ""), Known(alias.name), Known(node.level), package)
                value = self.call(Known(syntax.import_from), arguments, node)
                name = alias.asname or alias.name
            else:
                whole = alias.asname is not None
                value = self.call(Known(syntax.import_module), (Known(alias.name), Known(whole)), node)
                name = alias.asname or alias.name.partition(".")[0]
            self.assign(ast.copy_location(ast.Name(name, ast.Store()), node), value)

    def delete(self, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name) if self.is_cell(name):
                self.expression(ast.copy_location(ast.Name(name, ast.Load()), target))  # which fails if it is empty
                self.call(Known(syntax.empty), (Read(name),), target)
            case ast.Name(id=name):
                self.emit(Delete(self.renamed(name), self.span(target)))
            case ast.Subscript(value=value, slice=index):
                arguments = (self.kept(self.expression(value), value), self.expression(index))
                self.call(Known(syntax.delitem), arguments, target)
            case ast.Attribute(value=value, attr=attribute):
                self.call(Known(delattr), (self.expression(value), Known(attribute)), target)
            case _:
                self.emit(Unsupported("DY002", "this `del` is not supported", self.span(target)))

    def match_block(self, node: ast.Match) -> None:
        subject, end = self.register("subject"), self.label()
        self.move(subject, self.expression(node.subject), node.subject)
        for case in node.cases:
            body, following = self.label(), self.label()
            match_case(self, case.pattern, Read(subject), following)
            if case.guard is not None:
                self.condition(case.guard, body, following)
                self.place(body)
            self.block(case.body)
            self.emit(GoTo(end, self.span(node)))
            self.place(following)
        self.place(end)


def _assigns(code: types.CodeType, names: Sequence[str]) -> bool:
    """Whether a function sets or deletes one of these global variables, and does not only read them."""
    stores = (item.argval for item in dis.get_instructions(code) if item.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"))
    return not set(names).isdisjoint(stores)
