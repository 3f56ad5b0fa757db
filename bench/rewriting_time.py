"""How rewriting time grows with the number of decisions: 200 against 2,000 gates.

.venv/bin/python -m bench.rewriting_time
"""

import torch

import dycl
from tests.programs.networks import SmallGates


def rewriting_seconds(gates: int) -> float:
    """How long rewriting a net with this many gates takes."""
    torch.manual_seed(0)
    return dycl.compile(SmallGates(gates).eval(), (torch.randn(1, 8),)).timings["rewrite"]


def main() -> None:
    """Print both times, the smaller as the least of three, and their ratio."""
    rewriting_seconds(10)
    few = min(rewriting_seconds(200) for _ in range(3))
    many = rewriting_seconds(2000)
    print(f"200 decisions   {few:6.2f} s\n2,000 decisions {many:6.2f} s\nratio           {many / few:6.2f}")


if __name__ == "__main__":
    main()
