"""An artefact's file gives back the same program, in the same bytes every time."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dycl.hcfg.nodes import Block, Hcfg, Let, Return, Weight
from dycl.hcfg.structure import Items, Slot
from dycl.hcfg.types import DTYPES, TensorType
from dycl.runtime import load
from dycl.runtime.artefact import Artefact, decode, encode, read, write
from dycl.runtime.weight_store import Array, array_dtype
from tests.hand_built import artefact_of, call_of, counting_loop, gated, routed, span


def with_weights(weights: dict[str, tuple[TensorType, Array]]) -> Artefact:
    """A program that returns its weights."""
    steps = tuple(Let(f"v{name}", Weight(name), span(2)) for name in weights)
    values = tuple(f"v{name}" for name in weights)
    structure = Items("list", tuple(Slot(index, "tensor") for index in range(len(weights))))
    block = Block("b0", (), steps, Return(values, structure, span(3)), span(1))
    types = {name: tensor_type for name, (tensor_type, _) in weights.items()}
    hcfg = Hcfg("Weights", call_of(), (), "b0", {"b0": block}, {}, types)
    return artefact_of(hcfg, {}, {name: array for name, (_, array) in weights.items()})


@pytest.mark.parametrize("make", [gated, counting_loop, routed])
def test_encoding_and_decoding_give_the_artefact_back(make: Callable[[], Artefact]) -> None:
    artefact = make()
    data = encode(artefact)
    again = decode(data)
    assert again.hcfg == artefact.hcfg
    assert again.codes == artefact.codes
    assert again.producer == "dycl tests"
    for name, array in artefact.weights.items():
        np.testing.assert_array_equal(again.weights[name], array)
    assert encode(again) == data
    assert encode(make()) == data


def test_the_file_is_a_stored_zip_archive_with_its_digest_at_the_end() -> None:
    data = encode(gated())
    assert data[-64:].decode() == hashlib.sha256(data[:-64]).hexdigest()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert names[:4] == ["manifest.json", "hcfg.json", "weights.json", "weights.bin"]
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {name.rpartition("/")[0] for name in names[4:]} == {"code/onnxruntime"}
        assert archive.read("weights.bin") == np.array([1, 2, 3], "<f4").tobytes()


def test_every_element_type_and_shape_survives_aligned(tmp_path: Path) -> None:
    weights: dict[str, tuple[TensorType, Array]] = {}
    for dtype in DTYPES:
        for shape in ((), (0, 3), (5,), (2, 3)):
            count = int(np.prod(shape))
            array = (np.arange(count) % 2).astype(array_dtype(dtype)).reshape(shape)
            weights[f"{dtype}{len(weights)}"] = (TensorType(dtype, shape), array)
    artefact = with_weights(weights)
    write(artefact, tmp_path / "weights.dycl")
    again = read(tmp_path / "weights.dycl")
    for name, (_, array) in weights.items():
        loaded = again.weights[name]
        assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
        assert loaded.tobytes() == array.tobytes()
        assert not loaded.flags.writeable
        assert array.size == 0 or loaded.ctypes.data % 64 == 0
    results = load(tmp_path / "weights.dycl")()
    assert isinstance(results, list)
    for result, (_, array) in zip(results, weights.values(), strict=True):
        np.testing.assert_array_equal(result, array)


def test_arrays_of_any_layout_are_stored_alike() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    plain = with_weights({"w": (TensorType("float32", (2, 3)), array)})
    swapped = with_weights({"w": (TensorType("float32", (2, 3)), np.asfortranarray(array))})
    assert encode(plain) == encode(swapped)


def test_a_weight_that_is_not_of_its_type_is_not_written() -> None:
    wrong = replace(gated(), weights={"scale": np.zeros(3)})
    with pytest.raises(ValueError, match=r"weight scale is float64\[3\], its type is float32\[3\]"):
        encode(wrong)


def test_codes_that_the_graph_does_not_name_are_not_written() -> None:
    with pytest.raises(ValueError, match="the artefact's codes are not those that its graph uses"):
        encode(replace(gated(), codes={}))
    with pytest.raises(ValueError, match="a code that is not named by its digest"):
        encode(replace(gated(), codes=dict.fromkeys(gated().codes, b"")))


def test_writing_replaces_a_file_at_once_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "model.dycl"
    write(gated(), path)
    write(routed(), path)
    assert read(path).hcfg == routed().hcfg
    assert [file.name for file in tmp_path.iterdir()] == ["model.dycl"]


def test_writing_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.dycl"
    write(gated(), path)

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write(routed(), path)
    assert read(path).hcfg == gated().hcfg
    assert [file.name for file in tmp_path.iterdir()] == ["model.dycl"]
