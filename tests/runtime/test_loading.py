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
    def test_several_threads_share_one_pool(self, tmp_path: Path) -> None:
        Program(gated()).save(tmp_path / "model.dycl")
        script = f"""
import numpy, os
from dycl.runtime import SettingError, load
path = {str(tmp_path / "model.dycl")!r}
first = load(path)
before = len(os.listdir("/proc/self/task"))
programs = [load(path, threads=3), load(path, threads=3)]
print(len(os.listdir("/proc/self/task")) - before)
for program in (first, *programs):
    print(program(numpy.ones((2, 3), "float32"))[0].tolist())
for threads in (2, 1):
    try:
        load(path, threads=threads)
    except SettingError as error:
        print(error.identifier, error.reason)
"""
        lines = run_python(script).splitlines()
        assert lines == [
            "2",
            *["[1.0, 2.0, 3.0]"] * 3,
            "DY105 2 threads were asked for, but this process already runs ONNX Runtime on 3",
            "DY105 1 threads were asked for, but this process already runs ONNX Runtime on 3",
        ]

    def test_a_pool_of_somebody_else_is_told_apart_from_damage(self, tmp_path: Path) -> None:
        Program(gated()).save(tmp_path / "model.dycl")
        script = f"""
import onnxruntime
from dycl.runtime import SettingError, load
onnxruntime.set_global_thread_pool_sizes(2, 1)
for threads in (1, 2):
    try:
        load({str(tmp_path / "model.dycl")!r}, threads=threads)
    except SettingError as error:
        print(error.identifier, error.reason)
"""
        lines = run_python(script).splitlines()
        assert lines[0] == "DY105 another library made ONNX Runtime's global thread pool in this process"
        assert lines[1].startswith("DY105 ONNX Runtime cannot make a pool of 2 threads")


def run_python(script: str) -> str:
    """What a fresh Python prints."""
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.strip()
