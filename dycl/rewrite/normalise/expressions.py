"""Take expressions apart: every call stands alone, every `and`, `or`, `if/else` and comprehension becomes jumps."""

import __future__

import ast
import types
from collections.abc import Callable, Sequence

from dycl.rewrite.normalise import spreading, syntax
from dycl.rewrite.normalise.emitter import Emitter
from dycl.rewrite.normalise.instructions import (
    BranchOn,
    Call,
    GoTo,
    Known,
    Label,
    MakeFunction,
    NextItem,
    Operand,
    Read,
    Register,
    Star,
    StartLoop,
    StoreCell,
    Unpack,
    Unsupported,
    Yield,
)
from dycl.rewrite.normalise.source import FunctionNode, nested_code

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp


class Expressions(Emitter):
    """Emits the instructions of expressions; statements build on it."""

    def assign(self, target: ast.expr, source: Operand) -> None:
        match target:
            case ast.Name(id=name):
                if self.is_cell(name):
                    self.emit(StoreCell(self.renamed(name), source, self.span(target)))
                elif self.renamed(name) != name or name in self.code.co_varnames:
                    self.move(self.renamed(name), source, target)
                else:
                    self.emit(
                        Unsupported(
                            "DY007",
                            f"the global variable `{name}` is assigned, which outlives the call",
                            self.span(target),
                        )
                    )
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                registers = tuple(self.register("part") for _ in elements)
                star = next((n for n, item in enumerate(elements) if isinstance(item, ast.Starred)), None)
                most = None if star is not None else len(elements) + 1
                items = self.call(Known(spreading.spread), (source, Known(most)), target)
                self.emit(Unpack(registers, star, items, self.span(target)))
                for element, register in zip(elements, registers, strict=True):
                    self.assign(element.value if isinstance(element, ast.Starred) else element, Read(register))
            case ast.Attribute(value=value, attr=attribute):
                owner = self.expression(value)
                self.call(Known(setattr), (owner, Known(attribute), source), target)
            case ast.Subscript(value=value, slice=index):
                owner = self.kept(self.expression(value), value)
                self.call(Known(syntax.setitem), (owner, self.expression(index), source), target)
            case _:
                self.emit(Unsupported("DY002", "this assignment is not supported", self.span(target)))

    def expression(self, node: ast.expr) -> Operand:
        match node:
            case ast.Constant(value=value):
                return self.constant(value)
            case ast.Name():
                return self.load(node)
            case ast.Attribute(value=value, attr=attribute):
                return self.call(Known(getattr), (self.expression(value), Known(attribute)), node)
            case ast.Subscript(value=value, slice=index):
                owner = self.expression(value)
                return self.call(Known(syntax.getitem), (owner, self.expression(index)), node)
            case ast.BinOp(left=left, op=operation, right=right):
                first = self.expression(left)
                return self.call(Known(syntax.BINARY[type(operation)]), (first, self.expression(right)), node)
            case ast.UnaryOp(op=operation, operand=operand):
                return self.call(Known(syntax.UNARY[type(operation)]), (self.expression(operand),), node)
            case ast.Compare() | ast.BoolOp():
                return self.logical(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(test, body, orelse, node)
            case ast.Call():
                return self.calling(node)
            case ast.Tuple(elts=elements):
                return self.call(Known(syntax.make_tuple), self.elements(elements), node)
            case ast.List(elts=elements):
                return self.call(Known(syntax.make_list), self.elements(elements), node)
            case ast.Set(elts=elements):
                return self.call(Known(syntax.make_set), self.elements(elements, is_set=True), node)
            case ast.Dict(keys=keys, values=values):
                return self.dictionary(keys, values, node)
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = [Known(None) if part is None else self.expression(part) for part in (lower, upper, step)]
                return self.call(Known(slice), parts, node)
            case ast.NamedExpr(target=target, value=value):
                source = self.kept(self.expression(value), node)
                self.assign(target, source)
                return source
            case ast.Lambda(args=arguments):
                return self.make_function(node, arguments)
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                return self.comprehension(node)
            case ast.GeneratorExp(generators=generators):
                function = self.make_function(node, None)
                return self.call(function, (self.expression(generators[0].iter),), node)
            case ast.JoinedStr(values=values):
                return self.call(Known(syntax.join), [self.expression(value) for value in values], node)
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                style = Known("") if spec is None else self.expression(spec)
                return self.call(Known(syntax.formatted), (self.expression(value), Known(conversion), style), node)
            case ast.Yield(value=value):
                dest = self.register("sent")
                source = Known(None) if value is None else self.expression(value)
                self.emit(Yield(dest, source, self.span(node)))
                return Read(dest)
            case ast.YieldFrom(value=value):
                return self.yield_from(self.expression(value), node)
            case _:
                name = type(node).__name__
                self.emit(Unsupported("DY002", f"the expression `{name}` is not supported", self.span(node)))
                return Known(None)

    def yield_from(self, source: Operand, node: ast.expr) -> Operand:
        raise NotImplementedError

    def elements(self, nodes: Sequence[ast.expr], *callee: Operand, is_set: bool = False) -> list[Operand | Star]:
        """The items of a display, or the arguments of a call of `callee`."""
        found: list[Operand | Star] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found.append(self.expression(node))
                continue
            value = self.expression(node.value)
            if not is_set:
                # Python's words name the function if there is no other argument, and none for sets.
                called = callee if len(nodes) == 1 else ()
                value = self.call(Known(spreading.starred), (value, *called), node)
            found.append(Star(self.call(Known(list), (value,), node)))
        return found

    def calling(self, node: ast.Call) -> Operand:
        variables = (*self.code.co_varnames, *self.code.co_freevars, *self.code.co_cellvars)
        plain = isinstance(node.func, ast.Name) and node.func.id == "super" and "super" not in variables
        if plain and not node.args and not node.keywords:
            self.call(Known(syntax.require_pythons_super), (self.expression(node.func),), node)
            missing = syntax.missing_for_super(self.code)
            if missing is not None:
                return self.call(Known(syntax.no_super), (Known(missing),), node)
            owner = Read(self.code.co_varnames[0])
            if owner.register in self.deletes:
                reason = f"`super()` is called in a function that deletes `{owner.register}`"
                self.emit(Unsupported("DY002", reason, self.span(node)))
            here: Operand = owner
            if self.is_cell(owner.register):
                here = self.load(ast.copy_location(ast.Name(owner.register, ast.Load()), node))
            cls = self.load(ast.copy_location(ast.Name("__class__", ast.Load()), node))
            return self.call(Known(super), (cls, here), node)
        asks = isinstance(node.func, ast.Name) and node.func.id in ("locals", "vars") and not node.args
        if asks and self.renames:
            self.emit(Unsupported("DY002", "the variables of a comprehension are asked for", self.span(node)))
        callee = self.expression(node.func)
        args = self.elements(node.args, callee)
        keywords = tuple((keyword.arg, self.expression(keyword.value)) for keyword in node.keywords)
        dest = self.register("value")
        self.emit(Call(dest, callee, tuple(args), keywords, self.span(node)))
        return Read(dest)

    def dictionary(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], node: ast.expr) -> Operand:
        result = self.call(Known(dict), (), node)
        for key, value in zip(keys, values, strict=True):
            if key is None:
                more = self.call(Known(syntax.mapping), (self.expression(value),), node)
                self.call(Known(dict.update), (result, more), node)
            else:
                first = self.expression(key)
                self.call(Known(syntax.setitem), (result, first, self.expression(value)), node)
        return result

    def condition(self, node: ast.expr, then: Label, orelse: Label) -> None:
        """Go to `then` or `orelse` by the truth of an expression, testing no more of it than Python does."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                for value in values[:-1]:
                    following = self.label()
                    self.condition(value, following, orelse)
                    self.place(following)
                self.condition(values[-1], then, orelse)
            case ast.BoolOp(op=ast.Or(), values=values):
                for value in values[:-1]:
                    following = self.label()
                    self.condition(value, then, following)
                    self.place(following)
                self.condition(values[-1], then, orelse)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.condition(operand, orelse, then)
            case ast.IfExp(test=test, body=body, orelse=other):
                chosen, rejected = self.label(), self.label()
                self.condition(test, chosen, rejected)
                self.place(chosen)
                self.condition(body, then, orelse)
                self.place(rejected)
                self.condition(other, then, orelse)
            case ast.Compare(ops=operations) if len(operations) > 1:
                first = self.expression(node.left)
                for position, (operation, right) in enumerate(zip(operations, node.comparators, strict=True)):
                    second = self.kept(self.expression(right), right)
                    holds = self.call(Known(syntax.COMPARE[type(operation)]), (first, second), node)
                    following = self.label() if position < len(operations) - 1 else then
                    self.emit(BranchOn(holds, following, orelse, self.span(node)))
                    if following != then:
                        self.place(following)
                    first = second
            case _:
                self.emit(BranchOn(self.expression(node), then, orelse, self.span(node)))

    def logical(self, node: ast.Compare | ast.BoolOp) -> Operand:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left = self.expression(node.left)
            return self.call(
                Known(syntax.COMPARE[type(node.ops[0])]), (left, self.expression(node.comparators[0])), node
            )
        dest, end = self.register("logical"), self.label()
        if isinstance(node, ast.Compare):
            first = self.expression(node.left)
            for position, (operation, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
                second = self.kept(self.expression(right), right)
                self.move(dest, self.call(Known(syntax.COMPARE[type(operation)]), (first, second), node), node)
                if position < len(node.ops) - 1:
                    self.stop_unless(dest, True, end, node)
                first = second
        else:
            for operand in node.values[:-1]:
                self.leave_with(operand, isinstance(node.op, ast.Or), dest, end)
            self.move(dest, self.expression(node.values[-1]), node.values[-1])
        self.place(end)
        return Read(dest)

    def leave_with(self, node: ast.expr, outcome: bool, dest: Register, end: Label) -> None:
        """Go to `end` with the value of `node` in `dest` if its truth is `outcome`; if not, the value is not needed.

        As in Python, nothing is tested twice: in `a and b or c`, if `a` does not hold, `c` comes next.
        """
        if not isinstance(node, ast.BoolOp):
            self.move(dest, self.expression(node), node)
            self.stop_unless(dest, not outcome, end, node)
            return
        otherwise = self.label()
        for operand in node.values[:-1]:
            if isinstance(node.op, ast.Or) == outcome:
                self.leave_with(operand, outcome, dest, end)
            else:
                following = self.label()
                self.condition(operand, *((following, otherwise) if outcome else (otherwise, following)))
                self.place(following)
        self.leave_with(node.values[-1], outcome, dest, end)
        self.place(otherwise)

    def stop_unless(self, register: Register, wanted: bool, end: Label, node: ast.expr) -> None:
        following = self.label()
        then, orelse = (following, end) if wanted else (end, following)
        self.emit(BranchOn(Read(register), then, orelse, self.span(node)))
        self.place(following)

    def conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr, node: ast.expr) -> Operand:
        dest, then, otherwise, end = self.register("choice"), self.label(), self.label(), self.label()
        self.condition(test, then, otherwise)
        self.place(then)
        self.move(dest, self.expression(body), body)
        self.emit(GoTo(end, self.span(node)))
        self.place(otherwise)
        self.move(dest, self.expression(orelse), orelse)
        self.place(end)
        return Read(dest)

    def loop_over(self, source: Operand, node: ast.expr, body: Callable[[Operand], None]) -> Register:
        """Emit `body` for each item of `source`; the register of the iterator over them."""
        iterator, item = self.register("loop"), self.register("item")
        again, leave = self.label(), self.label()
        self.start_loop(iterator, source, node)
        self.place(again)
        self.emit(NextItem(item, iterator, leave, self.span(node)))
        body(self.call(Known(syntax.loop_item), (Read(iterator), Read(item)), node))
        self.emit(GoTo(again, self.span(node)))
        self.place(leave)
        return iterator

    def start_loop(self, iterator: Register, source: Operand, node: ast.expr) -> None:
        """Put an iterator over `source` into a register."""
        self.emit(StartLoop(iterator, self.call(Known(syntax.iterated), (source,), node), self.span(node)))

    def comprehension(self, node: Comprehension) -> Operand:
        makers = {ast.ListComp: syntax.make_list, ast.SetComp: syntax.make_set, ast.DictComp: dict}
        result = self.call(Known(makers[type(node)]), (), node)

        def add() -> None:
            if isinstance(node, ast.DictComp):
                key = self.kept(self.expression(node.key), node.key)
                self.call(Known(syntax.setitem), (result, key, self.expression(node.value)), node)
            else:
                method = list.append if isinstance(node, ast.ListComp) else set.add
                self.call(Known(method), (result, self.expression(node.elt)), node)

        first = self.expression(node.generators[0].iter)
        self.open_scope(node.generators, node)
        self.nested_loops(node.generators, first, add)
        self.renames.pop()
        return result

    def open_scope(self, generators: Sequence[ast.comprehension], node: ast.expr) -> None:
        """Give a comprehension's variables registers of their own, in cells where a nested function sees them."""
        names = {item.id for part in generators for item in ast.walk(part.target) if isinstance(item, ast.Name)}
        scope = {name: self.register(name) for name in sorted(names)}
        functions = (ast.Lambda, ast.GeneratorExp)
        inner = [item for item in ast.walk(node) if isinstance(item, functions) and item is not node]
        captured = {item.id for function in inner for item in ast.walk(function) if isinstance(item, ast.Name)}
        for name in sorted(names & captured):
            self.comprehension_cells.add(scope[name])
            self.emit(Call(scope[name], Known(types.CellType), (), (), self.span(node)))
        self.renames.append(scope)

    def nested_loops(self, generators: Sequence[ast.comprehension], first: Operand, body: Callable[[], None]) -> None:
        part, rest = generators[0], generators[1:]

        def inside(item: Operand) -> None:
            self.assign(part.target, item)
            skip = self.label()
            for test in part.ifs:
                passed = self.label()
                self.condition(test, passed, skip)
                self.place(passed)
            if rest:
                self.nested_loops(rest, self.expression(rest[0].iter), body)
            else:
                body()
            self.place(skip)

        self.loop_over(first, part.iter, inside)

    def generator_expression_body(self, node: ast.GeneratorExp) -> None:
        """Emit the loop that a generator expression is; its first iterable is the parameter `.0`."""

        def hand_out() -> None:
            self.emit(Yield(self.register("sent"), self.expression(node.elt), self.span(node.elt)))

        self.nested_loops(node.generators, Read(".0"), hand_out)

    def make_function(self, node: FunctionNode, arguments: ast.arguments | None) -> Read:
        """A function value for a nested `def`, `lambda` or generator expression."""
        defaults: list[Operand] = []
        keyword_defaults: list[tuple[str, Operand]] = []
        if arguments is not None:
            defaults = [self.kept(self.expression(value), value) for value in arguments.defaults]
            for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
                if value is not None:
                    keyword_defaults.append((argument.arg, self.kept(self.expression(value), value)))
        dest = self.register("function")
        code = nested_code(node, self.code)
        if code is None:
            self.emit(Unsupported("DY003", "Python has no code of this function", self.span(node)))
            return Read(dest)
        parameters = {parameter.name for parameter in getattr(node, "type_params", ())}
        for name in sorted(parameters.intersection(code.co_freevars)):
            self.emit(Unsupported("DY002", f"the function reads its type parameter `{name}`", self.span(node)))
        annotations = () if parameters or isinstance(node, ast.Lambda | ast.GeneratorExp) else self.annotations(node)
        captures = tuple(self.renamed(name) for name in code.co_freevars)
        given = (tuple(defaults), tuple(keyword_defaults), annotations)
        self.emit(MakeFunction(dest, code, *given, captures, self.span(node)))
        return Read(dest)

    def annotations(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[tuple[str, Operand], ...]:
        """What stands behind the colons of a function's parameters, and behind its arrow."""
        arguments = node.args
        by_place = [*arguments.posonlyargs, *arguments.args, *filter(None, (arguments.vararg,))]
        parameters = [*by_place, *arguments.kwonlyargs, *filter(None, (arguments.kwarg,))]
        written = [(item.arg, item.annotation) for item in parameters] + [("return", node.returns)]
        return tuple((name, self.annotation(value)) for name, value in written if value is not None)

    def annotation(self, node: ast.expr) -> Operand:
        if self.code.co_flags & __future__.annotations.compiler_flag:
            return Known(ast.unparse(node))
        return self.kept(self.expression(node), node)
