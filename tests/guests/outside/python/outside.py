"""The guest that reaches outside, in Python; what each transition must do is in ../BEHAVIOURS.md."""

import wedflow
from wedflow import fetch, files, http, transition

wedflow.component("outside")


def text(name):
    content = files.read(name)
    return "-" if content is None else content.decode()


@transition(name="files", writes={"a_text": str})
def of_the_instance():
    absent = text("absent")
    files.write("log", "a")
    files.append("log", "ü")
    log, before = text("log"), text("before")
    removed = f"{files.remove('before')} {files.remove('before')}".lower()
    sizes = ",".join(f"{name}={size}" for name, size in files.all().items())
    try:
        files.write("../x", "")
        kind = "another"
    except files.FileError as refused:
        kind = refused.kind
    return {"a_text": "|".join([absent, log, before, removed, sizes, kind])}


@transition(writes={"a_text": str})
def files_unhandled():
    files.write("x", "")
    return {"a_text": "written"}


@transition(name="http", writes={"a_text": str})
def to_named_hosts():
    response = fetch(
        "https://pay.example/charge",
        method="POST",
        headers={"authorization": http.Secret("api_key", "Bearer "), "idempotency-key": http.key()},
        body="ü",
    )
    try:
        fetch("https://pay.example/slow")
        kind = "another"
    except http.FetchError as refused:
        kind = refused.kind
    parts = [response.status, response.header("receipt"), response.header("absent") or "-", response.text, http.key(), kind]
    return {"a_text": "|".join(map(str, parts))}


@transition(writes={"a_text": str})
def http_unhandled():
    return {"a_text": fetch("https://pay.example/").text}
