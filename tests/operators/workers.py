"""Each job in a process of its own, so that one that hangs or dies says so and harms no other."""

import importlib
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

from tests.operators.trial import Outcome

# Imported once, before there are processes, or each of them would.
_USED_BY_ALL = (
    *("dycl.compiler", "dycl.backends.onnx.lowerings", "dycl.rewrite.record.sizes.shape_env", "onnxruntime"),
    "torch._dynamo",
)

Job = Callable[[], Iterator[Outcome]]

TOO_LONG = "takes too long"

# A job that waits for something takes no time of the processor; so many times its limit ends it all the same.
_WAITS = 10


@dataclass
class _Worker:
    name: str
    process: ForkProcess
    connection: Connection
    deadline: float
    found: list[Outcome] = field(default_factory=list)


def run_all(jobs: Sequence[tuple[str, Job]], processes: int, limit: float) -> Iterator[tuple[str, list[Outcome]]]:
    """The outcomes of each job as it ends, so many at a time.

    One that takes more than `limit` seconds of the processor is ended: what else the machine does makes no difference.
    """
    for module in _USED_BY_ALL:
        importlib.import_module(module)
    pending = list(reversed(jobs))
    workers: list[_Worker] = []
    while pending or workers:
        while pending and len(workers) < processes:
            workers.append(_started(*pending.pop(), limit))
        wait([worker.connection for worker in workers], timeout=1.0)
        for worker in list(workers):
            if _has_ended(worker):
                workers.remove(worker)
                yield worker.name, worker.found


def _started(name: str, job: Job, limit: float) -> _Worker:
    reading, writing = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_work, args=(job, writing, limit))
    process.start()
    writing.close()
    return _Worker(name, process, reading, time.monotonic() + _WAITS * limit)


def _work(job: Job, connection: Connection, limit: float) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process
    signal.setitimer(signal.ITIMER_PROF, limit)
    for outcome in job():
        connection.send((outcome.verdict, outcome.detail))
    connection.send(None)


def _has_ended(worker: _Worker) -> bool:
    try:
        while worker.connection.poll():
            message = worker.connection.recv()
            if message is None:
                worker.process.join()
                return True
            worker.found.append(Outcome(*message))
    except EOFError:
        worker.process.join()
        code = worker.process.exitcode
        ending = TOO_LONG if code == -signal.SIGPROF else f"the process ended with {code}"
    else:
        if time.monotonic() < worker.deadline:
            return False
        worker.process.kill()
        worker.process.join()
        ending = TOO_LONG
    # What was compared before the time was over counts; the report says that there was more.
    was_compared = ending == TOO_LONG and worker.found
    worker.found.append(Outcome("skipped" if was_compared else "crashed", ending))
    return True
