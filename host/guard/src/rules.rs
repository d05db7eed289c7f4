//! The guard's table, written for others: for the database, which judges conditions by it and gets it with its
//! functions (`wedflow_store`), and for people (`make reference`).

use std::fmt::Write as _;

use crate::catalog::{self, CATALOG, Signature};
use crate::kind::Kind;

const HEAD: &str = "-- Made from host/guard/src/catalog.toml.\n";

/// Maximum characters of a written line, where it can be broken.
const LINE_MAX: usize = 112;

/// Names of the functions behind the bounded operators.
const OPERATORS: [(&str, &str); 20] = [
    ("~~", "op_like"),
    ("!~~", "op_not_like"),
    ("~~*", "op_ilike"),
    ("!~~*", "op_not_ilike"),
    ("~", "op_matches"),
    ("!~", "op_not_matches"),
    ("~*", "op_imatches"),
    ("!~*", "op_not_imatches"),
    ("@>", "op_contains"),
    ("<@", "op_contained"),
    ("&&", "op_overlap"),
    ("?|", "op_exists_any"),
    ("?&", "op_exists_all"),
    ("-", "op_without"),
    ("@?", "op_path_exists"),
    ("@@", "op_path_match"),
    ("*", "op_times"),
    ("/", "op_divided"),
    ("%", "op_modulo"),
    ("^", "power"),
];

/// The rows of the database's tables: calls and types that a condition may hold, and what calls weigh.
pub fn allowed_calls() -> String {
    let mut sql = format!(
        "{HEAD}-- Calls and types that a condition may hold, and what calls weigh.\n\
         DELETE FROM wed.allowed_call;\nDELETE FROM wed.allowed_type;\nDELETE FROM wed.call_weight;\n\
         INSERT INTO wed.call_weight VALUES\n"
    );
    let weights: Vec<String> =
        (CATALOG.makes.iter()).map(|(name, made)| format!("  ('{name}', {}, {})", made.text, made.documents)).collect();
    let types = ["unknown"].into_iter();
    let types = types.chain(CATALOG.types.keys().map(String::as_str));
    let [functions, operators] = catalog::all();
    let rows: Vec<String> = functions
        .iter()
        .chain(&operators)
        .filter(|(_, signature)| !signature.volatile)
        .flat_map(|(name, signature)| rows(name, signature))
        .collect();
    let _ = write!(
        sql,
        "{};\nINSERT INTO wed.allowed_type SELECT regexp_split_to_table(btrim($types$\n  {}\n\
         $types$, E' \\n'), '\\s+');\n\
         INSERT INTO wed.allowed_call\n\
         SELECT p[1], string_to_array(p[2], ','), p[3]::boolean, p[4] FROM string_to_table($list${}$list$, E'\\n') l, \
         string_to_array(l, E'\\t') p;\n",
        weights.join(",\n"),
        lines(types, " ", "  "),
        rows.join("\n")
    );
    sql
}

/// Joins words to lines of at most [`LINE_MAX`] characters, each but the first after an indent.
fn lines<'a>(words: impl Iterator<Item = &'a str>, separator: &str, indent: &str) -> String {
    let mut text = String::new();
    let mut column = indent.len();
    for word in words {
        if text.is_empty() {
            column += word.len();
        } else if column + separator.len() + word.len() > LINE_MAX {
            let _ = write!(text, "{}\n{indent}", separator.trim_end());
            column = indent.len() + word.len();
        } else {
            text.push_str(separator);
            column += separator.len() + word.len();
        }
        text.push_str(word);
    }
    text
}

/// A row for each number of operands that may be left out: earlier versions of Postgres know some by these alone.
fn rows(name: &str, signature: &Signature) -> Vec<String> {
    let (least, most) = match signature.variadic {
        true => (signature.arguments.len(), signature.arguments.len()),
        false => signature.counts(),
    };
    (least..=most)
        .map(|count| {
            let kinds: Vec<String> = signature.arguments[..count].iter().map(|kind| kind.name()).collect();
            format!(
                "{name}({})\t{}\t{}\t{}",
                kinds.join(" "),
                signature.bounds[..count].join(","),
                if signature.bounded { 't' } else { 'f' },
                signature.makes
            )
        })
        .collect()
}

/// The bounded functions and operators that pass their operands on to Postgres's own.
pub fn bounded_calls() -> String {
    let mut sql =
        format!("{HEAD}-- The bounded functions and operators that pass their operands on to Postgres's own.\n");
    let [functions, operators] = catalog::all();
    for (name, signature) in functions {
        if signature.bounded && !signature.own {
            let mut operands = operands(signature);
            if let Some(first) = operands.first_mut().filter(|_| GROWING.contains(&name)) {
                *first = format!("wed_bounded.later({first})");
            }
            let body = format!("pg_catalog.\"{name}\"({})", operands.join(", "));
            define(&mut sql, &format!("\"{name}\""), signature, &body);
        }
    }
    for (sign, signature) in operators {
        let Some((_, function)) = OPERATORS.iter().find(|(of, _)| *of == sign && signature.bounded) else {
            continue;
        };
        let [left, right] = signature.arguments.as_slice() else {
            continue;
        };
        if !signature.own {
            let body = operands(signature).join(&format!(" OPERATOR(pg_catalog.{sign}) "));
            define(&mut sql, function, signature, &body);
        }
        let (left, right) = (sql_name(*left), sql_name(*right));
        let _ = writeln!(sql, "SELECT wed.bounded_operator('{sign}', '{left}', '{right}', 'wed_bounded.{function}');");
    }
    sql
}

