"""Data flows one way: which folder of DyCL imports which others, from the bottom to the top."""

from tests.house import Import, imports

# A folder imports those that are named here and no others; all of them stand above it in this table.
USES: dict[str, set[str]] = {
    "version": set(),
    "collection": set(),
    "terminal": set(),
    "latency": set(),
    "hcfg": set(),
    "zoo": set(),
    "runtime": {"hcfg"},
    "optimize": {"hcfg"},
    "backends": {"hcfg", "runtime"},
    "rewrite": {"hcfg", "version"},
    "errors": {"rewrite", "runtime"},
    "store": {"hcfg", "rewrite", "runtime"},
    "dump": {"backends", "hcfg", "optimize", "rewrite", "runtime"},
    "check": {"errors", "rewrite", "runtime"},
    "trials": {"backends", "hcfg", "rewrite", "runtime"},
    "choice": {"backends", "hcfg", "runtime", "trials"},
    "compiler": {
        *("backends", "check", "choice", "collection", "dump", "errors", "hcfg", "optimize", "rewrite", "runtime"),
        *("store", "trials", "version"),
    },
    "report": {"collection", "compiler", "errors", "hcfg", "optimize", "rewrite"},
    "dycl": {"collection", "compiler", "errors", "report", "runtime", "version"},
    "demo": {"dycl", "latency", "runtime", "terminal"},
    "bench": {"backends", "compiler", "hcfg", "latency", "optimize", "rewrite", "runtime", "version", "zoo"},
    "cli": {"bench", "choice", "compiler", "demo", "hcfg", "optimize", "runtime", "terminal", "version", "zoo"},
}


def folder(module: str) -> str:
    """The folder or single module directly below `dycl`; the package itself is `dycl`."""
    return module.removeprefix("dycl.").partition(".")[0]


def used(found: list[Import]) -> dict[str, set[str]]:
    """Which folders each folder imports."""
    uses: dict[str, set[str]] = {name: set() for name in USES}
    for item in found:
        uses.setdefault(folder(item.module), set()).add(folder(item.imported))
    return {name: others - {name} for name, others in uses.items()}


def test_a_folder_imports_what_the_table_names() -> None:
    assert used(imports("dycl")) == USES


def test_the_table_stands_from_the_bottom_to_the_top() -> None:
    order = list(USES)
    upward = [
        (name, other) for name, others in USES.items() for other in others if other not in order[: order.index(name)]
    ]
    assert upward == []


def test_an_import_inside_a_function_counts() -> None:
    assert Import("dycl.cli.demo_command", "dycl.demo") in imports("dycl")
    assert used([Import("dycl.demo.report", "dycl.cli.leaves")])["demo"] == {"cli"}
