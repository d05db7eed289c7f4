//! The reference pages: generated ones are what the code says, hand-written ones name all that the code has.

mod compatibility;
mod verbs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use wedflow_model::{ERROR_CODES, ErrorCode, Limits, PROBLEM_CODES, VARIABLES};

use crate::support::program::{run, wed};
use crate::support::repository;

/// Set by `make reference`, which writes the generated pages instead of comparing them.
const WRITE: &str = "WEDFLOW_WRITE_REFERENCE";

/// A database that no command here asks for.
const NOWHERE: &str = "postgres://nobody@127.0.0.1:1/nothing";

/// Compares a generated page with the file, or writes it.
fn generated(name: &str, text: &str) {
    let path = repository("docs/reference").join(name);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, text).expect("the page is written");
        return;
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        page == text,
        "docs/reference/{name} is not what the code says (first difference: {differs:?}); `make reference` writes it"
    );
}

#[harness::test]
fn the_page_of_commands_is_what_the_program_prints() {
    let printed = run(wed(NOWHERE).arg("reference")).done();
    generated("commands.md", &printed.out);
}

/// Compares a generated part of a repository's file with what it should be, or writes it.
fn generated_file(path: &str, text: &str) {
    let path = repository(path);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, text).expect("the file is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        found == text,
        "{} is not what the code says (first difference: {differs:?}); `make reference` writes it",
        path.display()
    );
}

#[harness::test]
fn the_schema_of_a_flow_toml_is_that_of_the_api() {
    let mut schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "flow.toml",
    });
    let definition = wedflow_api::description()["components"]["schemas"]["FlowDefinition"].take();
    let properties = definition.as_object().cloned().expect("a schema");
    schema.as_object_mut().expect("an object").extend(properties);
    let text = serde_json::to_string_pretty(&schema).expect("JSON");
    generated_file("packaging/editors/flow.schema.json", &(text + "\n"));
}

/// The guard's table is one: what the page about conditions lists is written from it.
#[harness::test]
fn the_lists_of_conditions_are_those_of_the_guard() {
    let path = "docs/reference/conditions.md";
    let page = std::fs::read_to_string(repository(path)).expect("the page");
    let (begin, end) = ("<!-- lists: begin -->\n", "<!-- lists: end -->");
    let (before, rest) = page.split_once(begin).expect("the lists begin");
    let (_, after) = rest.split_once(end).expect("the lists end");
    generated_file(path, &format!("{before}{begin}{}{end}{after}", wedflow_guard::rules::reference()));
}

/// The fields of a struct in a source file: name, and the doc comment as one line.
fn fields_of(source: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let mut comment = String::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
        } else if let Some((name, _)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once(": ")) {
            fields.push((name.to_owned(), comment.trim().to_owned()));
            comment.clear();
        } else {
            comment.clear();
        }
    }
    fields
}

/// Sections of the page of limits: title, and the source file whose documented constants it lists.
/// Limits of other files follow in one table.
const LIMIT_SOURCES: [(&str, &str); 10] = [
    ("Components", "host/contract/src/inspect.rs"),
    ("Instances, memories and tables of a component", "host/contract/src/weight.rs"),
    ("Declarations of a component", "host/contract/src/declaration.rs"),
    ("Files of an instance", "host/capability/src/files.rs"),
    ("HTTP requests of a transition", "host/capability/src/http.rs"),
    ("Secrets", "host/worker/src/vault.rs"),
    ("Conditions and clauses: text", "host/guard/src/fragment.rs"),
    ("Conditions and clauses: patterns", "host/guard/src/pattern.rs"),
    ("Conditions and clauses: calls", "host/guard/src/call.rs"),
    ("Leases and periodic tasks of a host", "host/worker/src/housekeeping.rs"),
];

/// Types of constants that are limits.
const LIMIT_TYPES: [&str; 9] = ["usize", "u8", "u16", "u32", "u64", "i32", "i64", "f64", "Duration"];

/// Lists the documented constants of a source file outside of its tests: name, value and doc comment.
fn constants_of(source: &str) -> Vec<[String; 3]> {
    let source = source.split("#[cfg(test)]\nmod tests").next();
    let source = source.unwrap_or_default();
    let mut constants = Vec::new();
    let mut comment = String::new();
    let mut lines = source.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
        let line = line.strip_prefix("pub ").unwrap_or(line);
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
            continue;
        }
        let mut whole = line.to_owned();
        if line.starts_with("const ") {
            while !whole.ends_with(';') {
                let Some(next) = lines.next() else { break };
                whole.push(' ');
                whole.push_str(next);
            }
            let name = whole.strip_prefix("const ").and_then(|rest| rest.split_once(": "));
            let parts = name.and_then(|(name, rest)| Some((name, rest.split_once(" = ")?)));
            if let Some((name, (kind, value))) = parts
                && !comment.is_empty()
                && LIMIT_TYPES.contains(&kind)
            {
                constants.push([name.to_owned(), shown(value), comment.trim().to_owned()]);
            }
        }
        comment.clear();
    }
    constants
}

