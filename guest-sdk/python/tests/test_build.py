"""What a build takes, and what it refuses before it begins."""

import sys
import sysconfig
from pathlib import Path

import pytest

from wedflow.build import BuildError, check_syntax, isolated_environment, python_paths


def project(folder: Path, text: str) -> Path:
    (folder / "step.py").write_text(text)
    return folder


def test_a_syntax_error_is_told_with_its_line_before_anything_is_built(tmp_path):
    folder = project(tmp_path, "x = 1\ndef broken(:\n    pass\n")
    with pytest.raises(BuildError) as told:
        check_syntax(folder, "step")
    assert "line 2" in str(told.value) and "^" in str(told.value)
    check_syntax(project(tmp_path, "x = 1\n"), "step")


def test_a_build_takes_the_packages_of_the_projects_own_environment_only(tmp_path, monkeypatch):
    folder = project(tmp_path, "x = 1\n")
    purelib = sysconfig.get_path("purelib")
    assert purelib not in python_paths(folder, "step")
    monkeypatch.setattr(sys, "prefix", str(folder / ".venv"))
    assert purelib in python_paths(folder, "step")


def test_the_builder_finds_an_empty_environment(tmp_path):
    environment = isolated_environment(tmp_path / "empty")
    packages = list(Path(environment["VIRTUAL_ENV"]).rglob("site-packages"))
    assert packages and not list(packages[0].iterdir())
