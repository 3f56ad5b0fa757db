"""A pass of your own: `relu(relu(x))` is `relu(x)`.

before                                  after
  %1 = relu(%0)                           %1 = relu(%0)
  %2 = relu(%1)                           out %1
  out %2

    program = dycl.compile(model, args, passes=[ONE_RELU])
"""

from dataclasses import replace

from dycl.hcfg.module import Module, mapped
from dycl.hcfg.subnet import Operation, Ref, SubnetGraph
from dycl.optimize.passes import Pass

RELU = "aten.relu.default"


def one_relu(module: Module) -> Module:
    """The same program without a relu of a relu."""
    subnets = {name: replace(subnet, graph=_simpler(subnet.graph)) for name, subnet in module.subnets.items()}
    return replace(module, subnets=subnets)


def _simpler(graph: SubnetGraph) -> SubnetGraph:
    stands_for: dict[Ref, Ref] = {}
    rectified: set[Ref] = set()
    kept: list[Operation] = []
    for given in graph.operations:
        operation = mapped(given, lambda ref: stands_for.get(ref, ref))
        if operation.target == RELU:
            source, result = operation.arguments["self"], operation.outputs[0]
            assert isinstance(source, Ref) and result is not None
            if source in rectified:
                stands_for[result] = source
                continue
            rectified.add(result)
        kept.append(operation)
    outputs = tuple(stands_for.get(ref, ref) for ref in graph.outputs)
    return replace(graph, operations=tuple(kept), outputs=outputs)


ONE_RELU = Pass("one_relu", "a relu of a relu is the inner one", one_relu)
