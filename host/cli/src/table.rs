//! Tables: a frame where they fit, a record for each row where the terminal is narrow, plain lines for a pipe.

use anstyle::Style;
use comfy_table::{Cell, Color, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// Characters to which a column of long texts may be narrowed before a table is no help any more.
pub(crate) const NARROWEST: usize = 24;

/// Characters of a frame for each column, without the one at its end.
const FRAME: usize = 3;

/// The width of the terminal in characters; none where nobody looks.
pub(crate) fn terminal_width() -> Option<usize> {
    use std::io::IsTerminal;
    std::io::stdout()
        .is_terminal()
        .then(|| Table::new().width().map_or(80, usize::from))
}

/// Lays out rows for a terminal of `width` characters, or for a pipe. `colour` tells the colour of a cell in a frame,
/// by its row and column.
pub(crate) fn laid_out(
    head: &[&str],
    rows: &[Vec<String>],
    width: Option<usize>,
    colour: impl Fn(usize, usize) -> Option<Color>,
) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| moment(cell)).collect())
        .collect();
    let Some(width) = width else {
        return plain(head, &rows);
    };
    let natural: Vec<usize> = (0..head.len())
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            let lines = cells.flat_map(|cell| cell.lines());
            lines
                .chain([head[at]])
                .map(|line| line.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let least = |wide: &usize| (*wide).min(NARROWEST);
    let framed = |columns: usize| columns + FRAME * head.len() + 1;
    if framed(natural.iter().map(least).sum()) > width {
        return records(head, &rows);
    }
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(
            head.iter()
                .map(|text| Cell::new(text).add_attribute(comfy_table::Attribute::Bold)),
        );
    for (at, row) in rows.iter().enumerate() {
        table.add_row(row.iter().enumerate().map(|(column, text)| {
            let cell = Cell::new(text);
            match colour(at, column) {
                Some(colour) => cell.fg(colour),
                None => cell,
            }
        }));
    }
    for (column, wide) in table.column_iter_mut().zip(&natural) {
        let least = u16::try_from(least(wide) + FRAME - 1).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
    }
    table.to_string()
}

/// A line for each row, whatever its width.
fn plain(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(head);
    for row in rows {
        table.add_row(row.iter().map(|cell| cell.replace('\n', " ")));
    }
    table.trim_fmt()
}

/// A paragraph for each row: its first cell, and below each of the others behind its heading.
fn records(head: &[&str], rows: &[Vec<String>]) -> String {
    let bold = Style::new().bold();
    let wide = head.iter().map(|text| text.chars().count()).max();
    let wide = wide.unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let (first, rest) = row
            .split_first()
            .map_or(("", row.as_slice()), |(first, rest)| (first.as_str(), rest));
        text.push_str(&format!("{bold}{} {first}{bold:#}\n", head[0]));
        for (name, cell) in head[1..]
            .iter()
            .zip(rest)
            .filter(|(_, cell)| !cell.is_empty())
        {
            let cell = cell.replace('\n', &format!("\n  {:wide$}  ", ""));
            text.push_str(&format!("  {name:<wide$}  {cell}\n"));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// A moment without its fractions of a second; any other text as it is.
fn moment(text: &str) -> String {
    let is_moment = text.len() > 20
        && text.ends_with('Z')
        && text.char_indices().all(|(at, c)| match at {
            4 | 7 => c == '-',
            10 => c == 'T',
            13 | 16 => c == ':',
            19 => c == '.',
            _ => c.is_ascii_digit() || at == text.len() - 1,
        });
    match is_moment {
        true => format!("{}Z", &text[..19]),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = [
            "paper",
            "1",
            "yes",
            "193 kB",
            "7",
            "3",
            "2026-11-24T07:01:33.123456Z",
        ];
        let long = [
            "conformance-of-every-language",
            "12",
            "",
            "12 kB",
            "31",
            "0",
            "",
            "x",
        ];
        [&row[..], &long[..7]]
            .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
            .to_vec()
    }

    const HEAD: [&str; 7] = [
        "component",
        "version",
        "in use",
        "size",
        "transitions",
        "flows",
        "uploaded",
    ];

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_cut() {
        for width in [60, 80, 100, 200] {
            let text = laid_out(&HEAD, &rows(), Some(width), |_, _| None);
            for line in text.lines() {
                let shown = anstream::adapter::strip_str(line).to_string();
                assert!(shown.chars().count() <= width, "{width}: {shown}");
            }
            for word in [
                "conformance-of-every-language",
                "2026-11-24T07:01:33Z",
                "193 kB",
            ] {
                assert!(text.contains(word), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_pipe_gets_a_line_for_each_row() {
        let mut rows = rows();
        rows[0][0] = "two\nlines".to_owned();
        let text = laid_out(&HEAD, &rows, None, |_, _| None);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(!text.contains('│') && text.contains("two lines"), "{text}");
    }

    #[test]
    fn a_long_text_narrows_its_own_column() {
        let rows = vec![vec!["1".to_owned(), "word ".repeat(40)]];
        let text = laid_out(&["wid", "message"], &rows, Some(60), |_, _| None);
        assert!(text.contains('│') && text.lines().count() < 12, "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 60, "{line}");
        }
    }
}
