"""What runs artefacts does not load PyTorch."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["dycl", "dycl.runtime", "dycl.hcfg", "dycl.hcfg.text", "dycl.cli"])
def test_importing_loads_no_compiler(module: str) -> None:
    code = f"import {module}, sys; print([name for name in ('torch', 'onnx', 'sklearn') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