/// Writes a constant's expression for people: `1 << 20` as bytes, a duration as seconds.
fn shown(value: &str) -> String {
    let value = value.trim_end_matches(';');
    let inside = |function: &str| {
        let rest = value.strip_prefix(function)?;
        rest.strip_suffix(')').map(product)
    };
    if let Some(millis) = inside("Duration::from_millis(") {
        return format!("{millis} ms");
    }
    if let Some(seconds) = inside("Duration::from_secs(") {
        return format!("{seconds} s");
    }
    product(value)
}

/// Evaluates products and shifts of plain numbers; other expressions stay as they are.
fn product(value: &str) -> String {
    let value = value.replace('_', "");
    let number = |text: &str| text.trim().parse::<u64>().ok();
    if let Some((number_text, shift)) = value.split_once("<<")
        && let (Some(left), Some(right)) = (number(number_text), number(shift))
    {
        return (left << right).to_string();
    }
    let factors: Option<Vec<u64>> = value.split('*').map(number).collect();
    factors.map_or_else(|| value.clone(), |all| all.iter().product::<u64>().to_string())
}

#[harness::test]
fn the_page_of_limits_is_what_the_code_says() {
    let source = std::fs::read_to_string(repository("host/model/src/limits.rs")).expect("limits.rs");
    let values = serde_json::to_value(Limits::default()).expect("limits are JSON");
    let fields = fields_of(&source);
    assert_eq!(Some(fields.len()), values.as_object().map(serde_json::Map::len));
    let mut page = String::from(
        "# Limits\n\nThis page lists the limits of the program, from the constants of its source (`make reference`). \
         Quotas of\ntenants: [tenants](tenants.md#quotas). Bounds of conditions and clauses: \
         [conditions](conditions.md#bounds). Limits of\nthe database's functions are declared in them: \
         `rg CONSTANT migrations/functions`.\n\n\
         ## An attempt and an upload\n\nA manifest may lower `fuel` and `memory_bytes` for a transition; its time \
         limit \
         is the trigger's `timeout`.\n\n| limit | default | meaning |\n| --- | ---: | --- |\n",
    );
    for (name, text) in &fields {
        page.push_str(&format!("| `{name}` | {} | {text} |\n", values[name.as_str()]));
    }
    for (title, file) in LIMIT_SOURCES {
        let text = std::fs::read_to_string(repository(file)).expect("a source file");
        let constants = constants_of(&text);
        assert!(!constants.is_empty(), "{file} has no documented limit");
        page.push_str(&format!("\n## {title}\n\n`{file}`\n\n| limit | value | meaning |\n| --- | ---: | --- |\n"));
        for [name, value, text] in constants {
            page.push_str(&format!("| `{name}` | {value} | {text} |\n"));
        }
    }
    page.push_str(&other_limits());
    generated("limits.md", &page);
}

/// Writes the table of the limits of all other files: documented constants with MAX or MIN in their names.
fn other_limits() -> String {
    let mut table =
        String::from("\n## Other limits\n\n| limit | value | meaning | file |\n| --- | ---: | --- | --- |\n");
    let is_limit = |name: &str| name.split('_').any(|part| ["MAX", "MIN"].contains(&part));
    let mut files = sources(&["host"], &["rs"]);
    files.sort();
    for path in files {
        let file = path.strip_prefix(repository("")).expect("a part of it");
        let file = file.to_str().expect("a name");
        let is_listed = LIMIT_SOURCES.iter().any(|(_, listed)| *listed == file);
        if is_listed || !file.contains("/src/") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        for [name, value, text] in constants_of(&text) {
            if is_limit(&name) {
                let text = text.replace('|', "\\|");
                table.push_str(&format!("| `{name}` | {value} | {text} | `{file}` |\n"));
            }
        }
    }
    table
}

/// Puts `table` between the page's two marks, and compares or writes the page.
fn generated_table(name: &str, table: &str) {
    const BEGIN: &str = "<!-- generated by make reference: begin -->\n";
    const END: &str = "<!-- generated by make reference: end -->";
    let page = std::fs::read_to_string(repository("docs/reference").join(name)).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the mark of the beginning");
    let (_, after) = rest.split_once(END).expect("the mark of the end");
    generated(name, &format!("{before}{BEGIN}{table}{END}{after}"));
}

