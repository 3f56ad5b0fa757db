"""Finding the source of running code."""

import os
import subprocess
import sys
from pathlib import Path

WORDS = {f"word{number}" for number in range(40)}
MODEL = f"""
from torch import nn


class Model(nn.Module):
    mode = "word7"

    def forward(self, x):
        if self.mode in {{ {", ".join(map(repr, sorted(WORDS)))} }} and x.sum() > 0:
            return x
        return -x
"""
PROGRAM = "import dycl, model, torch; print(dycl.compile(model.Model().eval(), torch.ones(2))(torch.ones(2)).tolist())"


def test_code_that_another_process_compiled_is_the_same_code(tmp_path: Path) -> None:
    """Python keeps compiled modules in files; a set of texts has the order there that the writing process gave it."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    for seed in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        assert run.stdout.strip() == "[1.0, 1.0]", run.stderr
