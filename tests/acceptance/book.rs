//! The book: blocks of its pages are run as they stand there, in order, on a real database.
//!
//! A page becomes one script. A block of `sh` is run, one of `sql` goes to psql as the role of the flow that `$FLOW`
//! names, one of `toml` is applied as a definition. Blocks of no language show what is printed. Comments, which no
//! reader of the page sees, say the rest:
//!
//! - `<!-- run COMMANDS -->` runs commands of its own: setup that a page presupposes, assertions on its result.
//! - `<!-- with TEXT -->` before a block of `toml` completes it, `<!-- file NAME -->` makes a file of it instead.
//! - `<!-- shown: REASON -->` before a block says why it is not run.

use std::fmt::Write as _;

use crate::support::program::{run, wed_path};
use crate::support::{Database, repository};

/// Seconds after which a page's script is ended: it hangs.
const PAGE_SECONDS: &str = "1200";

/// Defines what each script begins with: a failure names its page and line, and what was left running ends.
const PREAMBLE: &str = r#"set -euo pipefail
at() { place=$1; printf -- '-- %s\n' "$1" >&2; }
ended() {
  status=$?
  trap - EXIT
  pids=$(jobs -p)
  if [ -n "$pids" ]; then kill $pids 2>/dev/null || true; wait || true; fi
  [ $status -eq 0 ] || echo "failed with $status: $place" >&2
  exit $status
}
trap ended EXIT
psql_of() { psql -XqAt -v ON_ERROR_STOP=1 "$(wed flow url "$1")"; }
"#;

/// Part of a page that becomes part of the script.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    /// A comment's word, and what stands behind it.
    Comment(&'a str, &'a str),
    /// A block's language and text.
    Block(&'a str, &'a str),
}

/// Splits a page into comments and blocks, each with the number of its line.
fn parts(page: &str) -> Vec<(usize, Part<'_>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < page.len() {
        let rest = &page[at..];
        let line = page[..at].matches('\n').count() + 1;
        let (part, length) = if let Some(inner) = rest.strip_prefix("<!--") {
            let inner = &inner[..inner.find("-->").expect("a comment ends")];
            let text = inner.trim_start();
            let word = text.split([' ', '\n', ':']).next().unwrap_or_default();
            let part = Part::Comment(word, text[word.len()..].trim());
            (Some(part), "<!--".len() + inner.len() + "-->".len())
        } else if let Some(inner) = rest.strip_prefix("```") {
            let (language, inner) = inner.split_once('\n').expect("a block");
            let text = &inner[..inner.find("\n```").expect("a block ends") + 1];
            let length = "```".len() + language.len() + 1 + text.len() + "```".len();
            (Some(Part::Block(language, text)), length)
        } else {
            (None, 0)
        };
        found.extend(part.map(|part| (line, part)));
        at += length;
        at += page[at..].find('\n').map_or(page.len() - at, |end| end + 1);
    }
    found
}

/// Makes the script of a page.
fn script_of(name: &str, page: &str) -> String {
    let mut script = PREAMBLE.to_owned();
    let (mut with, mut file, mut shown) = (None, None, false);
    for (line, part) in parts(page) {
        let before = (with.take(), file.take(), std::mem::take(&mut shown));
        let text = match part {
            Part::Comment("run", commands) => format!("{commands}\n"),
            Part::Comment("with", text) => {
                with = Some(text);
                continue;
            }
            Part::Comment("file", name) => {
                file = Some(name);
                continue;
            }
            Part::Comment("shown", reason) => {
                assert!(reason.len() > 10, "{name}:{line}: a reason is missing");
                shown = true;
                continue;
            }
            Part::Comment(..) | Part::Block("", _) => continue,
            Part::Block(..) if before.2 => continue,
            Part::Block("sh", text) => text.to_owned(),
            Part::Block("sql", text) => format!("psql_of \"$FLOW\" <<'SQL'\n{text}SQL\n"),
            Part::Block("toml", text) => match before.1 {
                Some(file) => format!("cat >{file} <<'TOML'\n{text}TOML\n"),
                None => {
                    let begin = before.0.unwrap_or_default();
                    let apply = "wed --quiet flow apply page.toml";
                    format!("cat >page.toml <<'TOML'\n{begin}\n{text}TOML\n{apply}\n")
                }
            },
            Part::Block(language, _) => panic!("{name}:{line}: no way to run {language}"),
        };
        let _ = write!(script, "at {name}:{line}\n{text}");
    }
    script
}

/// Runs the blocks of a page.
#[track_caller]
fn play(name: &str) {
    let page = std::fs::read_to_string(repository(name)).expect("a page");
    let database = Database::new();
    let folder = tempfile::tempdir().expect("a folder");
    let programs = wed_path().parent().expect("a folder").to_owned();
    let mut path = vec![programs];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut shell = std::process::Command::new("timeout");
    shell
        .args([PAGE_SECONDS, "bash", "-c", &script_of(name, &page)])
        .env("PATH", std::env::join_paths(path).expect("a path"))
        .env("DATABASE_URL", database.url())
        .env("WEDFLOW_HOME", folder.path().join("home"))
        // What the SDK is built of is built there already.
        .env("CARGO_TARGET_DIR", repository("sample-transitions/target"))
        .env_remove("WEDFLOW_TENANT")
        .env_remove("WEDFLOW_PERSON")
        .stdin(std::process::Stdio::null())
        .current_dir(folder.path());
    run(&mut shell).done();
}

#[harness::test]
fn the_readme_runs() {
    play("README.md");
}

#[harness::test]
fn the_first_flow_runs() {
    play("docs/guide/first-flow.md");
}

#[harness::test]
fn the_page_of_authoring_runs() {
    play("docs/guide/authoring.md");
}

#[harness::test]
fn the_page_of_constraints_runs() {
    play("docs/guide/constraints.md");
}

#[harness::test]
fn the_page_of_recovery_runs() {
    play("docs/guide/recovery.md");
}

#[harness::test]
fn the_page_of_worklists_runs() {
    play("docs/guide/worklists.md");
}

#[harness::test]
fn comments_and_blocks_of_a_page_are_found() {
    let page = "# A\n<!-- run\nx=1\n-->\n```sh\necho $x\n```\ntext\n<!-- with\na = 1\n-->\n```toml\nb = 2\n```\n\
        <!-- shown: only a picture -->\n```sh\nfalse\n```\n```\nprinted\n```\n";
    let script = script_of("a.md", page);
    let rest = script.strip_prefix(PREAMBLE).expect("the preamble");
    assert_eq!(
        rest,
        "at a.md:2\nx=1\nat a.md:5\necho $x\nat a.md:12\ncat >page.toml <<'TOML'\na = 1\nb = 2\nTOML\n\
         wed --quiet flow apply page.toml\n"
    );
}
