//! A transition that uses Rust's standard library. Its component imports WASI, of which the server
//! serves the little that the library needs: there are no files, no environment, no network.

use std::collections::HashMap;

use wedflow_guest::prelude::*;

/// The thing that is counted.
#[derive(State)]
pub struct Text {
    /// A text of any length.
    pub body: String,
}

/// Finds the word that occurs most often, the first in the alphabet where several do.
#[transition(writes = [word: text, times: integer])]
pub fn most_frequent_word(text: Text) -> Result<Change, Failure> {
    let mut counts: HashMap<&str, i32> = HashMap::new();
    for word in text.body.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let most = counts.into_iter().max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)));
    match most {
        Some((word, times)) => Ok(set! { word = word, times = times }),
        None => fail!("there is no word in the text"),
    }
}

wedflow_guest::export!(most_frequent_word);

#[cfg(test)]
mod tests {
    use super::*;
    use wedflow_guest::testing;

    #[test]
    fn words_are_counted() {
        let count = |body: &str| testing::call::<most_frequent_word>().with_text("body", body).run();
        assert_eq!(count("b a b a c"), Ok(set! { word = "a", times = 2 }));
        assert!(count(" ").is_err());
    }
}
