"""The command line: what it prints, and what it says when something is wrong."""

import io
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dycl
from dycl.cli import main
from dycl.cli.leaves import leaves
from dycl.runtime import backend_registry
from dycl.runtime.artefact import Artefact, write
from dycl.terminal import ProgressBar, bar, byte_count, counted, styled
from tests.hand_built import counting_loop, gated, routed
from tests.runtime.sealing import with_code
from tests.runtime.test_backends import for_backend

POSITIVE = np.arange(6, dtype=np.float32).reshape(2, 3)


def saved(artefact: Artefact, folder: Path) -> str:
    path = folder / "model.dycl"
    write(artefact, path)
    return str(path)


def npy(array: Any, folder: Path) -> str:
    path = folder / "input.npy"
    np.save(path, array)
    return str(path)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"dycl {dycl.__version__}\n"


@pytest.mark.parametrize("command", [[], ["demo"], ["inspect"], ["run"]])
def test_help_has_examples_and_fits_a_terminal(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--help"])
    shown = capsys.readouterr().out
    assert "examples:\n  dycl " in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_no_command_is_an_error_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([])
    assert "COMMAND" in capsys.readouterr().err


def test_inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    artefact = saved(gated(), tmp_path)
    assert main(["inspect", artefact]) == 0
    size = byte_count(Path(artefact).stat().st_size)
    lines = capsys.readouterr().out.splitlines()
    codes = byte_count(sum(map(len, gated().codes.values())))
    assert lines == [
        "model      Gated",
        "inputs     x: float32[2, 3]",
        "backend    onnxruntime",
        "producer   dycl tests",
        "blocks     3, 1 decision",
        f"sub-DNNs   3 (3 codes, {codes})",
        "weights    1 (3 numbers, 12 B)",
        f"file       {size}",
    ]


def test_inspect_shows_several_backends_and_which_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", saved(for_backend(gated(), "onnxruntime", "elsewhere"), tmp_path), "--graph"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [
        "backend    elsewhere (1 sub-DNN; not installed, so its codes were not checked)",
        "           onnxruntime (2 sub-DNNs)",
    ]
    assert "net1(float32[2, 3]) with scale on elsewhere -> float32[2, 3]" in lines


def test_inspect_needs_no_sub_dnn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", saved(routed(), tmp_path)]) == 0
    assert "backend    none" in capsys.readouterr().out.splitlines()


def test_inspect_checks_the_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.dycl"
    path.write_bytes(with_code(gated(), gated().hcfg.subnets["net1"].code, b"not ONNX"))
    assert main(["inspect", str(path)]) == 1
    assert capsys.readouterr().err.startswith("error[DY101]: the ONNX code of a sub-DNN ")


def test_inspect_shows_the_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", saved(gated(), tmp_path), "--graph"]) == 0
    assert "branch flag ? b1(copy) : b2(x)" in capsys.readouterr().out


def test_run_prints_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", saved(gated(), tmp_path), "--input", npy(POSITIVE, tmp_path)]) == 0
    assert capsys.readouterr().out == "output: float32[2, 3]\n[[ 0.  2.  6.]\n [ 3.  8. 15.]]\n"


def test_run_shows_the_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", saved(gated(), tmp_path), "--input", npy(POSITIVE, tmp_path), "--trace"]) == 0
    shown = capsys.readouterr().out
    assert "b0 -> b1" in shown
    assert "net.py:14:12: True" in shown


def test_run_takes_numbers_and_gives_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", saved(counting_loop(), tmp_path), "--input", npy(np.array(4), tmp_path)]) == 0
    assert capsys.readouterr().out == "output.0: int64[]\n10\noutput.1: 0\n"


def test_run_writes_its_results_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "results"
    arguments = ["run", saved(gated(), tmp_path), "--input", npy(-POSITIVE, tmp_path), "--output", str(output)]
    assert main(arguments) == 0
    assert capsys.readouterr().out == ""
    with np.load(output, allow_pickle=False) as results:
        assert sorted(results) == ["output.count", "output.row", "output.why"]
        np.testing.assert_array_equal(results["output.row"], POSITIVE)
        assert results["output.count"] == 7


