"""Language: greedy decoding with a cache, routed experts, and the best path through a conditional random field."""

import torch
from torch import nn
from torchcrf import CRF
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    DeepseekV3Config,
    DeepseekV3ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    MixtralConfig,
    MixtralForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

from tests.thirdparty.case import INPUTS, case

TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SMALL = {
    "vocab_size": 100,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    **TOKENS,
}


def prompts(length, vocabulary=100):
    return [(torch.randint(3, vocabulary, (1, length)),) for _ in range(INPUTS)]


class GreedyDecoding(nn.Module):
    """Ask for the next word, with the model's own cache, until a word ends the sentence."""

    def __init__(self, model, last_words):
        super().__init__()
        self.model = model
        self.last_words = last_words

    def forward(self, words):
        sentence, past = words, None
        for _ in range(6):
            out = self.model(words, past_key_values=past, use_cache=True)
            past = out.past_key_values
            words = out.logits[:, -1].argmax(-1, keepdim=True)
            sentence = torch.cat([sentence, words], 1)
            if words.item() % self.last_words == 0:
                break
        return sentence


@case("transformers", "GPT2LMHeadModel, greedy with DynamicCache", decides="after how many words the sentence ends")
def gpt2_greedy():
    config = GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=64, **TOKENS)
    return GreedyDecoding(GPT2LMHeadModel(config), 3), prompts(4)


class Generate(nn.Module):
    """The model's own `generate`."""

    def __init__(self, model, **options):
        super().__init__()
        self.model = model
        self.options = options

    def forward(self, words):
        return self.model.generate(words, **self.options)


@case("transformers", "T5ForConditionalGeneration.generate", decides="after how many words the sentence ends")
def t5_generate():
    config = T5Config(
        vocab_size=16,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        initializer_factor=3.0,
    )
    return Generate(T5ForConditionalGeneration(config), max_new_tokens=6, do_sample=False), prompts(4, 16)


class Logits(nn.Module):
    """A language model's logits for every word."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, words):
        return self.model(words, use_cache=False).logits


@case("transformers", "MixtralForCausalLM, eager experts", decides="which experts a word goes to, one by one")
def mixtral_eager():
    config = MixtralConfig(**SMALL, num_local_experts=4, num_experts_per_tok=2, experts_implementation="eager")
    return Logits(MixtralForCausalLM(config)), prompts(4)


@case("transformers", "Qwen3MoeForCausalLM, grouped experts", decides="how many words each expert gets", paths=1)
def qwen3_moe():
    config = Qwen3MoeConfig(
        **SMALL, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, head_dim=8, decoder_sparse_step=1
    )
    return Logits(Qwen3MoeForCausalLM(config)), prompts(8)


@case("transformers", "DeepseekV3ForCausalLM, eager experts", decides="which groups of experts a word goes to")
def deepseek_eager():
    config = DeepseekV3Config(
        **(SMALL | {"num_key_value_heads": 4}),
        n_routed_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        n_shared_experts=1,
        first_k_dense_replace=1,
        kv_lora_rank=16,
        q_lora_rank=16,
        qk_rope_head_dim=8,
        v_head_dim=8,
        qk_nope_head_dim=8,
        n_group=2,
        topk_group=1,
        experts_implementation="eager",
    )
    return Logits(DeepseekV3ForCausalLM(config)), prompts(3)


class Continuation(nn.Module):
    """x-transformers' own greedy `generate`."""

    def __init__(self):
        super().__init__()
        layers = Decoder(dim=32, depth=1, heads=2)
        self.wrapper = AutoregressiveWrapper(TransformerWrapper(num_tokens=16, max_seq_len=32, attn_layers=layers))

    def forward(self, words):
        return self.wrapper.generate(words, 6, eos_token=7, temperature=0.0)


@case("x-transformers", "AutoregressiveWrapper.generate", decides="after how many words the sentence ends")
def continuation():
    return Continuation(), prompts(4, 16)


class BestTags(nn.Module):
    """Viterbi decoding of a conditional random field."""

    def __init__(self):
        super().__init__()
        self.crf = CRF(4, batch_first=True)

    def forward(self, scores, mask):
        return self.crf.decode(scores, mask)


@case("pytorch-crf", "CRF.decode", decides="how long each sentence is, and its tags, as Python lists")
def crf_decode():
    lengths = [torch.tensor([[1 + index % 5], [5 - index % 3]]) for index in range(INPUTS)]
    return BestTags(), [(torch.randn(2, 5, 4), torch.arange(5)[None] < length) for length in lengths]


@case("transformers", "BartForConditionalGeneration.generate", decides="after how many words the sentence ends")
def bart_generate():
    config = BartConfig(
        vocab_size=16,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=32,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
        init_std=1.0,
        **TOKENS,
    )
    model = BartForConditionalGeneration(config)
    return Generate(model, max_new_tokens=5, do_sample=False, num_beams=1), prompts(6, 16)
