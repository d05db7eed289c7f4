"""Builds a component: ``python -m wedflow.build [PROJECT] [--output FILE]``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent


class BuildError(Exception):
    """Why there is no component, for a person."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m wedflow.build",
        description="Builds the component of a project of transitions.",
        epilog="The module is `module` of [tool.wedflow] in pyproject.toml, else the project's only module.",
    )
    parser.add_argument("project", nargs="?", default=".", type=Path, help="the project's folder, or one .py file")
    parser.add_argument("-o", "--output", type=Path, help="the component's file (default: dist/NAME.wasm in the project)")
    parser.add_argument("-q", "--quiet", action="store_true", help="say only what is wrong")
    arguments = parser.parse_args()
    try:
        output = build(arguments.project, arguments.output)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not arguments.quiet:
        print(f"{output} ({output.stat().st_size / 1e6:.1f} MB)")
    return 0


def build(project: Path, output: Path | None = None) -> Path:
    """Builds a project's component and answers with its file."""
    if not project.exists():
        raise BuildError(f"there is no {project}")
    folder, module = _module(project)
    output = output or folder / "dist" / f"{module}.wasm"
    output.parent.mkdir(parents=True, exist_ok=True)
    check_syntax(_root(folder, module), module)
    with tempfile.TemporaryDirectory(prefix="wedflow-") as temporary:
        entry = Path(temporary, "wedflow_entry.py")
        entry.write_text(
            "from wedflow.bindings import WitWorld, ready\n"
            f"import {module}\n"
            "ready()\n"
        )
        paths = [temporary, *python_paths(folder, module)]
        command = [sys.executable, "-c", "import sys, componentize_py; sys.exit(componentize_py.script())"]
        command += ["--quiet", "--wit-path", str(_contract()), "--world", "transition", "componentize", entry.stem]
        for path in dict.fromkeys(paths):
            command += ["--python-path", path]
        partial = output.with_suffix(".partial")
        command += ["--output", str(partial)]
        environment = isolated_environment(Path(temporary, "environment"))
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        if result.returncode != 0:
            partial.unlink(missing_ok=True)
            raise BuildError(_explained(result.stdout + result.stderr, module))
        partial.replace(output)
    return output


def check_syntax(root: Path, module: str) -> None:
    """Compiles the sources of a module, which takes milliseconds; building it takes many seconds."""
    name = module.partition(".")[0]
    single = root / f"{name}.py"
    for file in [single] if single.is_file() else sorted((root / name).rglob("*.py")):
        try:
            compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            text = "".join(traceback.format_exception_only(error)).strip()
            raise BuildError(f"{module} does not build:\n{text}") from error


def python_paths(folder: Path, module: str) -> list[str]:
    """The folders that a component is made of: the project, the SDK, and what the project's own .venv holds."""
    paths = [str(_root(folder, module)), str(HERE.parent)]
    if Path(sys.prefix).resolve().is_relative_to(folder.resolve()):
        paths.append(sysconfig.get_path("purelib"))
    return paths


def isolated_environment(empty: Path) -> dict[str, str]:
    """An environment in which the builder finds nothing of the machine it runs on: no packages, no hash seed."""
    (empty / "lib" / "site-packages").mkdir(parents=True)
    return {**os.environ, "PYTHONHASHSEED": "0", "VIRTUAL_ENV": str(empty)}


def _module(project: Path) -> tuple[Path, str]:
    """The project's folder and the module with its transitions."""
    if project.is_file():
        return project.resolve().parent, project.stem
    folder = project.resolve()
    settings = {}
    if (folder / "pyproject.toml").is_file():
        settings = tomllib.loads((folder / "pyproject.toml").read_text()).get("tool", {}).get("wedflow", {})
    if module := settings.get("module"):
        return folder, str(module)
    found = [
        path
        for root in (folder, folder / "src")
        for path in sorted(root.glob("*"))
        if (path.suffix == ".py" and not path.stem.startswith(("test_", "conftest", "setup", "noxfile")))
        or (path / "__init__.py").is_file() and path.name != "tests"
    ]
    if len(found) == 1:
        return folder, found[0].stem
    names = ", ".join(path.stem for path in found)
    raise BuildError(
        f"{folder} has {'no module' if not found else f'the modules {names}'}; say which one has the transitions: "
        'in pyproject.toml, [tool.wedflow] module = "…"'
    )


def _root(folder: Path, module: str) -> Path:
    """The folder that the module is imported from."""
    name = module.partition(".")[0]
    for root in (folder, folder / "src"):
        if (root / f"{name}.py").is_file() or (root / name).is_dir():
            return root
    raise BuildError(f"there is no module {module} in {folder} or its src folder")


def _contract() -> Path:
    path = (HERE / "transition.wit").resolve()
    if not path.is_file():
        raise BuildError(f"the contract is missing: {path}")
    return path


def _explained(text: str, module: str) -> str:
    if "No module named 'componentize_py'" in text:
        return "componentize-py is missing. Install it: python -m pip install 'componentize-py==0.25.1'"
    # Of the builder's own report only what Python printed; the rest concerns its machinery.
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("Traceback") or "Traceback (most recent" in line]
    if starts:
        text = "\n".join(lines[starts[-1] :])
        text = text.partition("\n\nCaused by:")[0]
    return f"{module} does not build:\n{text.strip()}"


if __name__ == "__main__":
    sys.exit(main())
