"""The expressions of generated programs: for each kind of value, the texts that give one.

A text has holes. `{int}` is an expression of that kind, `{int=}` a variable of that kind to assign to, `{int=n}` one
that the rest of the text calls `$n`. `$n` alone is a name of its own for each use of the text, and what fills
`{body+n:int}` may read it as an int. The first text of a kind is the simplest: failing programs shrink towards it.

Decisions must not hang on rounding. So tensors that are decided on hold small whole numbers, which float32 computes
with exactly in any order: kinds `grid`, `row`, `some`, `strip` and `tokens`. What is only near its true value has the
kinds `smooth` and `real`, and is compared with crooked numbers that it does not meet.

Kind `open` has rows of three whose number is left open. Many forms of the tensors of a fixed shape give a view of their
argument or the argument itself, which statements then write to.
"""

from dataclasses import dataclass

ROWS, WIDTH, TOKENS, LAYERS = 4, 6, 5, 3


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: how to write one in little space, all other ways, and variables with their first values.

    In a first value `@` stands for the grid that the function gets. What is kept has its first value from before the
    call (`surroundings`).
    """

    leaves: tuple[str, ...]
    forms: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()


KINDS = {
    # Tensors: of a fixed shape, ...
    "grid": Kind(
        leaves=(),
        forms=(
            "{grid}.relu()",
            "(-{grid})",
            "({grid} + {grid}).clamp(-8, 8)",
            "({grid} * {row}).clamp(-8, 8)",
            "({grid} + {int}).clamp(-8, 8)",
            "{linear}({grid}).round().clamp(-8, 8)",
            "self.layers[{int} % 3]({grid}).round().clamp(-8, 8)",
            "({grid} if {truth} else {grid})",
            "({grid} if {truth} else {grid})",
            "{stage}({grid}, {int})",
            "{stage}({grid}, k={int})",
            "{function}({grid}, {int})",
            "{method}({grid}, {int})",
            "torch.where({grid} > {small}, {grid}, {grid})",
            "torch.cat([{grid}[2:], {grid}[:2]])",
            "torch.cat([{some}, {grid}])[:4]",
            "torch.stack([{row}, *{grid}[1:]])",
            "{grid}.reshape(6, 4).transpose(0, 1).contiguous()",
            "{grid}.t().flip(0).t()",
            "{grid}.to(torch.int64).float()",
            "{grid}.double().mul(0.5).floor().float()",
            "self.embedding({tokens})[:4]",
            "{pair}[0]",
            "self.drop({grid})",
            "{grid}.contiguous()",
            "{grid}.reshape(4, 6)",
            "{grid}.reshape(-1).view(4, 6)",
            "{grid}.t().reshape(24).reshape(4, 6)",
            "{grid}.float().detach()",
            'torch.einsum("ij->ij", {grid})',
            "{grid}[:, :]",
            "{grid}.t().contiguous().t()",
            "{grid}[:, None].squeeze(1)",
            "torch.stack({grid}.unbind(0))",
            'self.state_dict()["memory"].clamp(-8, 8)',
            "next(self.buffers()).clamp(-8, 8)",
            'self._buffers["memory"].mul(1)',
            'getattr(self, "late", {grid})',
        ),
        variables=(("g", "@"), ("h", "@.flip(0)"), ("self.state", "@.relu()")),
        kept=("self.memory",),
    ),
    "open": Kind(
        leaves=(),
        forms=(
            "{open}.relu()",
            "({open} + {open}.sum(0, keepdim=True)).clamp(-8, 8)",
            "{open}.t().t()",
            "{open}.reshape(-1, 3)",
            "{open}.reshape(-1).view(-1, 3)",
            "{open}.contiguous()",
            "{open}.flip(0)",
            "{open}[: {int} % 3]",
            "{open}[{int} % 3 :]",
            "{open}[{open}.sum(1) > {small}]",
            "torch.cat([{open}, {open}])[:6]",
            "({open} if {truth} else {open})",
        ),
        variables=(("o", "y"), ("p", "y * 2")),
    ),
    "row": Kind(
        leaves=("{grid}[0]",),
        forms=(
            "{grid}[{int} % 4]",
            "{grid}.sum(0).clamp(-8, 8)",
            "{grid}.amax(0)",
            "{row}.abs()",
            "{row}.sort().values",
            "({row} + {row}).clamp(-8, 8)",
            "({row} if {truth} else {row})",
            "{rows}[-1]",
            "[{row}, *{rows}][{int} % 2]",
            "({rows} or [{row}])[0]",
            "sum({rows}, {row}).clamp(-8, 8)",
            "torch.stack([{row}, *{rows}]).amax(0)",
            "torch.stack({rows} + [{row}]).sum(0).clamp(-8, 8)",
            "{some}.sum(0).clamp(-8, 8)",
            "{grid}.flatten().topk(6).values",
            '{table}["low"]',
            "{table}.get({key}, {row})",
            "next({parts}, {row})",
            "min({row}, {row}, key=lambda $t: {int+t:row})",
            "{grid}.reshape(-1)[6:12]",
            "{grid}.diagonal().repeat(2)[:6]",
            "{grid}.unbind(0)[1]",
            "{row}.view(2, 3).t().reshape(-1)",
            "torch.from_numpy(self.array.copy())",
        ),
        variables=(("r", "@[0]"), ("q", "@.sum(0).clamp(-8, 8)")),
        kept=("self.box.row",),
    ),
    "tokens": Kind(
        leaves=("({row}[1:].long() % 8)",),
        forms=("(({tokens} + {int}) % 8)", "{tokens}.flip(0)", "torch.cat([{tokens}[1:], {tokens}[:1]])"),
    ),
    "smooth": Kind(
        leaves=("torch.tanh({grid})",),
        forms=(
            "torch.softmax({grid}, dim=-1)",
            "({smooth} * {smooth})",
            "({smooth} * 0.5 + {grid}).sigmoid()",
            "torch.tanh({grid} * {float})",
            "({smooth} if {truth} else {smooth})",
        ),
        variables=(("soft", "torch.tanh(@)"),),
    ),
    # ... and of one that the input decides.
    "some": Kind(
        leaves=("{grid}[:2]",),
        forms=(
            "{grid}[{grid}.sum(1) > {small}]",
            "{grid}[{grid}[:, 0] > {small}]",
            "(lambda $t: $t[$t[:, 1] > {small}])({some})",
            "{grid}[:{int} % 5]",
            "{some}[{int} % 3 :]",
            "torch.cat([{some}, {row}[None]])",
            "{grid}[{grid}[:, 1].nonzero()[:, 0]]",
            "{some}.relu()",
            "({some} if {truth} else {some})",
        ),
        variables=(("some", "@[@[:, 0] > 0]"),),
    ),
    "strip": Kind(
        leaves=("{row}[:3]",),
        forms=(
            "{row}[{row} > {small}]",
            "{row}[{int} % 4 :]",
            "{strip}[: {int} % 4]",
            "{row}.topk({int} % 3 + 1).values",
            "{row}.nonzero().flatten()",
            "{grid}.nonzero()[:, {int} % 2]",
            "torch.cat([{strip}, {strip}])",
            "torch.cat([{strip}, torch.arange({int} % 4)])",
            "{some}.reshape(-1)",
            "{some}.t().sum(1)",
            "{strip}.to({dtype})",
            "{open}.reshape(-1)",
            "{open}.t().reshape(-1)",
            "{open}.sum(0)",
            "{open}.squeeze(0).sum(-1).reshape(-1)",
            "{open}[:, {int} % 3]",
        ),
        variables=(("strip", "@[0, :3]"),),
    ),
    # Host values.
    "int": Kind(
        leaves=("{small}", "int({grid}.sum())"),
        forms=(
            "int({row}.max())",
            "{row}.argmax().item()",
            "({int} + {int})",
            "({int} - {small})",
            "{int} % 4",
            "{int} % -3",
            "({int} // 3)",
            "({int} // {int})",
            "({int} % 13 * {small})",
            "abs({int})",
            "min({int}, {int})",
            "max({int}, {int}, {int})",
            "min({int} for $i in {ints})",
            "max([{int+i:int} for $i in {ints}])",
            "round({float})",
            "int({float})",
            "int({truth})",
            "math.floor({float})",
            "math.ceil({float})",
            "math.trunc({float})",
            "divmod({int}, 3)[1]",
            "({int} % 5) ** 2",
            "({int} if {truth} else {int})",
            "len({rows})",
            "len({strip})",
            "len([$t for $t in {rows} if {truth+t:row}])",
            "sum({int+t:row} for $t in {rows})",
            "sum(1 for $t in {grid} if {truth+t:row})",
            "{some}.shape[0]",
            "{strip}.numel()",
            "({grid} > {small}).sum().item()",
            "{tokens}[{int} % 5].item()",
            "{pair}[1]",
            "self.bump({int} % 3)",
            'vars(self)["kept"]',
            'self.__dict__["kept"]',
            'getattr(self, "kept", 4)',
            "copy.copy(self).kept",
            "int(self.array.sum())",
            "{open}.shape[0]",
            "{open}.squeeze(0).dim()",
        ),
        variables=(("n", "int(@.sum())"), ("m", "2"), ("self.count", "0")),
        kept=("self.kept", "self.counts[0]", "self.box.n", 'STORE["n"]'),
    ),
    "small": Kind(leaves=("0", "1", "2", "3", "-1", "-2", "5")),
    "ints": Kind(leaves=("(1, 2)",), forms=("range(3)", "({int}, {int})", "[{int}, {int}, {int}]", "range({int} % 4)")),
    "float": Kind(
        leaves=("0.5", "{int} / 4"),
        forms=(
            "float({int})",
            "{grid}.sum().item() / 8",
            "({float} + {int})",
            "({float} * 0.5)",
            "({float} - {float})",
            "({float} // 1.5)",
            "{float} % 2.5",
            "-{float} % 0.75",
            "({int} / {int})",
            "abs({float})",
            "min({float}, {float})",
            "max({float}, {int})",
            "round({float}, 1)",
            "math.sqrt(abs({float}))",
            "math.fabs({float})",
            "math.fmod({float}, 2.0)",
            "math.copysign({float}, {int})",
            "({float} if {truth} else {float})",
        ),
        variables=(("v", "@.sum().item() / 4"), ("w", "0.25")),
    ),
    "real": Kind(
        leaves=("{smooth}.sum().item()",),
        forms=("math.exp(-abs({float}))", "math.sin({float})", "math.log1p(abs({float}))", "math.tanh({real})"),
    ),
    "truth": Kind(
        leaves=("{grid}.sum() > {small}", "{int} > {small}"),
        forms=(
            "{row}.max() >= {small}",
            "{grid}.sum() > {row}.sum()",
            "{int} % 2 == 0",
            "{int} == {int}",
            "{float} <= 1.25",
            "({truth} and {truth})",
            "({truth} or {truth})",
            "({truth} and {truth} or {truth})",
            "(not {truth})",
            "({truth} if {truth} else {truth})",
            "0 < {int} <= 4",
            "{small} <= {int} < {int}",
            "-3 <= {row}.sum() < 5",
            "{flag}",
            "(len({rows}) > 0)",
            "bool({rows})",
            "({maybe} is None)",
            "({maybe} is not None)",
            "({key} in {table})",
            "({tokens} > 4).any()",
            "any({truth+t:row} for $t in {rows})",
            "all({truth+i:int} for $i in {ints})",
            "{strip}.numel() > 2",
            "{smooth}.sum() > 0.1371",
            "{real} > 0.2317",
            "bool({row}.sum() > {small})",
            "{strip}.sum() > {small}",
            'hasattr(self, "late")',
            '("late" in self.__dict__)',
            "{open}.sum() > {small}",
            "({open}.is_contiguous() and {truth})",
        ),
    ),
    "flag": Kind(
        leaves=("True",),
        forms=("bool({truth})", "(not {truth})", "({int} > {small})"),
        variables=(("ready", "False"), ("self.done", "False")),
    ),
    # Containers, and None or a tensor.
    "rows": Kind(
        leaves=("[{row}]",),
        forms=(
            "[{row}, {row}]",
            "[{row+t:row} for $t in {grid}]",
            "[$t for $t in {grid} if {truth+t:row}]",
            "[{row+t:row} for $t in {rows} if {truth+t:row}]",
            "list({parts})",
            "{rows}[1:]",
            "({rows} + {rows})[:4]",
            "list({some})",
            "list({table}.values())",
            "({rows} if {truth} else {rows})",
        ),
        variables=(("seen", "[@[0], @[1]]"), ("rows", "[]")),
    ),
    "parts": Kind(
        leaves=("iter({rows}[:3])",), forms=("{generator}({grid}, {int})", "({row+t:row} for $t in {rows}[:3])")
    ),
    "table": Kind(
        leaves=('{"low": {row}}',),
        forms=(
            '{"low": {row}, "high": {row}}',
            "{str($i): {row+i:int} for $i in range(2)}",
            "{**{table}, {key}: {row}}",
        ),
        variables=(("table", '{"low": @[0]}'),),
    ),
    "key": Kind(leaves=('"low"', '"high"', '"0"'), forms=('("low" if {truth} else "high")',)),
    "maybe": Kind(
        leaves=("None",),
        forms=("({row} if {truth} else None)", "{table}.get({key})", "next({parts}, None)"),
        variables=(("best", "None"),),
    ),
    "pair": Kind(
        leaves=("({grid}, {int})",),
        forms=("(({grid}, {int}) if {truth} else ({grid}, {int}))",),
        variables=(("pair", "(@, 1)"),),
    ),
    # What is called.
    "linear": Kind(
        leaves=("self.mix",), forms=("self.layers[{int} % 3]", "self.layers[1]", "list(self.layers)[{int} % 3]")
    ),
    "stage": Kind(
        leaves=("(lambda t, k: t)",),
        forms=("{function}", "{function}", "{method}", "(lambda $t, k: {grid+t:grid})"),
    ),
    "dtype": Kind(leaves=("torch.float64", "torch.int64", "torch.int32", "torch.bool")),
    # What forward returns.
    "result": Kind(
        leaves=("{grid}", "{int}"),
        forms=(
            "{row}",
            "({grid}, {int})",
            "({float}, {flag})",
            '{"rows": {rows}, "best": {maybe}}',
            "[{strip}, {some}]",
            "({smooth}, {real})",
            "({table}, ({int}, [{row}]))",
            "{row}.to({dtype})",
            "({open}, {int})",
            "{pair}",
            "({result} if {truth} else {result})",
        ),
    ),
}