def test_a_wrong_input_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", saved(gated(), tmp_path), "--input", npy(np.zeros(3), tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error[DY103]: x was compiled as float32[2, 3], but float64[3] came\n")


def test_a_missing_input_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", saved(gated(), tmp_path)]) == 1
    assert capsys.readouterr().err == "error: the program takes 1 input (x: float32[2, 3]), 0 came\n"


def test_a_pickle_is_not_an_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pickled = np.array([object()], dtype=object)
    assert main(["run", saved(gated(), tmp_path), "--input", npy(pickled, tmp_path)]) == 1
    assert "is not a .npy file of numbers" in capsys.readouterr().err


def test_an_archive_is_not_an_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "several.npz"
    np.savez(archive, a=POSITIVE)
    assert main(["run", saved(gated(), tmp_path), "--input", str(archive)]) == 1
    assert "holds several arrays" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["inspect", "run"])
def test_a_missing_file_is_named(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "missing.dycl"
    assert main([command, str(missing)]) == 1
    assert capsys.readouterr().err == f"error: {missing}: No such file or directory\n"


@pytest.mark.parametrize("command", ["inspect", "run"])
def test_a_damaged_file_is_refused(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = tmp_path / "damaged.dycl"
    damaged.write_bytes(b"no artefact")
    assert main([command, str(damaged)]) == 1
    assert capsys.readouterr().err.startswith("error[DY101]: ")


def test_threads_are_at_least_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", saved(gated(), tmp_path), "--threads", "0"]) == 1
    assert capsys.readouterr().err == "error: --threads is 0, it must be at least 1\n"


@pytest.mark.parametrize(("module", "package"), [("torch", "torch"), ("sklearn", "scikit-learn")])
def test_the_demo_says_what_to_install(module: str, package: str) -> None:
    code = f"import sys; sys.modules[{module!r}] = None; from dycl.cli import main; sys.exit(main(['demo']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = f"error: the demo needs {package}, which is not installed: pip install 'dycl[demo]'\n"
    assert (done.stdout, done.stderr, done.returncode) == ("", expected, 1)


def test_leaves_are_named_by_their_place() -> None:
    nested = {"a": [1, (2.0, None)], "b": []}
    assert leaves("output", nested) == [
        ("output.a.0", 1),
        ("output.a.1.0", 2.0),
        ("output.a.1.1", None),
        ("output.b", []),
    ]


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (999_960, "1.0 MB"), (2_000_000_000, "2.0 GB")]
)
def test_byte_count(count: int, shown: str) -> None:
    assert byte_count(count) == shown


def test_counted() -> None:
    assert (counted(1, "block"), counted(1200, "block")) == ("1 block", "1,200 blocks")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_are_filled_to_an_eighth() -> None:
    assert [bar(share, 2) for share in (0, 0.25, 0.5, 1, 2)] == ["  ", "▌ ", "█ ", "██", "██"]


def test_progress_shows_on_terminals_only() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        with ProgressBar("training", stream) as progress:
            progress.show(1, 4)
    assert "training" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")
    assert file.getvalue() == ""


def test_colours_show_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert styled("yes", "green", Terminal()) == "\033[32myes\033[0m"
    assert styled("yes", "green", io.StringIO()) == "yes"
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("yes", "green", Terminal()) == "yes"


def test_backends_are_listed_with_versions_and_how_to_get_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(package: str) -> str:
        if package == "ncnn":
            raise PackageNotFoundError
        return "1.2.3"

    monkeypatch.setattr(backend_registry, "version", installed)
    assert main(["backends"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("onnxruntime  1.2.3          all that DyCL compiles")
    assert lines[1].startswith("ncnn         not installed  single precision")
    assert lines[2].strip() == "get it: pip install 'dycl[ncnn]'"
    assert lines[3].startswith("openvino     1.2.3")
    assert lines[4].startswith("tvm          1.2.3")
