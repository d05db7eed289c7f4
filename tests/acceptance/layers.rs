//! Rules for the source itself: imports that point down, files of a readable length, names that say something.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::repository;

/// Our crates and the layer that each stands on. A crate may import those of lower layers only.
const LAYERS: [(&str, u8); 20] = [
    ("cli", 5),
    ("api", 4),
    ("worker", 3),
    ("authoring", 3),
    ("tenancy", 3),
    ("console", 3),
    ("picture", 2),
    ("client", 2),
    ("store", 2),
    ("sandbox", 2),
    ("documents", 1),
    ("guard", 1),
    ("contract", 1),
    ("process", 1),
    ("scheduler", 1),
    ("embedded-postgres", 1),
    ("capability", 1),
    ("away", 1),
    ("telemetry", 1),
    ("model", 0),
];

/// Crates that know nothing of the others.
const ALONE: [&str; 5] = ["capability", "embedded-postgres", "scheduler", "telemetry", "model"];

/// Libraries that one crate only may use, so that it alone knows what they are like.
const ONE_USER: [(&str, &str); 8] = [
    ("cap-std", "capability"),
    ("layout-rs", "picture"),
    ("tokio-rustls", "capability"),
    ("hyper-rustls", "client"),
    ("sqlx", "store"),
    ("rusqlite", "away"),
    ("wasmtime", "sandbox"),
    ("pg_query", "guard"),
];

/// The most lines that a file may have.
const LONGEST: usize = 1_000;

/// Names that say nothing of what is inside.
const SAY_NOTHING: [&str; 8] = ["utils", "util", "manager", "misc", "common", "helpers", "helper", "managers"];

/// Words that must not be left in the product.
const UNFINISHED: [&str; 3] = ["todo!(", "unimplemented!(", "dbg!("];

/// Returns the dependencies of each of our crates outside its tests, without the prefix `wedflow-`. An optional one
/// counts for the crates that ask for the feature of its name.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let mut crates = BTreeMap::new();
    for folder in std::fs::read_dir(repository("host")).expect("host/") {
        let folder = folder.expect("an entry").path();
        let file = folder.join("Cargo.toml");
        if !file.is_file() {
            continue;
        }
        let manifest: toml::Table = toml::from_str(&text_of(&file)).expect("a manifest");
        let name = manifest["package"]["name"].as_str().expect("its name");
        let name = name.strip_prefix("wedflow-").expect("a crate of ours");
        assert_eq!(folder.file_name().and_then(|n| n.to_str()), Some(name));
        let mut used = Vec::new();
        collect(&manifest, &mut used);
        for table in manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values) {
            collect(table.as_table().expect("a table"), &mut used);
        }
        crates.insert(name.to_owned(), used);
    }
    crates
}

fn collect(manifest: &toml::Table, used: &mut Vec<String>) {
    for section in ["dependencies", "build-dependencies"] {
        for (key, value) in manifest.get(section).and_then(toml::Value::as_table).into_iter().flatten() {
            if value.get("optional").and_then(toml::Value::as_bool) == Some(true) {
                continue;
            }
            // A dependency may go by another name here.
            let features = value.get("features").and_then(toml::Value::as_array);
            if key.starts_with("wedflow-") {
                let features = features.into_iter().flatten();
                used.extend(features.filter_map(toml::Value::as_str).map(str::to_owned));
            }
            let name = value.get("package").and_then(toml::Value::as_str).unwrap_or(key);
            used.push(name.strip_prefix("wedflow-").unwrap_or(name).to_owned());
        }
    }
}

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

