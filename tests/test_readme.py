"""The README's example prints what the README says it prints."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    match = re.search(r"```python\n(.*?)```\n.*?```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    example, expected = match.groups()
    (tmp_path / "example.py").write_text(example, encoding="utf-8")
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (expected, "", 0)
