"""What the README shows works as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("statistical=0.")


def test_every_command_that_it_names_is_one():
    commands = {tuple(line.split()[:2]) for line in re.findall(r"enso-jax ([a-z][^`\n]*)", README)}
    words = {command[0] for command in commands}
    assert {"grade", "models", "observations"} <= words
    listed = subprocess.run(
        [sys.executable, "-m", "enso_jax", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert all(word in listed for word in words)


@pytest.mark.parametrize("page", [path.name for path in sorted((ROOT / "docs").glob("*.md"))])
def test_it_links_to_every_page(page):
    assert f"docs/{page}" in README


def test_ci_runs_its_test_command():
    script = (ROOT / ".ci" / "run").read_text()
    assert "the test command" in script
    (command,) = re.findall(r"<!-- the test command -->\n```\n(.*)\n```", README)
    assert command.startswith("python3 -m venv .venv && ")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
