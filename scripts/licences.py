#!/usr/bin/env python3
"""Holds every dependency's licence, name and source against deny.toml.

Reads what cargo knows of the workspaces, asks no network. Says nothing and ends with 0 when all is
as it should be.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from license_expression import AND, OR, ExpressionError, get_spdx_licensing

WORKSPACES = [".", "guest-sdk/rust", "sample-transitions", "tests/guests"]

root = Path(__file__).resolve().parent.parent
rules = tomllib.loads((root / "deny.toml").read_text())
allowed = set(rules["licenses"]["allow"])
banned = {entry["crate"]: entry["reason"] for entry in rules["bans"]["deny"]}
registries = set(rules["sources"]["allow-registry"])
licensing = get_spdx_licensing()


def permitted(expression) -> bool:
    """Whether one may choose so that only allowed licences are left."""
    if isinstance(expression, OR):
        return any(permitted(part) for part in expression.args)
    if isinstance(expression, AND):
        return all(permitted(part) for part in expression.args)
    return str(expression) in allowed


def faults(package: dict):
    name = f"{package['name']} {package['version']}"
    if package["source"] is None:
        return
    if package["name"] in banned:
        yield f"{name} is banned: {banned[package['name']]}"
    if package["source"].removeprefix("registry+") not in registries:
        yield f"{name} comes from {package['source']}, which deny.toml does not allow"
    # An old notation for OR.
    text = (package["license"] or "").replace("/", " OR ")
    try:
        good = bool(text) and permitted(licensing.parse(text, validate=True))
    except ExpressionError as error:
        yield f"{name} has a licence that cannot be read: {error}"
        return
    if not good:
        yield f"{name} has the licence {text or 'of no name'!r}, which deny.toml does not allow"


found = set()
count = 0
for workspace in WORKSPACES:
    answer = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", str(root / workspace / "Cargo.toml")],
        stdout=subprocess.PIPE,
        check=True,
    )
    packages = json.loads(answer.stdout)["packages"]
    count += len(packages)
    for package in packages:
        found.update(faults(package))

if found:
    print("\n".join(sorted(found)), file=sys.stderr)
    sys.exit(1)
print(f"{count} packages, all of allowed licences and sources, none banned")
