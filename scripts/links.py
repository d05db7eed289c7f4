#!/usr/bin/env python3
"""Checks that every relative link in the documentation leads to a file, and its anchor to a heading."""

import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
files = []
for folder, folders, names in os.walk(root):
    folders[:] = sorted(name for name in folders if name not in {".git", ".venv", "node_modules", "target"})
    files += [pathlib.Path(folder, name).relative_to(root) for name in sorted(names) if name.endswith(".md")]


def anchors(path):
    """The anchors of a page, as they are made of its headings."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


broken = 0
for name in files:
    page = root / name
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if not found.exists():
            print(f"{name}: {target} does not exist")
            broken += 1
        elif anchor and found.suffix == ".md" and anchor not in set(anchors(found)):
            print(f"{name}: {target} has no such heading")
            broken += 1
sys.exit(1 if broken else 0)
