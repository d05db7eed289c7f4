//! Lines of standard input: those of JSON go to the protocol's library, which drops all others without a word; the
//! others are answered here.

use serde::de::IgnoredAny;
use serde_json::json;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex, stdin,
    stdout,
};

/// Most bytes of a line; the same as the library's.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// Bytes of input that wait for the library.
const PASSED_BYTES: usize = 64 << 10;
/// Code of the protocol for what is no JSON.
const PARSE_ERROR: i32 = -32_700;
/// Mark that some programs begin a text with.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the lines of standard input that are JSON; answers the others on standard output.
pub(super) fn of_json() -> DuplexStream {
    let (passed, read) = duplex(PASSED_BYTES);
    tokio::spawn(async move {
        // Input, output or the library has ended.
        let _ = pass(BufReader::new(stdin()), passed, stdout()).await;
    });
    read
}

/// Passes lines on until the input ends.
async fn pass(
    mut input: impl AsyncBufRead + Unpin,
    mut passed: impl AsyncWrite + Unpin,
    mut answers: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut input).take(LINE_BYTES_MAX);
        if bounded.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let is_cut = bounded.limit() == 0 && !line.ends_with(b"\n");
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        let reason = match serde_json::from_slice::<IgnoredAny>(text) {
            _ if text.trim_ascii().is_empty() => None,
            _ if is_cut => Some(format!("the line is longer than {LINE_BYTES_MAX} bytes")),
            Ok(_) => None,
            Err(error) => Some(format!("the line is no JSON: {error}")),
        };
        if is_cut {
            skip_line(&mut input).await?;
        }
        match reason {
            None => passed.write_all(&line).await?,
            Some(reason) => {
                let error = json!({ "code": PARSE_ERROR, "message": reason });
                let answer = json!({ "jsonrpc": "2.0", "id": null, "error": error });
                answers.write_all(format!("{answer}\n").as_bytes()).await?;
                answers.flush().await?;
            }
        }
    }
}

/// Skips what is left of a line.
async fn skip_line(input: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<()> {
    loop {
        let bytes = input.fill_buf().await?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (length, is_empty) = (bytes.len(), bytes.is_empty());
        input.consume(end.map_or(length, |end| end + 1));
        if end.is_some() || is_empty {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn line_that_is_no_json_is_answered_and_the_next_ones_pass() {
        let input = b"\xEF\xBB\xBF{\"id\": 1}\n\nnot json\n{\"id\": \n{\"id\": 2}\n{\"cut";
        let (mut passed, mut answers) = (Vec::new(), Vec::new());
        pass(&input[..], &mut passed, &mut answers).await.expect("passed");
        let passed = String::from_utf8_lossy(&passed);
        assert_eq!(passed.trim_start_matches('\u{feff}'), "{\"id\": 1}\n\n{\"id\": 2}\n");
        let answers = String::from_utf8_lossy(&answers);
        let codes: Vec<_> = (answers.lines())
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .map(|answer| answer["error"]["code"].clone())
            .collect();
        assert_eq!(codes, [PARSE_ERROR, PARSE_ERROR, PARSE_ERROR]);
    }
}
