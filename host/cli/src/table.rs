//! Tables: a frame where they fit, a line for each row with cut cells where the terminal is narrow, a record for each
//! row where that would tell too little, plain lines for a pipe.

use crate::printable::uncoloured;
use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, Color, ColumnConstraint, ContentArrangement, Table, Width, presets};

/// Characters to which a column of long texts may be narrowed before a table is no help any more.
pub(crate) const NARROWEST: usize = 24;

/// Characters of a frame for each column, without the one at its end.
const FRAME: usize = 3;

/// Characters between two columns without a frame.
const GAP: usize = 2;

/// Columns of long values whose beginning tells what they are; the other columns of a frame wrap instead.
const CUT_FIRST: [&str; 4] = ["state", "description", "payload", "about"];

/// Least characters that are left of a cell that is cut.
const CUT_MIN: usize = 12;

/// The width of the terminal in characters; none where nobody looks.
pub(crate) fn terminal_width() -> Option<usize> {
    use std::io::IsTerminal;
    std::io::stdout().is_terminal().then(|| Table::new().width().map_or(80, usize::from))
}

/// Lays out rows for a terminal of `width` characters, or for a pipe. `colour` tells the colour of a cell in a frame,
/// by its row and column.
pub(crate) fn laid_out(
    head: &[&str],
    rows: &[Vec<String>],
    width: Option<usize>,
    colour: impl Fn(usize, usize) -> Option<Color>,
) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| moment(&uncoloured(cell))).collect()).collect();
    let Some(width) = width else {
        return plain(head, &rows);
    };
    let natural = natural_widths(head, &rows);
    let spare = width.saturating_sub(FRAME * head.len() + 1);
    let is_long = |at: usize| CUT_FIRST.contains(&head[at]);
    let widths = narrowed(head, &natural, spare, is_long);
    let least = |wide: &usize| (*wide).min(NARROWEST);
    if widths.iter().map(least).sum::<usize>() > spare {
        let spare = width.saturating_sub(GAP * head.len().saturating_sub(1));
        let widths = narrowed(head, &natural, spare, |at| at > 0);
        return match widths.iter().sum::<usize>() <= spare {
            true => lines(head, &rows, &widths, colour),
            false => records(head, &rows),
        };
    }
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(at, (cell, wide))| match is_long(at) {
                true => cut(cell, *wide),
                false => cell.clone(),
            });
            cells.collect()
        })
        .collect();
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(head.iter().map(|text| Cell::new(text).add_attribute(comfy_table::Attribute::Bold)));
    for (at, row) in rows.iter().enumerate() {
        table.add_row(row.iter().enumerate().map(|(column, text)| {
            let cell = Cell::new(text);
            match colour(at, column) {
                Some(colour) => cell.fg(colour),
                None => cell,
            }
        }));
    }
    for (column, wide) in table.column_iter_mut().zip(&widths) {
        let least = u16::try_from(least(wide) + FRAME - 1).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
    }
    table.to_string()
}

/// Characters that each column needs.
fn natural_widths(head: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let width_of = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let lines = cells.flat_map(|cell| cell.lines()).chain([head[at]]);
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    };
    (0..head.len()).map(width_of).collect()
}

/// Takes characters from the widest of the columns that may be cut until all fit, or none can give any more.
fn narrowed(head: &[&str], natural: &[usize], spare: usize, may_be_cut: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut widths = natural.to_vec();
    let least = |at: usize| head[at].chars().count().max(CUT_MIN);
    while widths.iter().sum::<usize>() > spare {
        let columns = (0..widths.len()).filter(|at| may_be_cut(*at) && widths[*at] > least(*at));
        let Some(widest) = columns.max_by_key(|at| widths[*at]) else {
            break;
        };
        widths[widest] -= 1;
    }
    widths
}

/// The beginning of a text, on one line.
fn cut(text: &str, width: usize) -> String {
    let line = text.replace('\n', " ");
    match line.chars().count() <= width {
        true => line,
        false => {
            let kept: String = line.chars().take(width.saturating_sub(1)).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

/// A line for each row, its cells cut to the widths of the columns.
fn lines(
    head: &[&str],
    rows: &[Vec<String>],
    widths: &[usize],
    colour: impl Fn(usize, usize) -> Option<Color>,
) -> String {
    let padded = |text: &str, at: usize| {
        let cell = cut(text, widths[at]);
        match at + 1 == widths.len() {
            true => cell,
            false => format!("{cell:<width$}", width = widths[at] + GAP),
        }
    };
    let bold = Style::new().bold();
    let titles: String = (head.iter().enumerate()).map(|(at, text)| padded(text, at)).collect();
    let mut text = format!("{bold}{}{bold:#}", titles.trim_end());
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let style =
                colour(number, at).map_or_else(Style::new, |colour| Style::new().fg_color(Some(ansi(colour).into())));
            format!("{style}{}{style:#}", padded(cell, at))
        });
        let line: String = cells.collect();
        text.push('\n');
        text.push_str(line.trim_end());
    }
    text
}

/// The colour of a cell in a frame, for one without.
fn ansi(colour: Color) -> AnsiColor {
    match colour {
        Color::Green => AnsiColor::Green,
        Color::Red => AnsiColor::Red,
        _ => AnsiColor::Yellow,
    }
}

/// A line for each row, whatever its width.
fn plain(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).set_header(head);
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
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let (first, rest) = row.split_first().map_or(("", row.as_slice()), |(first, rest)| (first.as_str(), rest));
        text.push_str(&format!("{bold}{} {first}{bold:#}\n", head[0]));
        for (name, cell) in head[1..].iter().zip(rest).filter(|(_, cell)| !cell.is_empty()) {
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
        let row = ["paper", "1", "yes", "193 kB", "7", "3", "2026-11-24T07:01:33.123456Z"];
        let long = ["conformance-of-every-language", "12", "", "12 kB", "31", "0", "", "x"];
        [&row[..], &long[..7]].map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).to_vec()
    }

    const HEAD: [&str; 7] = ["component", "version", "in use", "size", "transitions", "flows", "uploaded"];

    #[test]
    fn no_line_is_wider_than_the_terminal_and_each_row_is_found() {
        for width in [60, 80, 100, 200] {
            let text = laid_out(&HEAD, &rows(), Some(width), |_, _| None);
            for line in text.lines() {
                let shown = anstream::adapter::strip_str(line).to_string();
                assert!(shown.chars().count() <= width, "{width}: {shown}");
            }
            for word in ["conformance-of-every-language", "paper", "193 kB"] {
                assert!(text.contains(word), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_list_is_a_line_for_each_row_at_80_characters() {
        let head = ["flow", "description", "regular", "final", "exceptions", "jobs"];
        let row = |name: &str| {
            let about = "Orders of the shop, from the basket to the parcel at the door".to_owned();
            let mut row = vec![name.to_owned(), about];
            row.extend(["12", "13", "0", "7"].map(str::to_owned));
            row
        };
        let rows: Vec<Vec<String>> = (0..16).map(|n| row(&format!("flow-{n}"))).collect();
        let text = laid_out(&head, &rows, Some(80), |_, _| None);
        let found = text.lines().filter(|line| line.contains("flow-"));
        assert_eq!(found.count(), 16, "{text}");
        assert!(text.lines().count() <= 20 && text.contains('…'), "{text}");
    }

    #[test]
    fn records_are_apart_by_an_empty_line() {
        let head = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let row: Vec<String> = (0..8).map(|_| "a long value of a state".to_owned()).collect();
        let text = laid_out(&head, &[row.clone(), row], Some(60), |_, _| None);
        assert!(text.contains("\n\n"), "{text}");
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
