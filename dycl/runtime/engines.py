"""A program's engine: that of its backend or, where it uses several, one that converts between theirs.

    y = run net1(x)      x is of another class than net1's engine names? it is taken out as an array, and put in

A program of one backend runs on that backend's engine itself and pays nothing for this. In a program of several, what
the host itself brings in (inputs, literals, weights that blocks name) are plain numpy arrays, which any engine takes
when it needs them. A conversion leaves the slots as they are: a value keeps the form in which it was made, so that
identity still tells which values share memory.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from dycl.hcfg.nodes import Subnet, SubnetId
from dycl.hcfg.types import DType
from dycl.runtime.artefact import Artefact
from dycl.runtime.backend import Backend, CompiledSubnet, Engine, SubnetCall, SubnetSignature, Value
from dycl.runtime.backend_registry import find_backend
from dycl.runtime.weight_store import Array, contiguous


def open_engine(artefact: Artefact, threads: int, checks: bool = True) -> Engine:
    """The engine for all of a program's sub-DNNs; ArtefactError unless its backends are here and take its codes.

    Every code is checked before any is opened, if they are to be checked.
    """
    backends = {subnet.backend: find_backend(subnet.backend) for subnet in artefact.hcfg.subnets.values()}
    if checks:
        check_codes(artefact, backends)
    engines: dict[str, Engine] = {}
    for name, backend in backends.items():
        own = [subnet for subnet in artefact.hcfg.subnets.values() if subnet.backend == name]
        engines[name] = backend.open([_compiled(subnet, artefact) for subnet in own], threads)
    match list(engines.values()):
        case []:
            return ArrayEngine()
        case [engine]:
            return engine
        case _:
            return MixedEngine(engines, artefact.hcfg.subnets)


def check_codes(artefact: Artefact, backends: Mapping[str, Backend]) -> None:
    """Nothing; ArtefactError unless every code for one of `backends` passes that one's check, made once a signature."""
    checked = set()
    for subnet in artefact.hcfg.subnets.values():
        demand = (subnet.backend, subnet.code, _signature(subnet, artefact))
        if subnet.backend in backends and demand not in checked:
            backends[subnet.backend].check(artefact.codes[subnet.code], demand[-1])
            checked.add(demand)


def _signature(subnet: Subnet, artefact: Artefact) -> SubnetSignature:
    weights = tuple(artefact.hcfg.weights[weight] for weight in subnet.weights)
    return SubnetSignature(subnet.inputs, subnet.outputs, weights)


def _compiled(subnet: Subnet, artefact: Artefact) -> CompiledSubnet:
    weights = tuple(artefact.weights[weight] for weight in subnet.weights)
    return CompiledSubnet(subnet.id, artefact.codes[subnet.code], _signature(subnet, artefact), weights)


class ArrayEngine:
    """An engine without sub-DNNs, whose values are plain arrays; those that compute on arrays may derive from it."""

    value_types: tuple[type, ...] = (np.ndarray,)

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """Never a call: there are no sub-DNNs."""
        raise NotImplementedError(f"there is no sub-DNN {subnet}")

    def put(self, array: Array, dtype: DType) -> Value:
        """The array itself."""
        return array

    def take(self, value: Value, dtype: DType) -> Array:
        """The array itself."""
        assert isinstance(value, np.ndarray)
        return value

    def number(self, value: Value) -> bool | int | float:
        """The one number that an array holds."""
        assert isinstance(value, np.ndarray)
        number: bool | int | float = value.item()
        return number


class MixedEngine(ArrayEngine):
    """The engines of several backends as one: values of all of them, and arrays, converted where they cross."""

    def __init__(self, engines: Mapping[str, Engine], subnets: Mapping[SubnetId, Subnet]) -> None:
        self._engines = engines
        self._subnets = subnets
        self._owners: dict[type, Engine] = {}
        for engine in (*engines.values(), ArrayEngine()):
            self._owners |= dict.fromkeys(engine.value_types, engine)
        self.value_types = tuple(self._owners)

    def subnet(self, subnet: SubnetId, inputs: Sequence[int]) -> SubnetCall:
        """The call that runs a sub-DNN on the values at `inputs` in the slots, converted as its engine needs them."""
        engine = self._engines[self._subnets[subnet].backend]
        put, own = engine.put, frozenset(engine.value_types)
        call = engine.subnet(subnet, range(len(inputs)))
        dtypes = [tensor_type.dtype for tensor_type in self._subnets[subnet].inputs]
        places = list(zip(inputs, dtypes, strict=True))

        def fitting(value: Value, dtype: DType) -> Value:
            return value if type(value) in own else put(contiguous(self.take(value, dtype)), dtype)

        return lambda slots: call([fitting(slots[position], dtype) for position, dtype in places])

    def take(self, value: Value, dtype: DType) -> Array:
        """The array that a value of any of the engines holds."""
        return self._owner(value).take(value, dtype)

    def number(self, value: Value) -> bool | int | float:
        """The one number that a value of any of the engines holds."""
        return self._owner(value).number(value)

    def _owner(self, value: Value) -> Engine:
        try:
            return self._owners[type(value)]
        except KeyError:
            raise TypeError(f"a sub-DNN gave a {type(value).__name__}, which its engine does not name") from None
