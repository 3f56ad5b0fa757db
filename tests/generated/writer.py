"""Writes a program: chooses texts of the grammar, fills their holes, and keeps track of names."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from tests.generated.grammar import KINDS
from tests.generated.statements import STATEMENTS, Statement

_HOLE = re.compile(r"\{(?P<kind>[a-z]+)(?P<set>=(?P<bound>[a-z]*))?(?P<names>(\+[a-z]+:[a-z]+)*)\}|\$(?P<name>[a-z]+)")
_FUNCTIONS = ("{function}", "{method}", "{generator}")
_MOST_FUNCTIONS = 1
_DEEPEST_EXPRESSION = 2
_DEEPEST_STATEMENT = 3
_MOST_COMPOUND = 5


@dataclass(slots=True)
class Scope:
    """The names of one function: its grid, variables with their first values, and what else can be read."""

    grid: str
    number: str | None = None
    suffix: str = ""
    has_self: bool = True
    has_open: bool = True
    calls: bool = False
    outer: "Scope | None" = None
    attributes: "Scope | None" = None
    declared: dict[str, str] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    readable: list[tuple[str, str]] = field(default_factory=list)

    def variables(self, kind: str) -> list[str]:
        """The variables of this kind that may be assigned to."""
        own = [(self.grid, "grid")] + ([(self.number, "int")] if self.number else [])
        names = [name for name, its_kind in own if its_kind == kind]
        for name, _ in KINDS[kind].variables:
            if not name.startswith("self."):
                names.append(name + self.suffix)
            elif self.has_self:
                names.append(name)
        return names + [name for name in KINDS[kind].kept if self.has_self or not name.startswith("self.")]

    def names(self, kind: str) -> list[str]:
        """Everything of this kind that may be read; what is known only here comes twice, since it is rare."""
        near = [name for name, its_kind in self.readable if its_kind == kind]
        names = self.variables(kind) + near + near
        return names + [name for name in self.outer.names(kind) if name not in names] if self.outer else names

    def reaches(self, text: str) -> bool:
        """Whether what a text names is to be had here: the model, and the argument of an open size."""
        needs_self = "self" in text or "{linear}" in text
        return (self.has_self or not needs_self) and (self.has_open or "{open" not in text)

    def use(self, name: str, kind: str, assigned: bool = False) -> None:
        """Give the variable `name` a value from the beginning of its function; attributes belong to `forward`."""
        if name in KINDS[kind].kept:
            return
        if name.startswith("self."):
            home, suffix = self.attributes or self, ""
        else:
            home, suffix = self, self.suffix
        first = {bare + suffix: value for bare, value in KINDS[kind].variables}.get(name)
        if first is not None:
            home.declared[name] = first.replace("@", home.grid)
        elif self.outer is not None:
            self.outer.use(name, kind)
        if assigned:
            home.assigned.add(name)

    def preamble(self) -> list[str]:
        """The statements that give all declared variables their first values."""
        return [f"{name} = {first}" for name, first in sorted(self.declared.items())]


@dataclass(frozen=True, slots=True)
class Context:
    """Where a statement stands: what its function gives back, whether a loop is around it, how deep it is."""

    gives: str | None
    in_loop: bool = False
    in_generator: bool = False
    depth: int = 0

    def allows(self, statement: Statement, scope: Scope) -> bool:
        """Whether the statement may stand here."""
        if statement.is_compound and self.depth >= _DEEPEST_STATEMENT:
            return False
        if not scope.calls and ("{closure" in statement.text or _needs_functions(statement.text)):
            return False
        if not scope.reaches(statement.text):
            return False
        if self.in_generator and "finally:" in statement.text:
            return False  # when it runs depends on when Python throws the generator away
        around = {"loop": self.in_loop, "generator": self.in_generator, "function": self.gives is not None}
        return around.get(statement.place, True)


def _needs_functions(text: str) -> bool:
    return any(function in text for function in _FUNCTIONS)


class Writer:
    """Draws the parts of one program. Functions of the module and methods are collected on the way."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._numbers: dict[str, int] = {}
        self._compound = 0
        self.forward = Scope("x", calls=True)
        self.functions: dict[str, list[str]] = {"function": [], "method": [], "generator": []}
        self.definitions: dict[str, list[str]] = {"function": [], "method": [], "generator": []}

    def body_of_forward(self) -> list[str]:
        """The lines of `forward`; it returns all variables it assigns, so that no change to one goes unseen."""
        lines = self._statements(self.forward, Context("result"), 1, 4)
        result = self._expression("result", self.forward, 0)
        variables = "".join(f", {name}" for name in sorted(self.forward.assigned))
        return [*self.forward.preamble(), *lines, f"return {result}{variables}"]

    def _statements(self, scope: Scope, context: Context, least: int, most: int) -> list[str]:
        @st.composite
        def one(draw: st.DrawFn) -> list[str]:  # a strategy of its own, so that a shrinking list drops whole statements
            around, self._draw = self._draw, draw
            try:
                return self._statement(scope, context)
            finally:
                self._draw = around

        return [line for lines in self._draw(st.lists(one(), min_size=least, max_size=most)) for line in lines]

    def _statement(self, scope: Scope, context: Context) -> list[str]:
        allowed = [
            each
            for each in STATEMENTS
            if context.allows(each, scope) and not (each.is_compound and self._compound == _MOST_COMPOUND)
            for _ in range(each.weight)
        ]
        statement = self._draw(st.sampled_from(allowed))
        self._compound += statement.is_compound
        return self._fill(statement.text, scope, context, 0).split("\n")

    def _expression(self, kind: str, scope: Scope, depth: int) -> str:
        its = KINDS[kind]
        forms = [form for form in its.forms if self._allowed(form, scope)] if depth < _DEEPEST_EXPRESSION else []
        simple = [*(f"={name}" for name in scope.names(kind)), *its.leaves]
        if depth > 0:
            simple *= 1 + len(forms) // len(simple)  # about as often as the other forms
        text = self._draw(st.sampled_from(simple + forms))
        if text.startswith("="):
            scope.use(text[1:], kind)
            return text[1:]
        return self._fill(text, scope, Context(None), depth + 1)

    def _allowed(self, form: str, scope: Scope) -> bool:
        if _needs_functions(form) and not scope.calls:
            return False
        return scope.reaches(form)

    def _fill(self, text: str, scope: Scope, context: Context, depth: int) -> str:
        """The text with its holes filled; what has several lines is indented like the line of its hole."""
        bound: dict[str, str] = {}

        def name_of(name: str) -> str:
            if name not in bound:
                self._numbers[name] = self._numbers.get(name, 0) + 1
                bound[name] = f"{name}{self._numbers[name]}"
            return bound[name]

        def fill(hole: re.Match[str]) -> str:
            if hole["name"]:
                return name_of(hole["name"])
            if hole["set"]:
                return self._bound(hole["kind"], hole["bound"], bound, scope)
            pairs = [pair.split(":") for pair in hole["names"].split("+")[1:]]
            with _readable(scope, [(name_of(name), kind) for name, kind in pairs]):
                filled = self._part(hole["kind"], scope, context, depth)
            line = text[: hole.start()].rpartition("\n")[2]
            return filled.replace("\n", "\n" + " " * (len(line) - len(line.lstrip())))

        return _HOLE.sub(fill, text)

    def _bound(self, kind: str, name: str, bound: dict[str, str], scope: Scope) -> str:
        if kind == "closure":
            bound[name] = f"{name}{self._numbers.setdefault(name, 0) + 1}"
            self._numbers[name] += 1
            return "\n".join(self._function(bound[name], "closure", scope))
        variable = self._draw(st.sampled_from(scope.variables(kind)))
        scope.use(variable, kind, assigned=True)
        bound[name] = variable
        return variable

    def _part(self, kind: str, scope: Scope, context: Context, depth: int) -> str:
        deeper = replace(context, depth=context.depth + 1)
        match kind:
            case "body":
                return "\n".join(self._statements(scope, deeper, 1, 2))
            case "loop":
                return "\n".join(self._statements(scope, replace(deeper, in_loop=True), 1, 2))
            case "plain":
                plain = replace(deeper, in_loop=False, in_generator=False, gives=None)
                return "\n".join(self._statements(scope, plain, 1, 1))
            case "given":
                assert context.gives is not None
                return self._expression(context.gives, scope, depth)
            case "function" | "method" | "generator":
                return self._callee(kind)
            case _:
                return self._expression(kind, scope, depth)

    def _callee(self, role: str) -> str:
        """The name of a function: one that is there already, or a new one."""
        known = self.functions[role]
        if len(known) < _MOST_FUNCTIONS and (not known or self._draw(st.booleans())):
            bare = {"function": "helper", "method": "step", "generator": "parts"}[role] + str(len(known) + 1)
            known.append(bare if role == "function" else f"self.{bare}")
            self.definitions[role] += ["", *self._function(bare, role, self.forward)]
            return known[-1]
        return self._draw(st.sampled_from(known))

    def _function(self, name: str, role: str, scope: Scope) -> list[str]:
        """The lines of a function that gets a grid and an int, and gives a grid or, as a generator, rows."""
        inner = Scope(
            "t",
            "k",
            suffix="1",
            has_self=role != "function",
            has_open=role == "closure",
            outer=scope if role == "closure" else None,
            attributes=self.forward,
        )
        context = Context(None if role == "generator" else "grid", in_generator=role == "generator", depth=1)
        lines = self._statements(inner, context, 1, 2)
        if role == "generator":
            lines.append(f"yield {self._expression('row', inner, 0)}")
        else:
            lines.append(f"return {self._expression('grid', inner, 0)}")
        parameters = "t, k=1" if role in ("function", "closure") else "self, t, k=1"
        return [f"def {name}({parameters}):", *(f"    {line}" for line in (*inner.preamble(), *lines))]


@contextmanager
def _readable(scope: Scope, names: list[tuple[str, str]]) -> Iterator[None]:
    scope.readable.extend(names)
    try:
        yield
    finally:
        del scope.readable[len(scope.readable) - len(names) :]