/// Functions whose result may be many times as large as their operands. Postgres would work them out over constants
/// when it plans, and each session would keep what they made: their first operand is one that it does not know then.
const GROWING: [&str; 4] = ["array_replace", "lpad", "regexp_replace", "rpad"];

/// Bound of two operands together.
const PAIR: &str = "pair";

fn define(sql: &mut String, name: &str, signature: &Signature, body: &str) {
    if let ([PAIR, PAIR], [one, other]) = (&*signature.bounds, &*signature.arguments) {
        let (one, other) = (sql_name(*one), sql_name(*other));
        let _ = writeln!(
            sql,
            "CREATE OR REPLACE FUNCTION wed_bounded.{name}(_one {one}, _other {other}) RETURNS boolean\n\
             LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL RESTRICTED AS $$\nBEGIN\n  \
             PERFORM wed_bounded.pair(_one, _other);\n  RETURN {body};\nEND $$;"
        );
        return;
    }
    let (least, _) = signature.counts();
    let arguments: Vec<String> = (signature.arguments.iter().enumerate())
        .map(|(at, kind)| {
            let default = match kind.name().as_str() {
                _ if at < least => "",
                "jsonb" => " DEFAULT '{}'",
                _ => " DEFAULT false",
            };
            format!("{}{default}", sql_name(*kind))
        })
        .collect();
    let _ = writeln!(
        sql,
        "CREATE OR REPLACE FUNCTION wed_bounded.{name}({})\n\
         RETURNS {} LANGUAGE sql {} PARALLEL RESTRICTED\n\
         AS $$ SELECT {body} $$;",
        arguments.join(", "),
        sql_name(signature.result),
        if body.contains(".later(") { "STABLE" } else { "IMMUTABLE" }
    );
}

/// The operands as the bounded function passes them on.
fn operands(signature: &Signature) -> Vec<String> {
    (signature.bounds.iter().enumerate())
        .map(|(at, bound)| match *bound != PAIR && CATALOG.bounds.run.contains_key(*bound) {
            true => format!("wed_bounded.{bound}(${})", at + 1),
            false => format!("${}", at + 1),
        })
        .collect()
}

fn sql_name(kind: Kind) -> String {
    let name = kind.name();
    match name.strip_prefix('_') {
        Some(element) => format!("{element}[]"),
        None => name,
    }
}

/// The lists of the page about conditions: functions by group, operators, bounds and weights.
pub fn reference() -> String {
    let mut page = String::from("### Functions\n");
    for (group, functions) in CATALOG.functions.iter().filter(|(group, _)| *group != "grammar") {
        let mut names = Vec::new();
        for name in functions.keys() {
            let volatile =
                catalog::functions(name).is_some_and(|(_, list)| list.iter().all(|signature| signature.volatile));
            names.push(format!("`{name}`{}", if volatile { " (in SET clauses)" } else { "" }));
        }
        let _ = writeln!(page, "- *{group}*:\n  {}", lines(names.iter().map(String::as_str), ", ", "  "));
    }
    operators_and_bounds(&mut page);
    weights(&mut page);
    page
}

fn operators_and_bounds(page: &mut String) {
    let signs: Vec<String> = CATALOG.operators.keys().map(|sign| format!("`{sign}`")).collect();
    let signs = lines(signs.iter().map(String::as_str), " ", "");
    let _ = write!(page, "\n### Operators\n{signs}\n");
    page.push_str("\n### Bounds of operands\n| operand of | which | bound |\n| --- | --- | --- |\n");
    let [functions, operators] = catalog::all();
    let bounds = CATALOG.bounds.run.iter().chain(&CATALOG.bounds.written);
    for (bound, words) in bounds.filter(|(bound, _)| *bound != "read") {
        let mut calls: Vec<String> = Vec::new();
        for (name, signature) in functions.iter().chain(&operators) {
            for (at, _) in signature.bounds.iter().enumerate().filter(|(_, of)| of == &bound) {
                let call = format!("`{}`:{}", name.replace('|', "\\|"), at + 1);
                if !calls.contains(&call) {
                    calls.push(call);
                }
            }
        }
        let _ = writeln!(page, "| {} | {bound} | {words} |", calls.join(" "));
    }
}

fn weights(page: &mut String) {
    let [functions, operators] = catalog::all();
    page.push_str(
        "\n### Weights\n| made so | each text | each document or array | calls |\n| --- | --- | --- | --- \
     |\n",
    );
    for (makes, weight) in &CATALOG.makes {
        let mut calls: Vec<String> = Vec::new();
        for (name, signature) in functions.iter().chain(&operators) {
            let call = format!("`{}`", name.replace('|', "\\|"));
            if signature.makes == makes && !calls.contains(&call) {
                calls.push(call);
            }
        }
        calls.extend(CATALOG.casts.iter().filter(|(_, of)| *of == makes).map(|(cast, _)| cast.replace('_', " ")));
        if makes == "copy" {
            calls.push("any other call that gives text, a document or an array".to_owned());
        }
        let _ = writeln!(page, "| {makes} | {} | {} | {} |", weight.text, weight.documents, calls.join(" "));
    }
}
