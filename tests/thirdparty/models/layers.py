"""Layers that look for a support, or for room at an expert."""

import entmax
import torch
from mixture_of_experts import MoE
from vector_quantize_pytorch import ResidualVQ

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


@case("vector-quantize-pytorch", "ResidualVQ", decides="nothing; keeps whether its codes are set", paths=1)
def residual_codes():
    return ResidualVQ(dim=8, num_quantizers=3, codebook_size=16), [(torch.randn(1, 5, 8),) for _ in range(INPUTS)]
