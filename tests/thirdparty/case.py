"""A case: a model from a package, how to build it small with seeded weights, and the inputs to compare it on."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

INPUTS = 20

Inputs = list[tuple[Any, ...]]
Build = Callable[[], tuple[nn.Module, Inputs]]


@dataclass(frozen=True, slots=True)
class Case:
    """What is compared: `build` gives the model and its inputs, `decides` says what the input determines."""

    name: str
    package: str
    model: str
    decides: str
    build: Build
    paths: int
    tolerance: float

    def __str__(self) -> str:
        return self.name


def case(package: str, model: str, *, decides: str, paths: int = 2, tolerance: float = 1e-5) -> Callable[[Build], Case]:
    """Makes a case of a function that builds a model. The inputs must take at least `paths` different ways."""

    def make(build: Build) -> Case:
        topic = build.__module__.rpartition(".")[2]
        return Case(f"{topic}.{build.__name__}", package, model, decides, seeded(build), paths, tolerance)

    return make


def seeded(build: Build) -> Build:
    """The same model and the same inputs at each call, whatever was drawn before."""

    def build_alike() -> tuple[nn.Module, Inputs]:
        torch.manual_seed(0)
        model, inputs = build()
        assert len(inputs) == INPUTS
        return model.eval(), inputs

    return build_alike


def topics() -> list[str]:
    """The modules with cases."""
    return [module.name for module in pkgutil.iter_modules(importlib.import_module("tests.thirdparty.models").__path__)]


def cases_of(topic: str) -> list[Case]:
    """The cases of one module, in its order."""
    module = importlib.import_module(f"tests.thirdparty.models.{topic}")
    return [value for value in vars(module).values() if isinstance(value, Case)]
