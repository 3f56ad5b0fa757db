"""Programs are saved, loaded, and given to the backend and the number of threads that they ask for."""

import dataclasses
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from dycl.runtime import ArtefactError, Program, load
from dycl.runtime.artefact import Artefact
from dycl.runtime.onnxruntime_backend import OnnxRuntimeBackend, OnnxRuntimeEngine
from tests.hand_built import gated

ONES = np.ones((2, 3), np.float32)


class ThirdPartyBackend:
    """A backend as another package would bring it."""

    def open(self, artefact: Artefact, threads: int) -> OnnxRuntimeEngine:
        return OnnxRuntimeBackend().open(artefact, threads)


third_party = ThirdPartyBackend()


class TestLoading:
    def test_a_saved_program_runs_the_same(self, tmp_path: Path) -> None:
        program = Program(gated())
        program.save(tmp_path / "model.dycl")
        again = load(tmp_path / "model.dycl")
        assert again.hcfg == program.hcfg
        assert again.artefact.codes == program.artefact.codes
        assert repr(again) == "<Program Gated: 3 blocks, 3 sub-DNNs>"
        np.testing.assert_array_equal(again(ONES), program(ONES))

    def test_a_backend_that_is_not_installed(self) -> None:
        with pytest.raises(ArtefactError, match="compiled for the backend 'tvm', which is not installed") as caught:
            Program(dataclasses.replace(gated(), backend="tvm"))
        assert caught.value.identifier == "DY102"

    def test_a_backend_of_a_third_party(self, monkeypatch: pytest.MonkeyPatch) -> None:
        installed = [
            EntryPoint("other", "tests.runtime.test_loading:third_party", "dycl.backends"),
            EntryPoint("broken", "tests.runtime.test_loading:ONES", "dycl.backends"),
        ]
        monkeypatch.setattr("dycl.runtime.backend.entry_points", lambda group: installed)
        program = Program(dataclasses.replace(gated(), backend="other"))
        np.testing.assert_array_equal(program(ONES), [[1, 2, 3], [1, 2, 3]])
        with pytest.raises(TypeError, match="is not a backend"):
            Program(dataclasses.replace(gated(), backend="broken"))

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
