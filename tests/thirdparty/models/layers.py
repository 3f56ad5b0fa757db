"""Layers that look for a support, or for room at an expert."""

import entmax
import torch
from mixture_of_experts import MoE

from tests.thirdparty.case import INPUTS, case


@case(
    "entmax", "Sparsemax, Entmax15 with a partial sort", decides="whether the support needs a longer sort, row by row"
)
def sparse_attention():
    layers = torch.nn.Sequential(entmax.Sparsemax(dim=-1, k=2), entmax.Entmax15(dim=-1, k=2))
    return layers, [(torch.randn(3, 8) * (4.0 / (1 + index)),) for index in range(INPUTS)]


@case("mixture-of-experts", "MoE", decides="whether an expert has room for a token", paths=1)
def capacity_experts():
    experts = MoE(dim=16, num_experts=4, hidden_dim=32, second_policy_eval="none")
    return experts, [(torch.randn(1, 8, 16),) for _ in range(INPUTS)]
