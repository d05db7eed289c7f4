//! The pictures of the docs: each is taken from the running product by a test, and shown on a page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::browser::driver;
use crate::support::database::{one_lane, sample_component};
use crate::support::program::{run, wed};
use crate::support::{Database, on, repository};

/// Variable with which the pictures of the docs are taken anew (`make pictures`).
const WRITE: &str = "WEDFLOW_WRITE_PICTURES";
/// Folder of the pictures.
const FOLDER: &str = "docs/pictures";
/// Drawings that no page of the product is: a diagram, and what benchmarks draw (`make bench`, `make soak`).
const DRAWINGS: [&str; 3] = ["flow.svg", "growth.svg", "soak.svg"];
/// Most bytes of a picture.
const BYTES_MAX: usize = 150_000;
/// Fewest bytes of a picture that shows something: one colour alone takes less.
const BYTES_MIN: usize = 5_000;
/// Fewest pixels of its width and of its height.
const PIXELS_MIN: u32 = 300;

/// Folder in which a test takes pictures: that of the docs, or one that is thrown away.
pub(crate) struct Docs {
    thrown_away: tempfile::TempDir,
    is_written: bool,
}

impl Docs {
    pub(crate) fn new() -> Self {
        Docs { thrown_away: tempfile::tempdir().expect("a folder"), is_written: std::env::var_os(WRITE).is_some() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        match self.is_written {
            true => repository(FOLDER),
            false => self.thrown_away.path().to_owned(),
        }
    }

    /// Holds that these pictures were taken, and that each shows something.
    #[track_caller]
    pub(crate) fn hold(&self, names: &[&str]) {
        for name in names {
            let path = self.path().join(format!("{name}.png"));
            let bytes = std::fs::read(&path).unwrap_or_default();
            assert!(bytes.starts_with(b"\x89PNG"), "{name} was not taken");
            assert!((BYTES_MIN..BYTES_MAX).contains(&bytes.len()), "{name}: {} bytes", bytes.len());
            let pixels = |at: usize| bytes[at..at + 4].iter().fold(0, |sum, byte| (sum << 8) | u32::from(*byte));
            // Width and height begin the first chunk.
            assert!(pixels(16) >= PIXELS_MIN && pixels(20) >= PIXELS_MIN, "{name} is too small");
        }
    }
}

/// Takes a picture of a terminal's screen, whose colours are escape sequences.
pub(crate) fn picture_of_terminal(screen: &str, name: &str) {
    let docs = Docs::new();
    let asked = json!({ "screen": screen, "docs": docs.path(), "name": name });
    run(Command::new("node").arg(driver("terminal.mjs")).arg(asked.to_string())).done();
    docs.hold(&[name]);
}

/// Files below a folder whose names end so.
fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("text")
}

/// Names of the pictures that tests take: of a browser's page, of a terminal, of a flow.
fn taken() -> BTreeSet<String> {
    let mut names = BTreeSet::from(["flow-picture.svg".to_owned()]);
    for entry in std::fs::read_dir(repository("tests/browser")).expect("the drivers") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "mjs") {
            for rest in read(&path).split("asked.docs, '").skip(1) {
                names.extend(rest.split('\'').next().map(|name| format!("{name}.png")));
            }
        }
    }
    let mut tests = Vec::new();
    files(&repository("tests/acceptance"), ".rs", &mut tests);
    tests.retain(|path| !path.ends_with("pictures.rs"));
    for text in tests.iter().map(|path| read(path)) {
        let calls = text.split("picture_of_terminal(").skip(1);
        names.extend(calls.filter_map(|rest| Some(format!("{}.png", rest.split('"').nth(1)?))));
    }
    names
}

#[harness::test]
fn every_picture_of_the_docs_is_taken_by_a_test_and_shown() {
    let mut pages = Vec::new();
    files(&repository("docs"), ".md", &mut pages);
    pages.push(repository("README.md"));
    let mut shown = BTreeSet::new();
    for text in pages.iter().map(|path| read(path)) {
        for rest in text.split("pictures/").skip(1) {
            let name = rest.split([')', '`', ' ', '\n']).next().unwrap_or_default();
            shown.insert(name.to_owned());
        }
    }
    let mut there = Vec::new();
    files(&repository(FOLDER), "", &mut there);
    let there: BTreeSet<String> = there
        .iter()
        .map(|path| {
            let bytes = std::fs::metadata(path).expect("a file").len();
            assert!(bytes < BYTES_MAX as u64, "{}: {bytes} bytes", path.display());
            path.file_name().expect("a name").to_string_lossy().into_owned()
        })
        .collect();
    let mut made = taken();
    made.extend(DRAWINGS.map(str::to_owned));
    assert_eq!(there, made, "pictures that are there, and that tests take (`make pictures`)");
    assert_eq!(there, shown, "pictures that are there, and that pages show");
}

#[harness::test]
fn picture_of_a_flow_in_the_docs_is_the_samples() {
    let database = Database::new();
    let is_written = std::env::var_os(WRITE).is_some();
    if is_written {
        database.upload("book_sale", sample_component("book-sale"));
    }
    let flow = database.apply(&repository("sample-transitions/book-sale/flow.toml"));
    if is_written {
        let host = database.host(one_lane("host"));
        for number in 0..30 {
            let quantity = [2, 12, 1][number % 3];
            let made = format!("INSERT INTO wed_flow (quantity) VALUES ({quantity}) RETURNING wid");
            let wid = flow.session().number(&made);
            flow.end_of(wid);
        }
        on(host.stop());
    }
    let drawn = run(wed(&database.url()).args(["flow", "graph", &flow.name])).done().out;
    let file = repository(FOLDER).join("flow-picture.svg");
    if is_written {
        std::fs::write(&file, &drawn).expect("written");
    }
    let names = |drawing: &str| -> BTreeSet<String> {
        let names = drawing.split("<text class=\"name\"").skip(1);
        let names = names.filter_map(|rest| rest.split('>').nth(1)?.split('<').next().map(str::to_owned));
        names.collect()
    };
    assert_eq!(names(&drawn).len(), 12, "{drawn}");
    assert_eq!(names(&drawn), names(&read(&file)), "`make pictures` takes it anew");
}
