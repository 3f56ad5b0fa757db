"""A decoder that writes token by token, from a cache of keys and values for each layer, until it writes the end."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from dycl.zoo.network import Inputs, Size
from dycl.zoo.random_inputs import words
from dycl.zoo.sequences.cached_attention import nothing_yet

END = 2
VOCABULARY = {"small": 100, "full": 8000}
_PROMPT = {"small": 6, "full": 16}


class Decoder(nn.Module):
    """Adds at most `longest` tokens to a prompt.

    A layer takes the tokens' states, their positions and what it keeps of earlier tokens; it gives what it adds to the
    states, and what it keeps from now on.
    """

    def __init__(
        self, layers: Iterable[nn.Module], vocabulary: int, width: int, heads: int, shared_heads: int, longest: int
    ) -> None:
        super().__init__()
        self.longest = longest
        self.shared_heads, self.head_width = shared_heads, width // heads
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(layers)
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, prompt: Tensor) -> tuple[Tensor, Tensor]:
        """The tokens after the prompt, the end among them, and the score of each."""
        pasts = [nothing_yet(self.shared_heads, self.head_width) for _ in self.layers]
        tokens, start = prompt, 0
        written: list[Tensor] = []
        scores: list[Tensor] = []
        for _ in range(self.longest):
            x = self.embedding(tokens)
            positions = torch.arange(start, start + tokens.shape[1])
            for index, layer in enumerate(self.layers):
                added, pasts[index] = layer(x, positions, pasts[index])
                x = x + added
            start += tokens.shape[1]
            score, token = self.head(self.norm(x[:, -1])).max(1)
            written.append(token)
            scores.append(score)
            if token.item() == END:
                break
            tokens = token[None]
        return torch.cat(written), torch.cat(scores)


def draw_prompt(size: Size, generator: torch.Generator) -> Inputs:
    """A prompt of random words."""
    return (words(VOCABULARY[size], _PROMPT[size], _PROMPT[size], generator),)
