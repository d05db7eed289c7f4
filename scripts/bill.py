"""Checks a bill of materials: `bill.py FILE NAME...`: it fits CycloneDX's schema and lists each NAME once or more."""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

path, *names = sys.argv[1:]
text = Path(path).read_text()
document = json.loads(text)
fault = JsonStrictValidator(SchemaVersion.from_version(document["specVersion"])).validate_str(text)
if fault:
    sys.exit(f"{path}: {fault.data.message}")
found = {component["name"]: component["version"] for component in document["components"]}
missing = [name for name in names if name not in found]
if missing:
    sys.exit(f"{path} does not list {', '.join(missing)}")
listed = ", ".join(f"{name} {found[name]}" for name in names)
print(f"{len(document['components'])} components, among them {listed}")
