"""Explore a program until nothing new is learnt of it."""

import logging
import math
from collections.abc import Callable, Sequence

import torch
from torch import nn

from dycl.rewrite.example.call import ExampleCall
from dycl.rewrite.explore.budget import DEFAULT_BUDGET, Budget
from dycl.rewrite.explore.diagnostics import problem_at
from dycl.rewrite.explore.drafts import Entry, Explored
from dycl.rewrite.explore.exploration import Exploration, Ran
from dycl.rewrite.explore.followed import Following
from dycl.rewrite.explore.loops import learn_of_loops_rolled_in_vain
from dycl.rewrite.explore.process import Process
from dycl.rewrite.knowledge import (
    Adopted,
    ChangedContainers,
    Encloses,
    Fact,
    Kept,
    ReadAll,
    ReadLater,
    Suspect,
    Written,
)
from dycl.rewrite.own_thread import compiling
from dycl.rewrite.run.settings import rewriting
from dycl.rewrite.semantics.in_python.builtin_functions import stands_in
from dycl.rewrite.signals import Refused
from dycl.rewrite.state.whole_state import StateNode

Progress = Callable[[int, int], None]

_log = logging.getLogger("dycl")
# Facts about the model's state concern every block that may read it, seen or not.
_CONCERN_EVERYTHING = (Encloses, Adopted, ReadLater, Kept, ReadAll, Suspect, Written, ChangedContainers)


def explore(
    model: nn.Module,
    call: ExampleCall,
    supports: Callable[[str], bool],
    progress: Progress = lambda done, left: None,
    budget: float = DEFAULT_BUDGET,
) -> Explored:
    """Every block of the program, reachable from the first."""
    return _explored(model, Process(model, call, supports, Budget(budget)), Exploration, progress)


def follow(
    model: nn.Module, call: ExampleCall, supports: Callable[[str], bool], arguments: Sequence[torch.Tensor]
) -> Explored:
    """The blocks on the one path that these arguments take."""

    def following(process: Process, ran: dict[StateNode, Ran]) -> Exploration:
        return Following(process, arguments)

    process = Process(model, call, supports, Budget(math.inf))
    return _explored(model, process, following, lambda done, left: None)


def _explored(
    model: nn.Module,
    process: Process,
    new_exploration: Callable[[Process, dict[StateNode, Ran]], Exploration],
    progress: Progress,
) -> Explored:
    ran: dict[StateNode, Ran] = {}
    explorations: list[str] = []
    with (
        compiling(),
        torch.inference_mode(),
        process.heap.active(),
        rewriting(process.recorder, process.pinned, process.heap.watch, process.heap.names),
    ):
        while True:
            exploration = new_exploration(process, ran)
            first = exploration.explore(progress)
            if exploration.problems and not process.knowledge.news:
                learn_of_loops_rolled_in_vain(first, exploration.troubled, process.knowledge)
            news, process.knowledge.news = process.knowledge.news, []
            explorations.append(_told(exploration, news))
            _log.debug("explored: %s", explorations[-1])
            if not news:
                break
            if any(isinstance(fact, _CONCERN_EVERYTHING) for fact in news):
                ran.clear()
    if len(explorations) > 1:
        _log.info("explored %d times: %s", len(explorations), "; ".join(explorations))
    return _outcome(exploration, first, explorations)


def _outcome(exploration: Exploration, first: Entry, explorations: list[str]) -> Explored:
    if not exploration.problems and not exploration.returns:
        # Every path ends in an error: the example call itself fails.
        error, span = exploration.failures[0]
        refused = Refused("DY010", f"the model raises {error.error}: {error.message}")
        exploration.problems[refused.identifier, span] = problem_at(refused, (span,))
    return Explored(
        first,
        list(exploration.problems.values()),
        list(exploration.notes),
        exploration.draws,
        explorations,
        [code for code in exploration.machine.entered if not stands_in(code)],
    )


def _told(exploration: Exploration, news: Sequence[Fact]) -> str:
    learnt = ", ".join(dict.fromkeys(map(str, news)))
    return f"{exploration.runs} block runs" + (f", learnt that {learnt}" if learnt else "")
