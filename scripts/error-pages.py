#!/usr/bin/env python3
"""Writes the book's page of each code of an error, from what `wed --json explain` says, read from standard input."""

import json
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
texts = {
    page.relative_to(source): page.read_text()
    for folder in ("guide", "reference", "explanation")
    for page in sorted((source / folder).glob("*.md"))
    if page.name != "errors.md"
}


def linked(text):
    """The same, with links to pages of the reference as the book's errors/ sees them."""
    return re.sub(r"\]\((?!\.\./)([a-z-]+\.md)", r"](../reference/\1", text)


def page_of(told):
    code, meaning, remedy = told["code"], linked(told["meaning"]), linked(told["remedy"])
    lines = [f"# {code}", f"{meaning[0].upper()}{meaning[1:]}."]
    if remedy:
        lines.append(f"**What to do:** {remedy}.")
    lines.append(f"`wed explain {code}` prints the same. All codes: [errors](../reference/errors.md).")
    speaks = re.compile(rf"\b{code}\b")
    pages = [page for page, text in texts.items() if code.startswith("WF") and speaks.search(text)]
    if pages:
        title = lambda page: texts[page].splitlines()[0].lstrip("# ")
        lines.append("Pages that speak of it:")
        lines.append("\n".join(f"- [{title(page)}](../{page})" for page in pages))
    return "\n\n".join(lines) + "\n"


for told in json.load(sys.stdin)["codes"]:
    (source / "errors" / f"{told['code']}.md").write_text(page_of(told))
