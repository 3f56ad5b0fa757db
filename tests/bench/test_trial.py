"""One network measured, and the page that comes of it."""

import copy
import json
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from onnx import TensorProto, helper

from dycl import zoo
from dycl.bench import campaign, plan, results, tables
from dycl.bench.comparing import prediction, relative_error
from dycl.bench.onnx_branches import move_weights
from dycl.bench.settings import Settings
from dycl.bench.ways import DYCL, EAGER, ORACLE, Subject, prepared
from dycl.cli import main
from dycl.latency import summary


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    stages: list[str] = []
    settings = Settings("blockdrop", inputs=20, timed=3, seconds=0.1, patience=3.0)
    weights = tmp_path_factory.mktemp("weights")
    found = campaign.measured(settings, weights, lambda settings, stage, done, total: stages.append(stage))
    assert [file.name for file in weights.iterdir()] == ["blockdrop-small.pt"]
    assert {"weights", DYCL, "comparing", "timing"} <= set(stages)
    return found


def test_a_network_is_measured_whole(record: dict[str, Any]) -> None:
    assert results.agrees(record)
    assert record["compared"]["inputs"] == 20
    assert record["compared"]["paths"] >= 5
    for name in (EAGER, DYCL, ORACLE):
        assert 0 < record["ways"][name]["median"] <= record["ways"][name]["p99"]
    assert record["program"]["artefact"] > record["parameters"] / 2
    assert record["program"]["memory"] < record["program"]["eager_memory"]


def test_what_is_measured_already_is_not_measured_again(record: dict[str, Any], tmp_path: Path) -> None:
    settings = Settings(**record["settings"])
    (tmp_path / f"{settings.label}.json").write_text(json.dumps(record), encoding="utf-8")
    assert campaign.run([settings], tmp_path, lambda *stage: pytest.fail("measured again")) == [record]


def test_the_page_shows_failures_and_losses_like_anything_else(record: dict[str, Any], tmp_path: Path) -> None:
    slow = copy.deepcopy(record)
    slow["ways"][DYCL] |= {"ratio": 0.5, "wrong": 2}
    slow["ways"]["torch.jit.script"] = {"prepared": 0.1, "problem": "RuntimeError: no such thing"}
    page, pictures = results.write([slow], tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "0.50x" in text
    assert "torch.jit.script: RuntimeError: no such thing" in text
    assert "DyCL: another prediction for 2 of 3 inputs" in text
    assert {picture.suffix for picture in pictures} == {".svg", ".png"}
    assert all(picture.stat().st_size > 1000 for picture in pictures)


def test_a_process_that_dies_is_a_result(tmp_path: Path) -> None:
    record = campaign.measured(Settings("no-such-network"), tmp_path, lambda *stage: None)
    assert "exit code 1: ValueError: the zoo has no network 'no-such-network'" in record["failed"]
    assert not results.agrees(record)


def test_a_difference_is_a_disagreement(record: dict[str, Any]) -> None:
    for change in ({"paths_equal": 19}, {"inconsistent": 1}, {"largest_error": 2e-5}):
        other = record | {"compared": record["compared"] | change}
        assert not results.agrees(other)
    wrong = {**record["ways"], DYCL: record["ways"][DYCL] | {"wrong": 1}}
    assert not results.agrees(record | {"ways": wrong})


def test_a_way_that_does_not_get_ready_is_given_up() -> None:
    model = zoo.load("blockdrop")
    subject = Subject(Settings("blockdrop", patience=0.01), model, zoo.inputs("blockdrop", count=2))
    assert prepared(DYCL, subject).problem == "not ready after 0 s"
    subject.settings = Settings("blockdrop")
    assert prepared(ORACLE, subject).problem == "DyCL fails, which finds the paths"
    assert prepared("ONNX If/Loop", subject).problem == "torch.jit.script fails, from which it starts"


def test_all_inputs_are_compared_with_one_number_of_threads() -> None:
    sizes: list[zoo.Size] = ["small", "full"]
    planned = plan.whole(["ranet"], sizes, ["onnxruntime"], [1, 2], inputs=None, seconds=1.0, patience=1.0)
    assert [(settings.size, settings.threads, settings.inputs == settings.timed) for settings in planned] == [
        ("small", 1, False),
        ("full", 1, False),
        ("full", 2, True),
    ]


def test_errors_are_relative_to_the_tensor() -> None:
    eager = (torch.tensor([100.0, 1.0]), 3)
    assert relative_error(eager, (torch.tensor([100.0, 1.1]), 3)) == pytest.approx(1e-3, rel=1e-4)
    assert relative_error(eager, (torch.tensor([100.0, 1.0]), 4)) == float("inf")
    assert relative_error(eager, (torch.tensor([100.0]), 3)) == float("inf")
    assert relative_error(eager, (torch.tensor([100.0, float("nan")]), 3)) == float("inf")
    assert relative_error(eager, (torch.tensor([100.0, 1.0], dtype=torch.float64), 3)) == float("inf")
    broken = torch.tensor([float("nan"), float("inf"), 1.0])
    assert relative_error(broken, broken.clone()) == 0.0
    assert relative_error(broken, broken * torch.tensor([1.0, -1.0, 1.0])) == float("inf")
    assert relative_error(broken, broken * torch.tensor([1.0, 1.0, 1.1])) == pytest.approx(0.1, rel=1e-4)
    assert prediction(eager).item() == 0


def test_ratios_are_taken_input_by_input() -> None:
    figures = summary([[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [2.0, 2.0]])
    assert figures["ratio"] == 2.0
    assert figures["ratio_low"] == pytest.approx(1.2)


def test_a_weight_that_one_branch_uses_moves_into_it() -> None:
    weights = [
        helper.make_tensor(name, TensorProto.FLOAT, [1], [value])
        for name, value in (("a", 1.0), ("b", 2.0), ("c", 3.0))
    ]
    branches = {
        f"{side}_branch": helper.make_graph(
            [helper.make_node("Add", [own, "c"], [f"{side}_y"])],
            side,
            [],
            [helper.make_tensor_value_info(f"{side}_y", TensorProto.FLOAT, [1])],
        )
        for side, own in (("then", "a"), ("else", "b"))
    }
    graph = helper.make_graph(
        [helper.make_node("If", ["flag"], ["y"], **branches)],
        "whole",
        [helper.make_tensor_value_info("flag", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
        weights,
    )
    move_weights(graph)
    assert [weight.name for weight in graph.initializer] == ["c"]
    inner = {item.name: [weight.name for weight in item.g.initializer] for item in graph.node[0].attribute}
    assert inner == {"then_branch": ["a"], "else_branch": ["b"]}
    onnx.checker.check_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))


def test_tables_line_up() -> None:
    assert tables.table(("a", "long"), [("1", "2")]) == "| a | long |\n|---|------|\n| 1 | 2    |"


def test_zoo_lists_its_networks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo"]) == 0
    assert "skipnet-rnn" in capsys.readouterr().out
    assert main(["zoo", "blockdrop", "--inputs", "20"]) == 0
    assert "20 inputs take" in capsys.readouterr().out
    assert main(["zoo", "nothing"]) == 1
    assert main(["bench", "--only", "nothing"]) == 1
    assert "the zoo has no network nothing" in capsys.readouterr().err
