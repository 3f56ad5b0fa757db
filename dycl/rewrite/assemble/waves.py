"""In which order a block computes: what may fail unless a check holds comes after that check.

    n = size(y)                      t0, t1 = run net0(x)     the first wave: what checks need, and what hangs on none
    check n == 4                     check t1
    z = add(y, ones(4))              t2 = run net1(t0)        the second wave: what the check guards, and what follows
    return z                         return t2

The backend would stop with an error of its own, or compute something, before the check could say what is wrong. A
block without such a check is one wave.
"""

from collections.abc import Collection, Sequence

from dycl.hcfg.module import operands
from dycl.hcfg.subnet import Operation, Ref
from dycl.rewrite.record.recording import Recording


def waves(
    recording: Recording, operations: Sequence[Operation], wanted: Collection[Ref]
) -> tuple[list[list[Operation]], list[int]]:
    """The operations that `wanted` needs, wave by wave, and after which wave each check is made.

    Checks keep their order, so that of several errors the program makes the first one.
    """
    guarded: dict[int, list[int]] = {}
    for guard in recording.guards:
        for place in range(guard.first, guard.end):
            guarded.setdefault(place, []).append(guard.check)
    made: dict[Ref, int] = {}
    checks: list[int] = []

    def wave_of_check(number: int) -> int:
        while len(checks) <= number:
            before = checks[-1] if checks else 0
            checks.append(max(before, made.get(recording.checks[len(checks)].flag, 0)))
        return checks[number]

    found: list[list[Operation]] = [[]]
    for place in _needed(operations, wanted):
        operation = operations[place]
        wave = max((made.get(ref, 0) for ref in operands(operation)), default=0)
        wave = max((wave, *(wave_of_check(check) + 1 for check in guarded.get(place, ()))))
        made.update((ref, wave) for ref in operation.outputs if ref is not None)
        found.extend([] for _ in range(wave + 1 - len(found)))
        found[wave].append(operation)
    if recording.checks:
        wave_of_check(len(recording.checks) - 1)
    return found, checks


def _needed(operations: Sequence[Operation], wanted: Collection[Ref]) -> list[int]:
    """The places of the operations that some values depend on."""
    needed = set(wanted)
    places: list[int] = []
    for place in reversed(range(len(operations))):
        if not needed.isdisjoint(operations[place].outputs):
            places.append(place)
            needed.update(operands(operations[place]))
    return places[::-1]
