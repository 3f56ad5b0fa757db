"""The strategy: random models as Python source."""

import re
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.generated.grammar import LAYERS, WIDTH
from tests.generated.surroundings import mentioned
from tests.generated.writer import Writer


@dataclass(frozen=True, slots=True)
class GeneratedProgram:
    """The source of a module with a class `Model`, and the seed of its weights and inputs."""

    source: str
    seed: int

    def __repr__(self) -> str:
        return f"seed {self.seed}\n{self.source}"


@st.composite
def programs(draw: st.DrawFn) -> GeneratedProgram:
    """Models that end for every input, with decisions in them that do not hang on rounding."""
    writer = Writer(draw)
    body = writer.body_of_forward()
    written = [*body, *(line for part in writer.definitions.values() for line in part)]
    around = mentioned(written)
    lines = ["import math", "", "import torch", "from torch import nn", ""]
    lines += [line for one in around for line in one.of_module]
    if any("Fault" in line for line in written):
        lines += ["", "class Fault(Exception):", "    pass", ""]
    for line in writer.definitions["function"]:
        lines += [line] if line else ["", ""]
    lines += [
        "",
        "",
        "class Model(nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        f"        self.mix = nn.Linear({WIDTH}, {WIDTH})",
        f"        self.layers = nn.ModuleList(nn.Linear({WIDTH}, {WIDTH}) for _ in range({LAYERS}))",
        f"        self.embedding = nn.Embedding(8, {WIDTH})",
    ]
    lines += [f"        {line}" for one in around for line in one.of_model]
    lines += [f"    {line}".rstrip() for line in (*writer.definitions["method"], *writer.definitions["generator"])]
    parameters = "self, x, y" if any(re.search(r"\by\b", line) for line in body) else "self, x"
    lines += ["", f"    def forward({parameters}):", *(f"        {line}" for line in body)]
    return GeneratedProgram("\n".join(lines) + "\n", draw(st.integers(0, 2**16)))
