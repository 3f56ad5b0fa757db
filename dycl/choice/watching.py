"""The Python host, which takes note of what each sub-DNN is given when it is first called."""

from collections.abc import Mapping, Sequence

import numpy as np

from dycl.hcfg.nodes import Subnet, SubnetId
from dycl.hcfg.types import DType
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Engine, Slots, SubnetCall, Value
from dycl.runtime.engines import open_engine
from dycl.runtime.executor import Executor
from dycl.runtime.weight_store import Array


class WatchingHost:
    """Runs a program; `met` has the inputs of the sub-DNNs that were called."""

    def __init__(self) -> None:
        self.met: dict[SubnetId, list[Array]] = {}

    def open(self, artefact: Artefact, threads: int) -> Executor:
        """The executor of `artefact`."""
        engine = open_engine(artefact, threads)
        return Executor(artefact, _WatchedEngine(engine, artefact.hcfg.subnets, self.met))


class _WatchedEngine:
    """An engine whose sub-DNNs leave copies of their first inputs."""

    def __init__(self, engine: Engine, subnets: Mapping[SubnetId, Subnet], met: dict[SubnetId, list[Array]]) -> None:
        self._engine, self._subnets, self._met = engine, subnets, met
        self.value_types = engine.value_types

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The engine's own call, which takes note of its inputs."""
        call = self._engine.subnet(subnet, inputs)
        dtypes = [kind.dtype for kind in self._subnets[subnet].inputs]
        places = list(zip(inputs, dtypes, strict=True))

        def watched(slots: Slots) -> Sequence[Value]:
            if subnet not in self._met:
                self._met[subnet] = [np.array(self._engine.take(slots[place], dtype)) for place, dtype in places]
            return call(slots)

        return watched

    def put(self, array: Array, dtype: DType) -> Value:
        """As the engine does."""
        return self._engine.put(array, dtype)

    def take(self, value: Value, dtype: DType) -> Array:
        """As the engine does."""
        return self._engine.take(value, dtype)

    def number(self, value: Value) -> bool | int | float:
        """As the engine does."""
        return self._engine.number(value)
