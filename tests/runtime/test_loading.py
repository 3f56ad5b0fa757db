"""Programs are saved, loaded, and given to the backend and the number of threads that they ask for."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dycl.runtime import Program, load
from tests.hand_built import gated

ONES = np.ones((2, 3), np.float32)


class TestLoading:
    def test_a_saved_program_runs_the_same(self, tmp_path: Path) -> None:
        program = Program(gated())
        program.save(tmp_path / "model.dycl")
        again = load(tmp_path / "model.dycl")
        assert again.hcfg == program.hcfg
        assert again.artefact.codes == program.artefact.codes
        assert repr(again) == "<Program Gated: 3 blocks, 3 sub-DNNs>"
        np.testing.assert_array_equal(again(ONES), program(ONES))

    def test_threads_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match="threads is 0"):
            Program(gated(), threads=0)

    def test_the_runtime_needs_neither_torch_nor_onnx(self, tmp_path: Path) -> None:
        Program(gated()).save(tmp_path / "model.dycl")
        script = f"""
import sys
sys.modules["torch"] = sys.modules["onnx"] = None
import numpy
import dycl.runtime, dycl.hcfg.text, dycl.hcfg.json_form
program = dycl.runtime.load({str(tmp_path / "model.dycl")!r})
print(program(numpy.ones((2, 3), "float32"))[0].tolist())
"""
        assert run_python(script) == "[1.0, 2.0, 3.0]"

    def test_importing_the_runtime_imports_no_torch(self) -> None:
        script = "import sys, dycl.runtime, dycl.hcfg.text; print({'torch', 'onnx', 'onnxruntime'} & set(sys.modules))"
        assert run_python(script) == "set()"


class TestThreads:
    def test_each_program_has_the_threads_that_it_asks_for(self, tmp_path: Path) -> None:
        Program(gated()).save(tmp_path / "model.dycl")
        script = f"""
import numpy, os
from dycl.runtime import load
def threads():
    return len(os.listdir("/proc/self/task"))
path = {str(tmp_path / "model.dycl")!r}
programs = [load(path)]
before = threads()
for count in (3, 1, 2):
    programs.append(load(path, threads=count))
    print(threads() - before)
    before = threads()
for program in programs:
    print(program(numpy.ones((2, 3), "float32"))[0].tolist())
"""
        sessions = len({(subnet.code, subnet.weights) for subnet in gated().hcfg.subnets.values()})
        assert run_python(script).splitlines() == [
            *(str(sessions * others) for others in (2, 0, 1)),
            *["[1.0, 2.0, 3.0]"] * 4,
        ]

    def test_a_pool_of_somebody_else_is_used(self, tmp_path: Path) -> None:
        Program(gated()).save(tmp_path / "model.dycl")
        script = f"""
import onnxruntime, numpy
from dycl.runtime import load
onnxruntime.set_global_thread_pool_sizes(2, 1)
for threads in (1, 2):
    program = load({str(tmp_path / "model.dycl")!r}, threads=threads)
    print(program(numpy.ones((2, 3), "float32"))[0].tolist())
"""
        assert run_python(script).splitlines() == ["[1.0, 2.0, 3.0]"] * 2


def run_python(script: str) -> str:
    """What a fresh Python prints; it has nothing to complain of."""
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")
    return completed.stdout.strip()