#[harness::test]
fn the_table_of_error_codes_is_what_the_code_says() {
    let mut table = String::from("| code | what is wrong | what to do |\n| --- | --- | --- |\n");
    let row = |one: &ErrorCode| format!("| {} | {} | {} |\n", one.code, one.meaning, one.remedy);
    table.extend(ERROR_CODES.iter().map(row));
    table.push_str(
        "\n## Codes in words\nOf `wed` and of the HTTP API; `wed explain CODE` prints the same.\n\n\
         | code | what is wrong | what to do |\n| --- | --- | --- |\n",
    );
    table.extend(PROBLEM_CODES.iter().map(row));
    generated_table("errors.md", &table);
}

#[harness::test]
fn the_page_the_dashboard_and_the_alerts_are_made_of_the_figures() {
    use wedflow_api::figures;
    generated("metrics.md", &figures::page());
    generated_file("packaging/monitoring/alerts.yml", &figures::alert_rules());
    generated_file("packaging/monitoring/dashboard.json", &figures::dashboard());
    let read = |path| std::fs::read_to_string(repository(path)).expect("a source file");
    let rows = read("migrations/functions/metrics.sql") + &read("host/store/src/status.rs").replace('"', "'");
    for figure in figures::FIGURES {
        if let figures::Origin::Database(row) = figure.origin {
            assert!(rows.contains(&format!("'{row}'")), "{row}");
        }
    }
}

/// Words that stand where a code stands in the source, as `code("…")` and `StatusCode::X, "…"`.
fn codes_in_words(source: &str) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for (before, after) in [(".code(", ""), ("StatusCode::", ",")] {
        for rest in source.split(before).skip(1) {
            let rest = match after.is_empty() {
                true => Some(rest),
                false => rest
                    .split_once(after)
                    .filter(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
                    .map(|(_, rest)| rest),
            };
            let word = rest.and_then(|rest| rest.trim_start().strip_prefix('"'));
            let word = word.and_then(|rest| rest.split_once('"')).map(|(word, _)| word);
            let is_code = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            codes.extend(word.filter(is_code).map(str::to_owned));
        }
    }
    codes
}

#[harness::test]
fn each_code_in_words_is_explained() {
    let known: BTreeSet<&str> = PROBLEM_CODES.iter().map(|one| one.code).collect();
    let mut found = BTreeSet::new();
    for path in sources(&["host/api", "host/cli"], &["rs"]) {
        let text = std::fs::read_to_string(&path).expect("a source file");
        found.extend(codes_in_words(&text));
    }
    assert!(found.len() > 20, "{found:?}");
    let lacking: Vec<&String> = (found.iter()).filter(|code| !known.contains(code.as_str())).collect();
    assert!(lacking.is_empty(), "host/model/src/codes.rs does not explain {lacking:?}");
    assert!(PROBLEM_CODES.is_sorted_by_key(|one| one.code), "codes in words are sorted");
}

#[harness::test]
fn the_table_of_the_api_is_its_description() {
    let mut table = String::from("| request | what it does |\n| --- | --- |\n");
    let document = wedflow_api::description();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in ["get", "put", "post", "patch", "delete"] {
            let Some(operation) = item.get(method) else {
                continue;
            };
            let summary = operation["summary"].as_str().expect("a summary");
            let method = method.to_uppercase();
            table.push_str(&format!("| `{method} {path}` | {} |\n", summary.replace('|', "\\|").replace('\n', " ")));
        }
    }
    generated_table("api.md", &table);
}

#[harness::test]
fn the_table_of_the_environment_is_what_the_code_says() {
    let mut table = String::from("| variable | meaning |\n| --- | --- |\n");
    for one in VARIABLES {
        table.push_str(&format!("| `{}` | {} |\n", one.name, one.meaning));
    }
    generated_table("environment.md", &table);
}

/// Makes the table of the last `make bench` from its raw result.
#[harness::test]
fn the_table_of_benchmarks_is_the_raw_result() {
    let file = repository("bench/results/commit.json");
    let text = std::fs::read_to_string(file).expect("bench/results/commit.json");
    let result: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let bare = result["bare_per_s"].as_f64();
    let mut table = format!(
        "`make bench` of {}, commit {}, {} rounds of {} s, {} cores ({}).\n\n\
         | | per second | low to high | of bare | host µs | server µs | p50 µs | p99 µs |\n\
         | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n",
        text_in(&result, "date"),
        result["commit"].as_str().unwrap_or("not recorded"),
        result["rounds"],
        result["seconds"],
        result["cores"],
        text_in(&result, "machine"),
    );
    for row in result["rows"].as_array().expect("rows") {
        let figure = |name: &str, digits: usize| {
            let value = row[name].as_f64();
            value.map_or_else(String::new, |value| format!("{value:.digits$}"))
        };
        let of_bare = row["per_s"].as_f64().zip(bare);
        table.push_str(&format!(
            "| {} | {} | {} to {} | {} | {} | {} | {} | {} |\n",
            text_in(row, "name"),
            figure("per_s", 0),
            figure("low", 0),
            figure("high", 0),
            of_bare.map_or_else(String::new, |(rate, bare)| format!("{:.2}", rate / bare)),
            figure("host_us", 1),
            figure("server_us", 1),
            figure("p50_us", 0),
            figure("p99_us", 0),
        ));
    }
    generated_table("benchmarks.md", &table);
}

