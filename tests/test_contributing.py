"""CONTRIBUTING.md names every folder and every target of make."""

import re

from tests.house import ROOT, modules

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_folder_has_a_row() -> None:
    folders = {path.parent.relative_to(ROOT) for package in ("dycl", "tests") for path in modules(package).values()}
    # What is deeper belongs to the folder above it.
    deep = {folder for folder in folders if len(folder.parts) == 2}
    layers = {folder for folder in folders if len(folder.parts) == 3 and folder.parts[:2] == ("dycl", "rewrite")}
    expected = {str(folder) for folder in deep | layers} | {"bench", "docs", "examples", "tests"}
    assert set(re.findall(r"^\| `([a-z_/]+)` \|", PAGE, re.MULTILINE)) == expected


def test_every_target_is_listed() -> None:
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    listed = re.findall(r"^\| ((?:`make [a-z-]+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    assert {name for row in listed for name in re.findall(r"`make ([a-z-]+)`", row)} == set(phony[1].split())


def test_help_tells_of_every_target() -> None:
    told = re.findall(r'@echo "make ([a-z-]+) ', MAKEFILE)
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    assert {"help", *told} == set(targets)


def test_paths_that_it_names_are_there() -> None:
    named = {
        name for name in re.findall(r"`((?:dycl|tests|bench|docs|examples)/[\w/.]+)`", PAGE) if "DY016" not in name
    }
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
