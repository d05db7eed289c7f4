"""Packs a Go module as the module proxy serves it: `go-module.py FOLDER MODULE VERSION OUTPUT.zip`."""

import sys
import zipfile
from pathlib import Path

folder, module, version, output = sys.argv[1:]
with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
    for file in sorted(Path(folder).iterdir()):
        if file.is_file():
            # The same bytes for the same sources: no times of this machine.
            entry = zipfile.ZipInfo(f"{module}@{version}/{file.name}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