fn text_in<'a>(value: &'a serde_json::Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// The source files below some folders of the repository.
fn sources(folders: &[&str], extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|folder| repository(folder)).collect();
    while let Some(path) = open.pop() {
        let skipped = path.file_name().is_some_and(|name| name == "target" || name == "tests");
        if path.is_dir() && !skipped {
            let inside = std::fs::read_dir(&path).expect("a folder");
            open.extend(inside.map(|entry| entry.expect("an entry").path()));
        } else if has_extension(&path, extensions) {
            found.push(path);
        }
    }
    found
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| extensions.contains(&extension))
}

/// Returns the words of a text that have this beginning and then capitals, digits and `_`.
fn words_from(text: &str, beginning: &str) -> BTreeSet<String> {
    text.match_indices(beginning)
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        .map(|(at, _)| {
            text[at..].chars().take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_').collect()
        })
        .collect()
}

/// The words with this beginning in the source, each with a file that has it.
fn words_of_source(folders: &[&str], extensions: &[&str], beginning: &str) -> BTreeMap<String, PathBuf> {
    let mut words = BTreeMap::new();
    for path in sources(folders, extensions) {
        let text = std::fs::read_to_string(&path).expect("a source file");
        words.extend(words_from(&text, beginning).into_iter().map(|word| (word, path.clone())));
    }
    words
}

#[harness::test]
fn each_code_of_an_error_is_on_its_page() {
    let is_code = |word: &str| word.len() == 5 && word[2..].bytes().all(|b| b.is_ascii_digit());
    let page = std::fs::read_to_string(repository("docs/reference/errors.md")).expect("the page");
    let told = words_from(&page, "WF");
    let known = words_of_source(&["migrations", "host"], &["sql", "rs"], "WF");
    for (code, file) in known.iter().filter(|(code, _)| is_code(code)) {
        assert!(told.contains(code), "{code} of {} is not in docs/reference/errors.md", file.display());
    }
    for code in told.iter().filter(|code| is_code(code)) {
        assert!(known.contains_key(code), "{code} is in docs/reference/errors.md and nowhere else");
    }
}

#[harness::test]
fn each_variable_of_the_environment_is_on_its_page() {
    let page = std::fs::read_to_string(repository("docs/reference/environment.md")).expect("the page");
    let told = words_from(&page, "WEDFLOW_");
    let known = words_of_source(&["host"], &["rs"], "WEDFLOW_");
    for (variable, file) in &known {
        assert!(told.contains(variable), "{variable} of {} is not in docs/reference/environment.md", file.display());
    }
    for variable in &told {
        assert!(known.contains_key(variable), "{variable} is on the page and in no source");
    }
}

/// The words of a command line that names a command: without its options and what stands behind.
fn command_of(line: &str) -> Vec<&str> {
    let mut words = line.split_whitespace();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if ["--tenant", "--database-url"].contains(&word) {
            words.next();
            continue;
        }
        let plain = word.trim_end_matches(['`', ',', '.', ';', ':', ')']);
        let is_name = plain.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        if word.starts_with('-') && found.is_empty() {
            continue;
        }
        if !is_name || plain.is_empty() || word.starts_with('-') {
            break;
        }
        found.push(plain);
        if plain != word {
            break;
        }
    }
    found
}

#[harness::test]
fn commands_that_the_pages_name_are_there() {
    let reference = std::fs::read_to_string(repository("docs/reference/commands.md")).expect("the page");
    let known: BTreeSet<&str> =
        reference.lines().filter_map(|line| line.strip_prefix("## `wed ")?.strip_suffix('`')).collect();
    let has_more = |name: &str| known.iter().any(|one| one.starts_with(&format!("{name} ")));
    let mut seen = 0;
    for file in sources(&["docs", "examples"], &["md"]).into_iter().chain([repository("README.md")]) {
        let page = std::fs::read_to_string(&file).expect("a page");
        for line in page.lines() {
            let in_prose = line.split('`').skip(1).step_by(2);
            for command in in_prose.chain([line.trim_start_matches("$ ")]) {
                let Some(command) = command.strip_prefix("wed ") else {
                    continue;
                };
                let words = command_of(command);
                let Some(first) = words.first() else { continue };
                let named = match words.get(1) {
                    Some(second) if has_more(first) => format!("{first} {second}"),
                    _ => (*first).to_owned(),
                };
                seen += 1;
                assert!(known.contains(&*named), "{}: `wed {command}`", file.display());
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
