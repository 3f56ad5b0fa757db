"""Lists of a fixed length whose items are the same tensor in some rounds of a loop and different ones in others."""

import pytest
import torch
from torch import Tensor, nn

import dycl
from tests.comparison import assert_same

_STEPS = torch.tensor([1.0, 2.0, 3.0])


def _same(left: Tensor, right: Tensor) -> bool:
    return left is right


class _Pasts(nn.Module):
    """Each item begins as one tensor twice and, in a round that only the input determines, becomes two."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        pasts = self.pasts(x)
        return torch.stack([past[0] for past in pasts]), torch.stack([past[1] for past in pasts])

    def pasts(self, x: Tensor) -> list[tuple[Tensor, Tensor]]:
        none = torch.zeros(3)
        pasts = [(none, none) for _ in range(3)]
        while x.sum() < 40:
            for place in range(3):
                if x[place] > 5 * (place + 1):
                    pasts[place] = (pasts[place][0] + x, pasts[place][1] * 2 + x)
            x = x + _STEPS
        return pasts


class _Compared(_Pasts):
    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        pasts = self.pasts(x)
        return x * 2 if pasts[0][0] is pasts[0][1] else x


class _ComparedElsewhere(_Pasts):
    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        pasts = self.pasts(x)
        return x * 2 if _same(*pasts[0]) else x


class _Written(_Pasts):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        pasts = self.pasts(x)
        pasts[0][0].add_(1.0)
        return pasts[0][0], pasts[0][1]


def test_they_share_blocks() -> None:
    """Without that there would be as many blocks as there are ways for three items to be one tensor or two."""
    model = _Pasts().eval()
    program = dycl.compile(model, torch.zeros(3))
    assert len(program.hcfg.blocks) < 20
    for x in ([0.0, 0.0, 0.0], [30.0, 0.0, 0.0], [-3.0, 20.0, 0.0], [50.0, 0.0, 0.0]):
        assert_same(model(torch.tensor(x)), program(torch.tensor(x)))


@pytest.mark.parametrize(
    ("model", "identifier"), [(_Compared(), "DY009"), (_ComparedElsewhere(), "DY009"), (_Written(), "DY006")]
)
def test_what_needs_to_know_which_are_the_same_is_refused(model: nn.Module, identifier: str) -> None:
    """The program does not know it any more."""
    with pytest.raises(dycl.CompileError, match=identifier):
        dycl.compile(model.eval(), torch.zeros(3))
