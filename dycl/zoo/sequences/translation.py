"""Translation by a recurrent encoder and a recurrent decoder that attends to the words of the source sentence.

The decoder reads its own last word and stops when it has written the end.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dycl.zoo.network import Inputs, Network, Size
from dycl.zoo.random_inputs import words
from dycl.zoo.sequences.endings import end_variously, remember

START, END = 1, 2
_VOCABULARY = {"small": 100, "full": 10_000}
_LENGTH = {"small": 10, "full": 30}


class Attention(nn.Module):
    """How much each word of the source sentence matters for the next word."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.of_sources = nn.Linear(2 * hidden, hidden)
        self.of_hidden = nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1)

    def forward(self, sources: Tensor, projected: Tensor, hidden: Tensor) -> Tensor:
        """The source's states (1 x length x 2 hidden), each counted as much as it matters to this hidden state."""
        scores: Tensor = self.score(torch.tanh(projected + self.of_hidden(hidden).unsqueeze(1)))
        return (sources * scores.softmax(1)).sum(1)


class Translator(nn.Module):
    """A bidirectional encoder and a decoder that writes at most `longest` words."""

    def __init__(self, vocabulary: int, embedded: int, hidden: int, longest: int = 200) -> None:
        super().__init__()
        self.longest = longest
        self.source_embedding = nn.Embedding(vocabulary, embedded)
        self.encoder = nn.GRU(embedded, hidden, batch_first=True, bidirectional=True)
        self.first_hidden = nn.Linear(hidden, hidden)
        self.attention = Attention(hidden)
        self.embedding = nn.Embedding(vocabulary, embedded)
        self.decoder = nn.GRUCell(embedded + 2 * hidden, hidden)
        self.before_head = nn.Linear(embedded + 3 * hidden, hidden)
        self.head = nn.Linear(hidden, vocabulary)
        remember(self.decoder, longest)

    def forward(self, sentence: Tensor) -> tuple[Tensor, Tensor]:
        """The words of the translation, the end among them, and the score of each."""
        sources, last = self.encoder(self.source_embedding(sentence))
        projected = self.attention.of_sources(sources)
        hidden = torch.tanh(self.first_hidden(last[1]))
        word = torch.full((1,), START)
        words: list[Tensor] = []
        scores: list[Tensor] = []
        for _ in range(self.longest):
            embedded = self.embedding(word)
            context = self.attention(sources, projected, hidden)
            hidden = self.decoder(torch.cat([embedded, context], 1), hidden)
            logits = self.head(torch.tanh(self.before_head(torch.cat([embedded, context, hidden], 1))))
            score, word = logits.max(1)
            words.append(word)
            scores.append(score)
            if word == END:
                break
        return torch.cat(words), torch.cat(scores)


def _build(size: Size) -> Translator:
    if size == "full":
        return Translator(_VOCABULARY[size], embedded=256, hidden=512)
    return Translator(_VOCABULARY[size], embedded=32, hidden=32)


def _draw(size: Size, generator: torch.Generator) -> Inputs:
    return (words(_VOCABULARY[size], _LENGTH[size], _LENGTH[size], generator),)


def _calibrate(model: Translator, inputs: Sequence[Inputs]) -> None:
    end_variously(model, model.head, END, inputs)


TRANSLATION = Network(
    name="translation",
    title="Translation with attention",
    source="Bahdanau et al. 2015, arXiv:1409.0473",
    decides="after each word whether the sentence is complete",
    build=_build,
    draw=_draw,
    calibrate=_calibrate,
    calibrated_on=32,
)
