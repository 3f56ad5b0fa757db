"""The rewriter is a stack of layers: a module imports from its own layer and from those below, and never in a ring."""

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.house import ROOT, Import, imports, modules

PACKAGE = "dycl.rewrite"
# From the bottom to the top; a layer is a folder or a single module.
LAYERS = (
    "plain_lookup",
    "own_code",
    "own_thread",
    "signals",
    "tensor_types",
    "model_parts",
    "normalise",
    "knowledge",
    "example",
    "record",
    "state",
    "semantics",
    "run",
    "explore",
    "assemble",
)
TOUR = ROOT / "docs" / "architecture.md"
_BEGIN, _END = "<!-- layers -->\n", "<!-- end of layers -->"


def layer(module: str) -> int:
    """How high a module stands; the package itself stands on top of all."""
    name = module.removeprefix(PACKAGE).removeprefix(".").partition(".")[0]
    return LAYERS.index(name) if name else len(LAYERS)


def upward(found: list[Import]) -> list[Import]:
    """The imports that point up."""
    return [item for item in found if layer(item.imported) > layer(item.module)]


def ring(found: list[Import]) -> list[str] | None:
    """Modules that import each other in a ring, if any do."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for item in found:
        sorter.add(item.module, item.imported)
    try:
        sorter.prepare()
    except CycleError as error:
        members: list[str] = error.args[1]
        return members
    return None


def layer_map(found: list[Import]) -> str:
    """The layers from the top to the bottom: what each is for, and which layers below it uses."""
    lines = ["```text"]
    for height, name in reversed(list(enumerate(LAYERS))):
        below = {layer(item.imported) for item in found if layer(item.module) == height} - {height}
        uses = ", ".join(LAYERS[place] for place in sorted(below, reverse=True))
        lines.append(f"{name:<13} {_purpose(name)}")
        lines.extend([f"{'':<13}   uses {uses}"] if uses else [])
    return "\n".join([*lines, "```", ""])


def _purpose(name: str) -> str:
    path = modules(PACKAGE)[f"{PACKAGE}.{name}"]
    return Path(path).read_text(encoding="utf-8").split("\n", 1)[0].strip('".')


def test_imports_point_down() -> None:
    assert upward(imports(PACKAGE)) == []


def test_no_modules_import_each_other_in_a_ring() -> None:
    assert ring(imports(PACKAGE)) is None


def test_an_import_turned_round_is_found() -> None:
    found = imports(PACKAGE)
    for item in found:
        turned = Import(item.imported, item.module)
        assert ring([*found, turned]) is not None, item
        if layer(item.module) != layer(item.imported):
            assert turned in upward([turned])


def test_the_tour_shows_the_layers(request: pytest.FixtureRequest) -> None:
    text = TOUR.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    expected = before + _BEGIN + layer_map(imports(PACKAGE)) + _END + after
    if request.config.getoption("--regenerate"):
        TOUR.write_text(expected, encoding="utf-8")
    assert TOUR.read_text(encoding="utf-8") == expected
