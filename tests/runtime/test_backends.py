"""Backends are found by name, see every code once before anything runs, and get sub-DNNs to open."""

import dataclasses
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from dycl.runtime import (
    Artefact,
    ArtefactError,
    Backend,
    CompiledSubnet,
    Program,
    SubnetSignature,
    load,
    register_backend,
)
from dycl.runtime.backend_registry import find_backend
from dycl.runtime.onnxruntime.backend import OnnxRuntimeBackend
from dycl.runtime.onnxruntime.engine import OnnxRuntimeEngine
from tests.hand_built import gated, routed

ONES = np.ones((2, 3), np.float32)


class WatchedBackend:
    """A backend as another package would bring it: ONNX Runtime, with an eye on what is asked of it."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.checked: list[bytes] = []

    def check(self, code: bytes, signature: SubnetSignature) -> None:
        self.events.append("check")
        self.checked.append(code)
        OnnxRuntimeBackend().check(code, signature)

    def open(self, subnets: Sequence[CompiledSubnet], threads: int) -> OnnxRuntimeEngine:
        self.events.append("open " + " ".join(subnet.id for subnet in subnets))
        return OnnxRuntimeBackend().open(subnets, threads)


third_party = WatchedBackend()


def for_backend(artefact: Artefact, *names: str) -> Artefact:
    """The artefact with its sub-DNNs dealt out to backends of these names."""
    subnets = {
        key: dataclasses.replace(subnet, backend=names[index % len(names)])
        for index, (key, subnet) in enumerate(artefact.hcfg.subnets.items())
    }
    return dataclasses.replace(artefact, hcfg=dataclasses.replace(artefact.hcfg, subnets=subnets))


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> WatchedBackend:
    """A registered backend of the name `watched`."""
    backend = WatchedBackend()
    monkeypatch.setitem(_registered(), "watched", backend)
    return backend


def _registered() -> dict[str, Backend]:
    from dycl.runtime import backend_registry

    return backend_registry._registered


class TestFinding:
    def test_a_backend_that_is_not_installed(self) -> None:
        with pytest.raises(ArtefactError, match="for the backend 'tensorrt', which is not installed") as caught:
            Program(for_backend(gated(), "onnxruntime", "tensorrt"))
        assert caught.value.identifier == "DY102"

    def test_onnx_runtime_that_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "dycl.runtime.onnxruntime.engine")
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(ArtefactError, match="for the backend 'onnxruntime', which is not installed") as caught:
            Program(gated())
        assert caught.value.identifier == "DY102"

    def test_a_program_without_sub_dnns_needs_no_backend(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dycl.runtime.backend_registry._registered", {})
        assert Program(routed())(0, True, 1.5, 2.5) == [1.5]

    def test_an_entry_point_of_another_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        installed = [
            EntryPoint("other", "tests.runtime.test_backends:third_party", "dycl.backends"),
            EntryPoint("broken", "tests.runtime.test_backends:ONES", "dycl.backends"),
        ]
        monkeypatch.setattr("dycl.runtime.backend_registry.entry_points", lambda group: installed)
        program = Program(for_backend(gated(), "other"))
        np.testing.assert_array_equal(program(ONES), [[1, 2, 3], [1, 2, 3]])
        with pytest.raises(TypeError, match="is not a backend"):
            Program(for_backend(gated(), "broken"))

    def test_a_backend_of_this_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dycl.runtime.backend_registry._registered", dict(_registered()))
        backend = WatchedBackend()
        register_backend("mine", backend)
        register_backend("mine", backend)
        assert find_backend("mine") is backend
        np.testing.assert_array_equal(Program(for_backend(gated(), "mine"))(ONES), [[1, 2, 3], [1, 2, 3]])

    def test_a_name_belongs_to_one_backend(self) -> None:
        with pytest.raises(ValueError, match="another backend is registered as 'onnxruntime'"):
            register_backend("onnxruntime", WatchedBackend())
        with pytest.raises(ValueError, match="a backend cannot be called 'My Backend'"):
            register_backend("My Backend", WatchedBackend())
        with pytest.raises(TypeError, match="does not have the methods of dycl"):
            register_backend("mine", ONES)  # type: ignore[arg-type]

    def test_of_many_threads_one_registers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dycl.runtime.backend_registry._registered", {})

        def register(backend: WatchedBackend) -> bool:
            try:
                register_backend("raced", backend)
            except ValueError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(register, [WatchedBackend() for _ in range(100)])) == 1


class TestChecking:
    def test_each_code_is_checked_once_before_one_is_opened(self, watched: WatchedBackend, tmp_path: Path) -> None:
        artefact = for_backend(gated(), "watched")
        twin = dataclasses.replace(artefact.hcfg.subnets["net1"], id="twin")
        hcfg = dataclasses.replace(artefact.hcfg, subnets={**artefact.hcfg.subnets, "twin": twin})
        program = Program(dataclasses.replace(artefact, hcfg=hcfg))
        assert watched.events == ["check"] * 3 + ["open net0 net1 net2 twin"]
        assert sorted(watched.checked) == sorted(artefact.codes.values())
        program.save(tmp_path / "model.dycl")
        watched.events.clear()
        load(tmp_path / "model.dycl")
        assert watched.events == ["check"] * 3 + ["open net0 net1 net2 twin"]

    def test_nothing_is_opened_if_any_backend_refuses_a_code(self, watched: WatchedBackend) -> None:
        artefact = for_backend(gated(), "watched", "onnxruntime")
        subnet = artefact.hcfg.subnets["net1"]
        broken = dataclasses.replace(artefact, codes={**artefact.codes, subnet.code: b"not ONNX"})
        with pytest.raises(ArtefactError, match="the ONNX code of a sub-DNN"):
            Program(broken)
        assert "open" not in " ".join(watched.events)
