//! Changes of a source at its places: what is not changed stays as it was written, comments too.

use std::ops::Range;

/// Parts of a source that are replaced.
#[derive(Debug, Default)]
pub(crate) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    /// Replaces bytes of the source; parts do not overlap.
    pub(crate) fn replace(&mut self, span: Range<usize>, text: impl Into<String>) {
        self.0.push((span, text.into()));
    }

    /// Returns the source with all changes.
    pub(crate) fn apply(mut self, source: &str) -> String {
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let mut out = String::with_capacity(source.len());
        let mut at = 0;
        for (span, text) in self.0 {
            out.push_str(source.get(at..span.start).unwrap_or_default());
            out.push_str(&text);
            at = at.max(span.end);
        }
        out.push_str(source.get(at..).unwrap_or_default());
        out
    }
}

/// Returns the start of the line that an offset stands in.
pub(crate) fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the offset behind the line that an offset stands in.
pub(crate) fn line_end(source: &str, at: usize) -> usize {
    source[at..].find('\n').map_or(source.len(), |end| at + end + 1)
}

/// Returns true if nothing but space stands between the start of its line and an offset.
pub(crate) fn begins_line(source: &str, at: usize) -> bool {
    source[line_start(source, at)..at].trim().is_empty()
}

/// Returns the offset behind the semicolon that follows an offset; the offset itself where none does.
pub(crate) fn behind_semicolon(source: &str, at: usize) -> usize {
    let rest = &source[at..];
    match rest.trim_start().strip_prefix(';') {
        Some(after) => source.len() - after.len(),
        None => at,
    }
}

/// Widens a span to whole lines where nothing else, or only a comment that begins with a mark, stands in them.
pub(crate) fn whole_lines(source: &str, span: Range<usize>, comment: &str) -> Range<usize> {
    let end = line_end(source, span.end);
    let rest = source[span.end..end].trim();
    if !begins_line(source, span.start) || !(rest.is_empty() || rest.starts_with(comment)) {
        return span;
    }
    let mut start = line_start(source, span.start);
    while start > 0 {
        let above = line_start(source, start - 1);
        if !source[above..start].trim().starts_with(comment) {
            break;
        }
        start = above;
    }
    start..end
}

/// Moves a span behind an offset of the source, in lines of its own.
pub(crate) fn moved(source: &str, span: Range<usize>, behind: usize) -> String {
    let text = source[span.clone()].trim_end_matches('\n');
    let mut splices = Splices::default();
    splices.replace(behind..behind, in_lines(source, behind, text));
    splices.replace(span, "");
    splices.apply(source)
}

/// Returns a text so that it stands in lines of its own at an offset.
pub(crate) fn in_lines(source: &str, at: usize, text: &str) -> String {
    let before = if begins_line(source, at) { "" } else { "\n" };
    let after = if source[at..].starts_with('\n') { "" } else { "\n" };
    format!("{before}{text}{after}")
}