#[harness::test]
fn imports_point_down() {
    let crates = dependencies();
    let known: Vec<&str> = crates.keys().map(String::as_str).collect();
    let mut expected: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    expected.sort_unstable();
    assert_eq!(known, expected, "every crate has a layer");
    let mut complaints = Vec::new();
    for (name, used) in &crates {
        let own = layer(name).expect("its layer");
        for (other, its) in used.iter().filter_map(|other| Some((other, layer(other)?))) {
            if its >= own {
                complaints.push(format!("{name} imports {other}, which does not lie below it"));
            }
            if ALONE.contains(&name.as_str()) {
                complaints.push(format!("{name} imports {other}, but it is to stand alone"));
            }
            if other == "embedded-postgres" && name != "cli" {
                complaints.push(format!("{name} imports embedded-postgres, which is only for cli"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[harness::test]
fn each_outside_library_has_one_user() {
    let crates = dependencies();
    for (library, user) in ONE_USER {
        let users: Vec<&str> = crates
            .iter()
            .filter(|(_, used)| used.iter().any(|one| one == library))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(users, [user], "users of {library}");
    }
}

/// Files of `cli` that may use the store: what serves, makes or mends the database itself, opens the door over it, or
/// works in SQL as a program of a flow does. All else asks the API's client.
const STORE_IN_CLI: [&str; 22] = [
    "commands/audit.rs",
    "commands/backup.rs",
    "commands/cluster.rs",
    "commands/context.rs",
    "commands/db.rs",
    "commands/doctor.rs",
    "commands/flow.rs",
    "commands/host.rs",
    "commands/host_clusters.rs",
    "commands/manutencao.rs",
    "commands/moving.rs",
    "commands/operator.rs",
    "commands/replay.rs",
    "commands/requisition.rs",
    "commands.rs",
    "database.rs",
    "directory.rs",
    "door.rs",
    "main.rs",
    "problem.rs",
    "tenant_file.rs",
    "tenant_files.rs",
];

#[harness::test]
fn commands_ask_the_client_and_not_the_store() {
    let folder = repository("host/cli/src");
    let using = sources("host/cli/src", "rs").into_iter().filter(|file| text_of(file).contains("wedflow_store"));
    let using: Vec<String> =
        using.map(|file| file.strip_prefix(&folder).unwrap_or(&file).display().to_string()).collect();
    assert_eq!(using, STORE_IN_CLI, "a command is a client of the API (decision 0059)");
}

/// Returns the modules at the root of a crate's sources, each with the others that it names. Parts of a module count
/// for it; tests do not.
fn module_imports(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for file in sources(folder, "rs") {
        let part = file.strip_prefix(repository(folder)).expect("a part of it");
        let module = part.components().next().expect("a name").as_os_str();
        let module = module.to_str().expect("a name").trim_end_matches(".rs");
        let text = text_of(&file);
        let text = text.split("#[cfg(test)]\nmod tests").next();
        let text = text.and_then(|text| text.split("#[cfg(test)]\npub(crate) mod tests").next());
        let lines = text.into_iter().flat_map(str::lines);
        let code = lines.filter(|line| !line.trim_start().starts_with("//"));
        let all = texts.entry(module.to_owned()).or_default();
        all.extend(code.flat_map(|line| [line, "\n"]));
    }
    let root: String = ["lib", "main"].iter().filter_map(|root| texts.remove(*root)).collect();
    let exported = exports(&root);
    let module_of = |name: &str| match texts.contains_key(name) {
        true => Some(name.to_owned()),
        false => exported.get(name).cloned(),
    };
    let imports = texts.iter().map(|(module, text)| {
        let named = root_names(text).into_iter().filter_map(&module_of);
        (module.clone(), named.filter(|other| other != module).collect())
    });
    imports.collect()
}

/// Returns the names that a crate's root takes from its modules, each with its module.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut exported = BTreeMap::new();
    for statement in root.split(';').filter_map(|text| text.trim().strip_prefix("pub use ")) {
        let mut words = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
        let module = words.next().unwrap_or_default().to_owned();
        let names = words.filter(|word| !word.is_empty());
        exported.extend(names.map(|name| (name.to_owned(), module.clone())));
    }
    exported
}

/// Returns the names that follow `crate::`, alone or in braces.
fn root_names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            found.extend(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
            continue;
        };
        let mut depth = 1;
        let mut begins = true;
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' => begins = true,
                c if c.is_alphabetic() && begins && depth == 1 => {
                    let name = list[at..].split(|c: char| !c.is_alphanumeric() && c != '_');
                    found.extend(name.take(1));
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

/// Leaves the modules that stand in a circle, or between two.
fn circles(mut imports: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        let imported: BTreeSet<String> = imports.values().flatten().cloned().collect();
        let before = imports.len();
        imports.retain(|module, others| !others.is_empty() && imported.contains(module));
        let left: BTreeSet<String> = imports.keys().cloned().collect();
        for others in imports.values_mut() {
            others.retain(|other| left.contains(other));
        }
        if imports.len() == before && imports.values().all(|others| !others.is_empty()) {
            return left.into_iter().collect();
        }
    }
}

#[harness::test]
fn modules_of_a_crate_form_no_circle() {
    let mut found = Vec::new();
    let folders = LAYERS.map(|(name, _)| format!("host/{name}/src"));
    let others = ["bench/src", "guest-sdk/rust/wedflow-guest/src"].map(str::to_owned);
    for name in folders.into_iter().chain(others) {
        let imports = module_imports(&name);
        assert!(!imports.is_empty(), "no module of {name} was found");
        let left = circles(imports.clone());
        if !left.is_empty() {
            let edges = left.iter().map(|module| format!("  {module} -> {:?}", imports[module]));
            found.push(format!("{name}: {left:?}\n{}", edges.collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(
        found.is_empty(),
        "these import each other; move what both need to a module below them:\n{}",
        found.join("\n")
    );
}

#[harness::test]
fn no_source_file_is_too_long() {
    let mut files = sources("host", "rs");
    files.extend(sources("migrations", "sql"));
    files.extend(sources("guest-sdk", "rs"));
    assert!(files.len() > 80, "only {} files found", files.len());
    let long: Vec<String> = files
        .iter()
        .map(|file| (file, text_of(file).lines().count()))
        .filter(|(_, lines)| *lines > LONGEST)
        .map(|(file, lines)| format!("{}: {lines} lines", file.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[harness::test]
fn no_module_is_named_after_nothing() {
    let mut files = sources("host", "rs");
    files.extend(sources("guest-sdk", "rs"));
    let named: Vec<String> = files
        .iter()
        .filter(|file| {
            // `utils.rs`, and `utils/` of a `utils/mod.rs` as well.
            let stem = file.with_extension("");
            stem.strip_prefix(repository(""))
                .unwrap_or(&stem)
                .components()
                .any(|part| SAY_NOTHING.iter().any(|name| part.as_os_str() == *name))
        })
        .map(|file| file.display().to_string())
        .collect();
    assert!(named.is_empty(), "{}", named.join("\n"));
}

#[harness::test]
fn nothing_is_left_to_do_or_to_debug() {
    let mut found = Vec::new();
    for file in sources("host", "rs") {
        if !file.components().any(|part| part.as_os_str() == "src") {
            continue;
        }
        for (number, line) in (1..).zip(text_of(&file).lines()) {
            if UNFINISHED.iter().any(|what| line.contains(what)) {
                found.push(format!("{}:{number}: {}", file.display(), line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Words that no doc comment opens with (docs/style.md).
const NO_OPENERS: [&str; 14] = [
    "What", "Who", "Whose", "Which", "Whether", "How", "It", "Its", "One", "None", "There", "Where", "Nothing",
    "Nobody",
];

/// Maximum lines of a function, of Rust and of SQL: a screen.
const FUNCTION_LINES_MAX: usize = 70;

/// Folders of Rust sources that the rules of docs/style.md hold for.
const STYLED: [&str; 4] = ["bench", "guest-sdk/rust", "host", "tests"];

fn styled_sources() -> Vec<PathBuf> {
    let sources = STYLED.iter().flat_map(|folder| sources(folder, "rs"));
    sources.filter(|path| !generated_by_a_tool(path)).collect()
}

/// Returns true for build output and for projects that tests make from templates.
fn generated_by_a_tool(path: &Path) -> bool {
    let parts = ["node_modules", ".venv", "templates"];
    path.components().any(|part| parts.iter().any(|name| part.as_os_str() == *name))
}

fn relative(path: &Path) -> String {
    let root = repository("");
    path.strip_prefix(&root).unwrap_or(path).display().to_string()
}

/// Returns true when a module above a file declares it: rustc leaves out a file that none declares, with its tests.
fn is_declared(path: &Path) -> bool {
    let name = |path: &Path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        stem.unwrap_or_default().to_owned()
    };
    let folder = path.parent().unwrap_or(path);
    let (folder, module) = match name(path).as_str() {
        "mod" => (folder.parent().unwrap_or(folder), name(folder)),
        other => (folder, other.to_owned()),
    };
    let mut above: Vec<PathBuf> = ["main.rs", "lib.rs", "mod.rs"].map(|root| folder.join(root)).into();
    above.push(folder.with_extension("rs"));
    if folder.ends_with("tests") {
        // Each file there is a crate, and may declare what several share.
        let entries = std::fs::read_dir(folder).expect("a folder");
        above.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    let declares = |line: &str| {
        let line = format!(" {line}");
        let (_, declared) = line.split_once(" mod ")?;
        Some(declared.trim_end_matches([';', '{', ' ']) == module)
    };
    let texts = above.iter().filter(|path| path.is_file());
    texts.map(|path| text_of(path)).any(|text| text.lines().filter_map(declares).any(|is| is))
}

#[harness::test]
fn every_source_file_is_part_of_a_crate() {
    let is_root = |path: &Path| {
        let folder = path.parent().and_then(Path::file_name);
        path.ends_with("build.rs")
            || ["main.rs", "lib.rs"].iter().any(|root| path.ends_with(root))
            || ["tests", "examples", "bin"].iter().any(|one| folder == Some(one.as_ref()))
    };
    let left_out: Vec<String> = styled_sources()
        .iter()
        .filter(|path| !is_root(path) && !is_declared(path))
        .map(|path| relative(path))
        .collect();
    assert!(
        left_out.is_empty(),
        "no module declares these, so that nothing of them is built:\n{}",
        left_out.join("\n")
    );
}

#[harness::test]
fn every_source_file_says_what_it_holds() {
    let silent: Vec<String> =
        styled_sources().iter().filter(|path| !text_of(path).starts_with("//!")).map(|path| relative(path)).collect();
    assert!(silent.is_empty(), "no //! in the first line:\n{}", silent.join("\n"));
}

#[harness::test]
fn doc_comments_open_with_a_noun_or_a_verb() {
    let mut found = Vec::new();
    for path in styled_sources() {
        let text = text_of(&path);
        let mut before = "";
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
            if let Some(mark) = mark
                && !before.starts_with(mark)
                && line[mark.len()..]
                    .trim_start()
                    .split(|c: char| !c.is_alphanumeric())
                    .next()
                    .is_some_and(|word| NO_OPENERS.contains(&word))
            {
                found.push(format!("{}:{number}: {line}", relative(&path)));
            }
            before = line;
        }
    }
    assert!(found.is_empty(), "open these with a noun or a verb:\n{}", found.join("\n"));
}

/// Lists the functions of a Rust file that rustfmt laid out: name and lines, from `fn` to its closing brace.
fn rust_functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<&str> = line.split_whitespace().take_while(|word| !word.starts_with('"')).collect();
        let Some(name) = words.iter().position(|word| *word == "fn").and_then(|at| words.get(at + 1)) else {
            continue;
        };
        if line.trim_start().starts_with("//") || !opens_a_body(&lines[at..]) {
            continue;
        }
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines[at..].iter().position(|line| *line == end || line.ends_with(';') && line.starts_with(&end));
        let name = name.split(['(', '<']).next().unwrap_or_default();
        found.extend(length.map(|length| (name.to_owned(), length + 1)));
    }
    found
}

/// Returns true if the declaration in the first of these lines is followed by a body: a trait's method may have none.
fn opens_a_body(lines: &[&str]) -> bool {
    let end = lines.iter().find(|line| line.ends_with(['{', ';', '}']));
    end.is_some_and(|line| line.ends_with('{'))
}

/// Lists the functions of a SQL file: name and lines, from `CREATE` to the end of the body.
fn sql_functions(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut open: Option<(String, usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        if let Some((name, begin, quote)) = &open {
            if !quote.is_empty() && line.contains(quote.as_str()) {
                found.push((name.clone(), number - begin + 1));
                open = None;
            } else if quote.is_empty()
                && let Some(quote) = dollar_quote(line)
            {
                open = Some((name.clone(), *begin, quote));
            }
            continue;
        }
        let upper = line.to_uppercase();
        let created = ["CREATE OR REPLACE FUNCTION ", "CREATE OR REPLACE PROCEDURE ", "CREATE FUNCTION "]
            .into_iter()
            .find(|words| upper.trim_start().starts_with(words));
        if let Some(words) = created {
            let name = line.trim_start()[words.len()..].split('(').next().unwrap_or_default();
            open = Some((name.to_owned(), number, dollar_quote(line).unwrap_or_default()));
        }
    }
    found
}

/// Returns the first dollar quote of a line, such as `$$` or `$f$`.
fn dollar_quote(line: &str) -> Option<String> {
    let begin = line.find('$')?;
    let end = begin + 1 + line[begin + 1..].find('$')?;
    let tag = &line[begin + 1..end];
    tag.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| line[begin..=end].to_owned())
}

#[harness::test]
fn functions_fit_a_screen() {
    let mut long = Vec::new();
    let rust = styled_sources().into_iter().map(|path| (rust_functions(&text_of(&path)), path));
    let sql = sources("migrations", "sql").into_iter().map(|path| (sql_functions(&text_of(&path)), path));
    for (functions, path) in rust.chain(sql) {
        let over = functions.into_iter().filter(|(_, lines)| *lines > FUNCTION_LINES_MAX);
        long.extend(over.map(|(name, _)| format!("{} {name}", relative(&path))));
    }
    assert!(long.is_empty(), "longer than {FUNCTION_LINES_MAX} lines: {long:#?}");
}

/// The files of a folder of the repository that end so, what was built left out.
pub(crate) fn sources(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![repository(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|end| end == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn text_of(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
