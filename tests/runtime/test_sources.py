"""Artefacts are mapped from files, read from bytes and from open files, and may be larger than 4 GiB."""

import io
import mmap
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dycl.hcfg.types import TensorType
from dycl.runtime import ArtefactError, Program, load
from dycl.runtime.archive import member, pack, unpack
from dycl.runtime.artefact import Artefact, encode, read, write
from dycl.runtime.weight_store import Array
from tests.hand_built import gated
from tests.runtime.sealing import members_of
from tests.runtime.test_artefact import with_weights

ONES = np.ones((2, 3), np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(gated(), tmp_path / "model.dycl")
    return tmp_path / "model.dycl"


def scaled(artefact: Artefact) -> list[float]:
    return [float(number) for number in Program(artefact)(ONES)[0]]


class TestSources:
    def test_every_source_gives_the_same(self, path: Path) -> None:
        data = path.read_bytes()
        with open(path, "rb") as file:
            for source in (str(path), path, data, bytearray(data), memoryview(data), io.BytesIO(data), file):
                assert scaled(read(source)) == [1, 2, 3]
                assert read(data).weights["scale"].ctypes.data % 64 == 0

    def test_an_open_file_is_read_from_where_it_stands_to_its_end(self, path: Path) -> None:
        data = path.read_bytes()
        file = io.BytesIO(b"something else" + data)
        file.seek(14)
        np.testing.assert_array_equal(load(file)(ONES)[0], [1, 2, 3])
        with pytest.raises(ArtefactError, match="this is not a DyCL artefact"):
            load(file)
        with pytest.raises(ArtefactError, match="cut short"):
            load(io.BytesIO(data + b"something else"))

    def test_bytes_may_change_afterwards(self, path: Path) -> None:
        data = bytearray(path.read_bytes())
        program = load(data)
        data[:] = bytes(len(data))
        np.testing.assert_array_equal(program(ONES)[0], [1, 2, 3])

    def test_a_file_of_text_is_refused(self, path: Path) -> None:
        with pytest.raises(TypeError, match="open for reading text"):
            load(io.StringIO("PK"))  # type: ignore[arg-type]

    @pytest.mark.parametrize("data", [b"", b"x", bytes(5000)])
    def test_a_file_that_is_something_else(self, data: bytes, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(data)
        with pytest.raises(ArtefactError, match="this is not a DyCL artefact"):
            load(tmp_path / "file")

    def test_a_pipe_cannot_be_mapped_and_is_read(self, path: Path) -> None:
        reading, writing = os.pipe()
        os.write(writing, path.read_bytes())
        os.close(writing)
        assert scaled(read(f"/dev/fd/{reading}")) == [1, 2, 3]
        os.close(reading)


class TestMapping:
    def test_weights_are_the_files_own_bytes(self, path: Path) -> None:
        weight = read(path).weights["scale"]
        assert not weight.flags.writeable
        view = weight
        while isinstance(view, np.ndarray):
            view = view.base  # type: ignore[assignment]
        assert isinstance(view, memoryview)
        assert isinstance(view.obj, mmap.mmap)

    def test_a_file_may_be_replaced_while_it_is_in_use(self, path: Path) -> None:
        program = load(path)
        other = gated()
        write(Artefact(other.hcfg, {"scale": np.zeros(3, np.float32)}, other.codes, other.producer), path)
        np.testing.assert_array_equal(program(ONES)[0], [1, 2, 3])
        np.testing.assert_array_equal(load(path)(ONES)[0], [0, 0, 0])

    def test_a_program_saves_to_the_file_it_came_from(self, path: Path) -> None:
        before = path.read_bytes()
        load(path).save(path)
        assert path.read_bytes() == before

    def test_a_file_may_be_removed_while_it_is_in_use(self, path: Path) -> None:
        program = load(path)
        path.unlink()
        np.testing.assert_array_equal(program(ONES)[0], [1, 2, 3])


class TestLargeArchives:
    """ZIP64 records, with the limit from which they are used lowered until every field needs them."""

    @pytest.mark.parametrize("limit", [0, 1, 12, 13, 100, 400, 1000, 2000, 10_000, 0xFFFFFFFF])
    def test_other_tools_read_them(self, limit: int, tmp_path: Path) -> None:
        members = members_of(gated())
        file = io.BytesIO()
        pack([member(name, data) for name, data in members.items()], file, limit)
        data = file.getvalue()
        assert {name: bytes(view) for name, view in unpack(data, limit).items()} == members
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None
            assert {name: archive.read(name) for name in archive.namelist()} == members
        (tmp_path / "model.zip").write_bytes(data)
        if shutil.which("unzip") is not None:
            tested = subprocess.run(
                ["unzip", "-t", tmp_path / "model.zip"], capture_output=True, text=True, check=False
            )
            assert (tested.returncode, tested.stderr) == (0, ""), tested.stdout

    @pytest.mark.parametrize("limit", [0, 13, 400, 2000])
    def test_there_is_one_form_only(self, limit: int) -> None:
        file = io.BytesIO()
        pack([member(name, data) for name, data in members_of(gated()).items()], file, limit)
        with pytest.raises(ArtefactError, match="is not in the form that DyCL writes"):
            unpack(file.getvalue())
        with pytest.raises(ArtefactError, match="is not in the form that DyCL writes"):
            unpack(encode(gated()), limit)

    def test_weights_stay_aligned(self) -> None:
        file = io.BytesIO()
        pack([member(name, data) for name, data in members_of(gated()).items()], file, 0)
        data = file.getvalue()
        weights = unpack(data, 0)["weights.bin"]
        assert (data.index(bytes(weights))) % 64 == 0

    @pytest.mark.slow
    def test_an_artefact_of_more_than_4_gib(self, tmp_path: Path) -> None:
        if shutil.disk_usage(tmp_path).free < 10 * 2**30:
            pytest.skip("needs 10 GiB of free disk")
        count = 2**30 + 100
        large: Array = np.zeros(count, np.float32)
        large[-1] = 7
        small: Array = np.ones(3, np.float32)
        weights = {"large": (TensorType("float32", (count,)), large), "small": (TensorType("float32", (3,)), small)}
        path = tmp_path / "large.dycl"
        write(with_weights(weights), path)
        assert path.stat().st_size > 2**32
        again = read(path)
        assert again.weights["large"].shape == (count,)
        assert again.weights["large"][-1] == 7
        np.testing.assert_array_equal(again.weights["small"], small)
        with zipfile.ZipFile(path) as archive:
            assert archive.getinfo("weights.bin").file_size == 4 * count + 12 + 48
            assert archive.read("manifest.json") == b'{"choice":null,"format":4,"left":[],"producer":"dycl tests"}'
        if shutil.which("unzip") is not None:
            listed = subprocess.run(["unzip", "-l", path], capture_output=True, text=True, check=True)
            assert "weights.bin" in listed.stdout
        path.unlink()
