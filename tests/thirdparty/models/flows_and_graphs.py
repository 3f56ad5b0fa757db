"""Normalising flows and graph networks."""

import normflows
import torch
import torch_geometric.nn as pyg
from nflows import transforms
from nflows.distributions import StandardNormal
from nflows.flows.base import Flow
from nflows.nn.nets import ResidualNet
from torch import nn

from tests.thirdparty.case import INPUTS, case


class Density(nn.Module):
    """The likelihood of some points, where they go, and where they come from."""

    def __init__(self, transform):
        super().__init__()
        self.flow = Flow(transform, StandardNormal([4]))

    def forward(self, x):
        return self.flow.log_prob(x), self.flow.transform_to_noise(x), self.flow._transform.inverse(x)[0]


@case("nflows", "rational-quadratic coupling", decides="whether points lie outside the splines", tolerance=1e-4)
def spline_flow():  # the inverse of a spline divides differences of nearly equal numbers
    coupling = transforms.PiecewiseRationalQuadraticCouplingTransform(
        torch.tensor([0, 1, 0, 1]), lambda i, o: ResidualNet(i, o, 8), num_bins=4, tails="linear", tail_bound=1.0
    )
    flow = transforms.CompositeTransform([coupling, transforms.ReversePermutation(4), transforms.LULinear(4)])
    return Density(flow), [(torch.randn(1, 4) * (0.1 + 0.2 * index),) for index in range(INPUTS)]


class ResidualInverse(nn.Module):
    """Where points come from under a residual flow, which has no closed form."""

    def __init__(self):
        super().__init__()
        net = normflows.nets.LipschitzMLP([4, 8, 8, 4], init_zeros=False, lipschitz_const=0.9)
        self.flow = normflows.flows.Residual(net, reduce_memory=False)

    def forward(self, x):
        return self.flow.iresblock._inverse_fixed_point(x)


@case("normflows", "Residual", decides="after how many steps the inverse has converged")
def residual_flow():
    return ResidualInverse(), [(torch.randn(5, 4) * (0.1 + 0.3 * index),) for index in range(INPUTS)]


class EdgeContraction(nn.Module):
    """Contract the best edges of a graph."""

    def __init__(self):
        super().__init__()
        self.convolution = pyg.GCNConv(4, 4)
        self.pooling = pyg.EdgePooling(4)

    def forward(self, nodes, edges):
        nodes = self.convolution(nodes, edges).relu()
        nodes, edges, batch, _ = self.pooling(nodes, edges, torch.zeros(nodes.shape[0], dtype=torch.long))
        return nodes, edges, batch


@case(
    "torch-geometric",
    "GCNConv, EdgePooling",
    decides="which edges are contracted, best first, one by one",
)
def edge_pooling():
    return EdgeContraction(), [(torch.randn(5, 4), torch.randint(0, 5, (2, 6))) for _ in range(INPUTS)]


class TopNodes(nn.Module):
    """Keep a graph's best nodes, and what joins them."""

    def __init__(self):
        super().__init__()
        self.convolution = pyg.GCNConv(4, 6)
        self.pooling = pyg.TopKPooling(6, min_score=0.1)

    def forward(self, nodes, edges):
        nodes = self.convolution(nodes, edges).relu()
        batch = torch.zeros(nodes.shape[0], dtype=torch.long)
        nodes, edges, _, batch, kept, scores = self.pooling(nodes, edges, None, batch)
        return pyg.global_mean_pool(nodes, batch), edges, kept, scores


@case("torch-geometric", "GCNConv, TopKPooling", decides="how many nodes and edges are kept", paths=1)
def top_nodes():
    return TopNodes(), [(torch.randn(8, 4), torch.randint(0, 8, (2, 20))) for _ in range(INPUTS)]


class SortedNodes(nn.Module):
    """The most important nodes of each graph in a batch, in order."""

    def __init__(self):
        super().__init__()
        self.convolution = pyg.GCNConv(4, 8)
        self.sort = pyg.aggr.SortAggregation(k=4)

    def forward(self, nodes, edges, batch):
        return self.sort(self.convolution(nodes, edges).relu(), batch)


@case(
    "torch-geometric",
    "GCNConv, SortAggregation",
    decides="how large each graph is",
    paths=1,
)
def sorted_nodes():
    sizes = [1 + index % 6 for index in range(INPUTS)]
    return SortedNodes(), [
        (torch.randn(7, 4), torch.randint(0, 7, (2, 9)), (torch.arange(7) >= size).long()) for size in sizes
    ]
