//! Names of the language as names of a flow.

/// Bytes of an attribute's, trigger's or flow's name.
pub(crate) const NAME_BYTES_MAX: usize = 63;

/// Names that the server has taken for columns.
const TAKEN: [&str; 7] = ["wid", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];

/// Writes a name in small letters with underscores: `CriarOrdemServico` becomes `criar_ordem_servico`.
pub(crate) fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if *letter == '-' || *letter == '_' {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let begins_word = letter.is_uppercase()
            && before.is_some_and(|one| {
                one.is_lowercase()
                    || one.is_numeric()
                    || (one.is_uppercase() && after.is_some_and(|next| next.is_lowercase()))
            });
        if begins_word {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    let out = out.trim_end_matches('_').to_owned();
    if out.starts_with(|first: char| first.is_alphabetic()) { out } else { format!("t{out}") }
}

/// Writes a name as a component's: `Software-OrdemPagamento` becomes `software-ordem-pagamento`.
pub(crate) fn kebab(name: &str) -> String {
    snake(name).replace('_', "-")
}

/// Names the attribute of a datum.
pub(crate) fn attribute(name: &str) -> String {
    let name = snake(name);
    if TAKEN.contains(&name.as_str()) { format!("{name}_data") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_with_underscores() {
        for (name, snaked) in [
            ("CriarOrdemServico", "criar_ordem_servico"),
            ("Software-OrdemPagamento", "software_ordem_pagamento"),
            ("A", "a"),
            ("HTTPCall2Go", "http_call2_go"),
            ("_x_", "x"),
            ("Office_boy", "office_boy"),
            ("_1", "t1"),
        ] {
            assert_eq!(snake(name), snaked, "{name}");
        }
        assert_eq!(attribute("Wid"), "wid_data");
        assert_eq!(kebab("EditorTexto"), "editor-texto");
    }
}
