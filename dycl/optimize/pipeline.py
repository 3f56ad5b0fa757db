"""The passes in the order in which they run, and the manager that runs and checks them."""

from collections.abc import Callable, Iterable, Sequence

from dycl.hcfg.module import Module
from dycl.hcfg.verify_module import verify_module
from dycl.optimize.deduplicate import DEDUPLICATE
from dycl.optimize.drop_unread import DROP_UNREAD
from dycl.optimize.merge_blocks import MERGE_BLOCKS
from dycl.optimize.passes import Pass, Property
from dycl.optimize.read_through import READ_THROUGH

PASSES: tuple[Pass, ...] = (
    READ_THROUGH,
    DROP_UNREAD,
    DEDUPLICATE,
    MERGE_BLOCKS,
)

Watch = Callable[[Pass, Module], None]
"""Gets every pass with the module that it made."""


class PassError(Exception):
    """A pass broke the module, or was run on one that it does not take: a mistake in a pass, never in the model."""


def chosen(without: Iterable[str] = (), more: Sequence[Pass] = ()) -> tuple[Pass, ...]:
    """DyCL's own passes and then `more`, without those of these names; ValueError for a name that no pass has."""
    passes = (*PASSES, *more)
    names = [item.name for item in passes]
    left_out = set(without)
    unknown = sorted(left_out - set(names))
    if unknown:
        raise ValueError(f"there is no pass `{unknown[0]}`; the passes are: {', '.join(names)}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two passes are called `{twice[0]}`")
    return tuple(item for item in passes if item.name not in left_out)


def optimize(module: Module, passes: Iterable[Pass] = PASSES, watch: Watch = lambda item, module: None) -> Module:
    """The module as these passes leave it, checked after each of them that changed it."""
    for item in passes:
        _require(item.requires, module, f"the pass `{item.name}` requires", "")
        before, module = module, item.run(module)
        try:
            if module != before:
                verify_module(module, before)
        except Exception as error:
            raise PassError(f"after the pass `{item.name}` the program is not well formed: {error}") from error
        _require(item.ensures, module, f"the pass `{item.name}` should ensure", " afterwards")
        watch(item, module)
    return module


def _require(properties: Iterable[Property], module: Module, who: str, when: str) -> None:
    for item in properties:
        violation = item.violation(module)
        if violation is not None:
            raise PassError(f"{who} that {item.name}{when}: {violation}")
