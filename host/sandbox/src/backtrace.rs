//! The stack of a guest at its end: functions by name, if the component has names.

use wasmtime::{Error, WasmBacktrace};

/// Functions that are kept; the innermost come first.
const FRAMES: usize = 24;

/// Bytes of one function's line that are kept.
const FRAME_BYTES: usize = 200;

/// The functions that were on the guest's stack, innermost first; none where the runtime kept none.
pub(crate) fn of_error(error: &Error) -> Vec<String> {
    error
        .downcast_ref::<WasmBacktrace>()
        .map(|trace| of_text(&trace.to_string()))
        .unwrap_or_default()
}

/// The runtime demangles names only where it writes the whole trace, so that is read back.
fn of_text(text: &str) -> Vec<String> {
    let mut frames: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        let line = line.trim();
        if let Some(place) = line.strip_prefix("at ") {
            if let Some(frame) = frames.last_mut() {
                frame.push_str(" at ");
                frame.push_str(place);
            }
            continue;
        }
        // `3: 0x1f2e - module!function`, or `- function` for one that was inlined.
        let Some((_, name)) = line.split_once("- ").or_else(|| line.split_once(": ")) else {
            continue;
        };
        if line.starts_with("note:") {
            continue;
        }
        if frames.len() == FRAMES {
            frames.push("…".to_owned());
            break;
        }
        frames.push(plain(name.trim()));
    }
    for frame in &mut frames {
        if frame.len() > FRAME_BYTES {
            let end = (0..=FRAME_BYTES)
                .rev()
                .find(|at| frame.is_char_boundary(*at))
                .unwrap_or(0);
            frame.truncate(end);
            frame.push('…');
        }
    }
    frames
}

/// Without the hashes that Rust's compiler puts into names: `core::panicking::panic::h0123456789abcdef`,
/// `core[0123456789abcdef]::panicking::panic`.
fn plain(name: &str) -> String {
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let name = match name.rsplit_once("::h") {
        Some((front, hash)) if is_hash(hash) => front,
        _ => name,
    };
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        match after.split_once(']') {
            Some((hash, behind)) if is_hash(hash) => rest = behind,
            _ => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_names_innermost_first() {
        let text = "error while executing at wasm backtrace:\n    0:   0x6f4 - \
         parcel.wasm!core[0123456789abcdef]::panicking::panic::h0123456789abcdef\n    1:   0x12 - parcel.wasm!<wasm \
         function 7>\n                - inlined\n                    at src/lib.rs:7:3\nnote: using the \
         `WASMTIME_BACKTRACE_DETAILS=1`";
        assert_eq!(
            of_text(text),
            [
                "parcel.wasm!core::panicking::panic",
                "parcel.wasm!<wasm function 7>",
                "inlined at src/lib.rs:7:3"
            ]
        );
        let deep = format!("head\n{}", "1: 0x1 - m!f\n".repeat(1_000));
        assert_eq!(of_text(&deep).len(), FRAMES + 1);
        let wide = format!("head\n1: 0x1 - m!{}", "é".repeat(500));
        assert!(of_text(&wide)[0].len() <= FRAME_BYTES + 3);
    }
}
