"""The rules of a well-formed module, checked after every step of the compiler: those of the graph, and inside sub-DNNs.

Inside a sub-DNN every value is defined once and before it is used, every value has a type, and the constants that its
weights are bound to have the types that it expects.
"""

from dycl.hcfg.errors import HcfgError
from dycl.hcfg.module import Module, SubDnn, operands, outline
from dycl.hcfg.nodes import SubnetId
from dycl.hcfg.subnet import Ref, SubnetGraph
from dycl.hcfg.verify import check_type, verify


def verify_module(module: Module, before: Module | None = None) -> None:
    """Nothing if `module` is well formed; otherwise HcfgError with the first rule that it breaks.

    What it has in common with `before`, a module that is well formed, is not looked into again.
    """
    verified = {id(subnet.graph) for subnet in before.subnets.values()} if before is not None else set()
    for name, subnet in module.subnets.items():
        if id(subnet.graph) not in verified:
            _check_graph(subnet.graph, f"sub-DNN {name}")
    verify(outline(module))
    for name, subnet in module.subnets.items():
        _check_weights(name, subnet, module)


def _check_graph(graph: SubnetGraph, place: str) -> None:
    for number, value_type in enumerate(graph.types):
        check_type(value_type, f"value %{number} of {place}")
    defined: set[Ref] = set()
    for ref in (*graph.inputs, *graph.weights):
        _define(ref, defined, graph, place)
    for operation in graph.operations:
        for ref in operands(operation):
            if ref not in defined:
                raise HcfgError(f"{place} uses %{ref.index} in {operation.target} before it is defined")
        for result in operation.outputs:
            if result is not None:
                _define(result, defined, graph, place)
    for ref in graph.outputs:
        if ref not in defined:
            raise HcfgError(f"{place} gives out %{ref.index}, which nothing in it defines")


def _define(ref: Ref, defined: set[Ref], graph: SubnetGraph, place: str) -> None:
    if ref in defined:
        raise HcfgError(f"{place} defines %{ref.index} twice")
    if not 0 <= ref.index < len(graph.types):
        raise HcfgError(f"{place} defines %{ref.index}, which has no type")
    defined.add(ref)


def _check_weights(name: SubnetId, subnet: SubDnn, module: Module) -> None:
    if len(subnet.weights) != len(subnet.graph.weights):
        raise HcfgError(
            f"sub-DNN {name} is bound to {len(subnet.weights)} constants, it takes {len(subnet.graph.weights)}"
        )
    for ref, constant in zip(subnet.graph.weights, subnet.weights, strict=True):
        expected, given = subnet.graph.type_of(ref), module.constants[constant]
        if expected != given:
            raise HcfgError(f"sub-DNN {name} takes {constant} as {expected}, but it is {given}")
