"""What was there before the call, compared with what it was: as much of it as possible all at once."""

from collections.abc import Sequence

from dycl.rewrite.state.heap.tally import Tally
from dycl.rewrite.state.heap.unchanged.guards import Guard
from dycl.rewrite.state.heap.watched import Watched


class Compared:
    """Lists of containers and guards, which may grow: those that are compared together, and those that are not."""

    def __init__(self, containers: Sequence[Watched], guards: Sequence[Guard]) -> None:
        self._containers, self._guards = containers, guards
        self.one_by_one: list[Watched] = []
        self.guards_one_by_one: list[Guard] = []
        self._tally, self._tallied = Tally([]), (-1, -1)

    def begin_anew(self) -> None:
        """Forget which are compared together."""
        self._tallied = (-1, -1)

    def hold(self, mixed: Sequence[Watched]) -> bool:
        """Whether all that are compared together are what they were; `mixed` never are."""
        size = (len(self._containers), len(self._guards))
        if self._tallied != size:
            apart = {id(watched) for watched in mixed}
            others = [watched for watched in self._containers if id(watched) not in apart]
            tables = [guard.table for guard in self._guards if guard.table is not None]
            together = [(one.container, one.first) for one in others if one.can_be_tallied]
            self._tally, self._tallied = Tally([*together, *tables]), size
            self.guards_one_by_one = [guard for guard in self._guards if guard.table is None]
            self.one_by_one = [one for one in others if not one.can_be_tallied]
        return self._tally.holds()
