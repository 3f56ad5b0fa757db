"""What DyCL and PyTorch's own compilers make of each model, written as a table to docs/thirdparty.md.

.venv-thirdparty/bin/python -m tests.thirdparty.survey
"""

import copy
import multiprocessing
import os
import re
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch import nn

import dycl
from dycl.hcfg.nodes import Branch, Switch
from tests.comparison import assert_same
from tests.thirdparty.case import INPUTS, Case, Inputs, cases_of, topics

PAGE = Path(__file__).parents[2] / "docs" / "thirdparty.md"
MARK = "<!-- what follows is written by tests/thirdparty/survey.py -->\n"
SECONDS = 120
LONGEST = 160
FORKED = multiprocessing.get_context("fork")  # the packages are imported once, before


def by_dycl(case: Case) -> str:
    """The size of the compiled program and the number of different ways that the inputs take."""
    model, inputs = case.build()
    program = dycl.compile(model, copy.deepcopy(inputs[0]))
    paths = set()
    for given in inputs:
        eager = eagerly(model, given)
        trace = program.trace(*copy.deepcopy(given))
        assert_same(eager, trace.outputs, case.tolerance)
        paths.add(tuple(decision.outcome for decision in trace.path.decisions))
    blocks = program.hcfg.blocks.values()
    decisions = sum(isinstance(block.terminator, Branch | Switch) for block in blocks)
    return f"{len(blocks)} / {decisions} / {len(program.hcfg.subnets)} | {len(paths)}"


def by_export(model: nn.Module, inputs: Inputs) -> Callable[..., Any]:
    """The model as `torch.export` has it."""
    exported: Callable[..., Any] = torch.export.export(model, copy.deepcopy(inputs[0])).module()
    return exported


def by_compile(model: nn.Module, inputs: Inputs) -> Callable[..., Any]:
    """The model as `torch.compile` has it, in one graph; its graph is run as it is, without code generation."""
    compiled: Callable[..., Any] = torch.compile(model, fullgraph=True, backend="eager")
    compiled(*copy.deepcopy(inputs[0]))
    return compiled


def by_script(model: nn.Module, inputs: Inputs) -> Callable[..., Any]:
    """The model as `torch.jit.script` has it."""
    scripted: Callable[..., Any] = torch.jit.script(model)
    return scripted


PEERS = {"torch.export": by_export, "torch.compile": by_compile, "torch.jit.script": by_script}
SUCCESS = {"torch.export": "exports", "torch.compile": "compiles", "torch.jit.script": "scripts"}


def eagerly(model: nn.Module, given: tuple[Any, ...]) -> Any:
    """What the model returns in eager PyTorch."""
    with torch.no_grad():
        return model(*copy.deepcopy(given))


def by_peer(peer: str, case: Case) -> str:
    """What a compiler of PyTorch's own says to the model, and on how many inputs its result is wrong."""
    model, inputs = case.build()
    again, _ = case.build()  # for models with state: the peer changes the one, eager PyTorch the other
    with torch.no_grad():
        try:
            compiled = PEERS[peer](model, inputs)
        except Exception as error:
            return said(error)
    if peer == "torch.compile":
        eagerly(again, inputs[0])
    wrong = 0
    for given in inputs:
        expected = eagerly(again, given)
        try:
            with torch.no_grad():
                assert_same(expected, compiled(*copy.deepcopy(given)), case.tolerance)
        except Exception:  # an input on which the compiled model fails is one that it gets wrong
            wrong += 1
    return SUCCESS[peer] + (f", but is wrong on {wrong} of {INPUTS} inputs" if wrong else "")


def said(error: Exception) -> str:
    """An error's kind and the first line of what it says, fit for a cell of a table."""
    text = re.sub(r" at 0x[0-9a-f]+", "", str(error))
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(first) > LONGEST:
        first = first[:LONGEST].rsplit(" ", 1)[0] + " ..."
    return f"{type(error).__name__}: {first}".replace("|", "\\|").replace("<", "&lt;").removesuffix(":")


def ask(tool: str, case: Case) -> str:
    """The answer of a tool to a case, from a process of its own, since some crash and some never end."""
    receiver, sender = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=answer, args=(tool, case, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(SECONDS):
            return f"no answer after {SECONDS} s"
        return str(receiver.recv())
    except EOFError:
        process.join()
        return f"the process ends with code {process.exitcode}"
    finally:
        process.kill()
        process.join()


def answer(tool: str, case: Case, sender: "Connection[str, str]") -> None:
    """Send the answer of a tool to a case."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
    sender.send(by_dycl(case) if tool == "dycl" else by_peer(tool, case))


def tables(known: dict[str, str]) -> str:
    """Both tables, the models with DyCL and the models with the peers, made with one question after the other.

    What is `known` of a model, by the beginning of its row, is not asked again.
    """
    ours = ["| package | model | what it decides | blocks / decisions / sub-DNNs | paths |", "|---|---|---|---|---|"]
    theirs = ["| model | " + " | ".join(f"`{peer}`" for peer in PEERS) + " |", "|---|" + "---|" * len(PEERS)]
    for case in [case for topic in topics() for case in cases_of(topic)]:
        mine = f"| {case.package} {version(case.package)} | {case.model} | {case.decides} | "
        peers = f"| {case.package}: {case.model} | "
        ours.append(known.get(mine) or mine + ask("dycl", case) + " |")
        theirs.append(known.get(peers) or peers + " | ".join(ask(peer, case) for peer in PEERS) + " |")
        print(ours[-1], theirs[-1], sep="\n", flush=True)
    return "\n".join(["## The models", "", *ours, "", "## What PyTorch's own compilers say to them", "", *theirs, ""])


def rows(text: str) -> dict[str, str]:
    """The rows of both tables, each by its beginning: up to what was found out."""
    found = {}
    for row in (line for line in text.splitlines() if line.startswith("| ")):
        cells = row.split(" | ")
        found[" | ".join(cells[: 3 if re.match(r"\d+ / ", (*cells, "", "", "")[3]) else 1]) + " | "] = row
    return found


def main() -> None:
    """Write the tables below the mark; what stands above it stays. With `--new`, only new models are looked at."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    head, _, before = PAGE.read_text().partition(MARK)
    PAGE.write_text(head + MARK + "\n" + tables(rows(before) if "--new" in sys.argv else {}))


if __name__ == "__main__":
    main()
