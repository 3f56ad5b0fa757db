"""Speech: text whose duration is predicted, and words taken from sound until the sentence ends."""

import torch
from torch import nn
from transformers import (
    FastSpeech2ConformerConfig,
    FastSpeech2ConformerModel,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

from tests.thirdparty.case import INPUTS, case


class Spectrogram(nn.Module):
    """The spectrogram of a text, as long as the model says."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, text):
        out = self.model(text)
        return out.spectrogram, out.duration_outputs


@case("transformers", "FastSpeech2ConformerModel", decides="how long each letter sounds, and so the result")
def fastspeech2():
    config = FastSpeech2ConformerConfig(
        hidden_size=16,
        vocab_size=30,
        num_mel_bins=8,
        encoder_num_attention_heads=2,
        encoder_layers=1,
        encoder_linear_units=32,
        decoder_layers=1,
        decoder_num_attention_heads=2,
        decoder_linear_units=32,
        speech_decoder_postnet_layers=1,
        speech_decoder_postnet_units=16,
        duration_predictor_channels=16,
        energy_predictor_channels=16,
        pitch_predictor_channels=16,
        max_source_positions=500,
    )
    return Spectrogram(FastSpeech2ConformerModel(config)), [(torch.randint(1, 30, (1, 2)),) for _ in range(INPUTS)]


class Transcription(nn.Module):
    """The most likely words, one after the other, with the model's own cache."""

    def __init__(self, model, last_words):
        super().__init__()
        self.model = model
        self.last_words = last_words

    def forward(self, sound):
        heard = self.model.model.encoder(sound)
        words, past, spoken = torch.tensor([[1]]), None, []
        while len(spoken) < 8:
            out = self.model(encoder_outputs=heard, decoder_input_ids=words, past_key_values=past, use_cache=True)
            past = out.past_key_values
            words = out.logits[:, -1:].argmax(-1)
            spoken.append(words.item())
            if spoken[-1] % self.last_words == 0:
                break
        return spoken


@case("transformers", "WhisperForConditionalGeneration, greedy with cache", decides="after how many words it ends")
def whisper_greedy():
    config = WhisperConfig(
        vocab_size=50,
        num_mel_bins=8,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        d_model=16,
        max_source_positions=20,
        max_target_positions=16,
        init_std=0.7,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    model = WhisperForConditionalGeneration(config)
    return Transcription(model, 5), [(torch.randn(1, 8, 40) * 2,) for _ in range(INPUTS)]
