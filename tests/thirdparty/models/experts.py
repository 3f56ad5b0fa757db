"""Routed experts, each in its own way, and words among which pictures stand."""

import torch
from torch import nn
from transformers import (
    CLIPVisionConfig,
    GraniteMoeConfig,
    GraniteMoeForCausalLM,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    OlmoeConfig,
    OlmoeForCausalLM,
    PhimoeConfig,
    PhimoeForCausalLM,
    SwitchTransformersConfig,
    SwitchTransformersEncoderModel,
)

from tests.thirdparty.case import INPUTS, case
from tests.thirdparty.models.language import SMALL, Logits, prompts


class LastState(nn.Module):
    """An encoder's last hidden state."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, words):
        return self.model(words).last_hidden_state


@case("transformers", "SwitchTransformersEncoderModel", decides="which experts get words, and which are full")
def switch_encoder():
    config = SwitchTransformersConfig(
        vocab_size=100,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        num_experts=4,
        num_sparse_encoder_layers=1,
        expert_capacity=3,
    )
    return LastState(SwitchTransformersEncoderModel(config)), prompts(8)


@case("transformers", "OlmoeForCausalLM, eager experts", decides="which experts a word goes to, one by one")
def olmoe_eager():
    config = OlmoeConfig(**SMALL, num_experts=4, num_experts_per_tok=2, experts_implementation="eager")
    return Logits(OlmoeForCausalLM(config)), prompts(3)


@case("transformers", "PhimoeForCausalLM, eager experts", decides="which experts a word goes to, by a threshold")
def phimoe_eager():
    config = PhimoeConfig(**SMALL, num_local_experts=4, num_experts_per_tok=2, experts_implementation="eager")
    return Logits(PhimoeForCausalLM(config)), prompts(3)


@case("transformers", "GraniteMoeForCausalLM", decides="how many words each expert gets, as a list of lengths", paths=1)
def granite_moe():
    config = GraniteMoeConfig(**SMALL, num_local_experts=4, num_experts_per_tok=2)
    return Logits(GraniteMoeForCausalLM(config)), prompts(4)


class Described(nn.Module):
    """A language model that sees a picture at the places of a special word."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, words, picture):
        return self.model(input_ids=words, pixel_values=picture, use_cache=False).logits


@case("transformers", "LlavaForConditionalGeneration", decides="where the picture stands, and whether it fits", paths=1)
def llava():
    vision = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=8,
        patch_size=4,
        projection_dim=16,
    )
    config = LlavaConfig(
        vision_config=vision, text_config=LlamaConfig(**SMALL), image_token_id=99, vision_feature_layer=-1
    )
    words = [torch.randint(3, 90, (1, 8)) for _ in range(INPUTS)]
    for sentence in words:
        sentence[0, torch.randperm(8)[:4]] = 99
    return Described(LlavaForConditionalGeneration(config)), [(sentence, torch.randn(1, 3, 8, 8)) for sentence in words]
