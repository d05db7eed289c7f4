//! The format of a token: `wed_`, 256 random bits, and a checksum by which a mistyped one, or a text
//! that only looks like one, is known without asking the database.

use std::fmt;

use data_encoding::BASE32_NOPAD;
use rand::rngs::OsRng;
use rand::{RngCore, TryRngCore};
use sha2::{Digest, Sha256};

/// The beginning of every token, so that people and scanners for leaked secrets know it.
const MARK: &str = "wed_";
/// Characters of 32 bytes in base 32.
const RANDOM_LENGTH: usize = 52;
/// Characters of 4 bytes in base 32.
const CHECKSUM_LENGTH: usize = 7;
/// Characters that are kept in the open, to know a token again by: the mark and 40 bits. The other 216
/// bits stay unknown.
const PREFIX_LENGTH: usize = MARK.len() + 8;

/// A token. Printed for debugging it tells its prefix only.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new one, from the system's randomness.
    pub fn random() -> Self {
        let mut bytes = [0; 32];
        // The system's source does not fail once the machine is up.
        OsRng.unwrap_err().fill_bytes(&mut bytes);
        let random = BASE32_NOPAD.encode(&bytes).to_ascii_lowercase();
        Secret(format!("{MARK}{random}{}", checksum(&random)))
    }

    /// Reads one. None: it is not a token of ours, or mistyped.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(MARK)?;
        if rest.len() != RANDOM_LENGTH + CHECKSUM_LENGTH || !rest.is_ascii() {
            return None;
        }
        let (random, sum) = rest.split_at(RANDOM_LENGTH);
        (checksum(random) == sum).then(|| Secret(text.to_owned()))
    }

    /// SHA-256 of it: what is stored and looked up. A slow hash would gain nothing, because there are
    /// 2^256 secrets to guess among, and a salt would forbid to look it up. How long the lookup takes
    /// depends on the hash, of which a guesser cannot choose the first bytes.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// The first characters.
    pub fn prefix(&self) -> &str {
        &self.0[..PREFIX_LENGTH]
    }

    /// All of it, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({}…)", self.prefix())
    }
}

fn checksum(random: &str) -> String {
    BASE32_NOPAD.encode(&crc32fast::hash(random.as_bytes()).to_be_bytes()).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_differs_from_the_next() {
        let secret = Secret::random();
        assert_eq!(Secret::parse(secret.reveal()), Some(secret.clone()));
        assert_ne!(secret, Secret::random());
        assert_eq!(secret.reveal().len(), 63);
        assert!(secret.reveal().starts_with(secret.prefix()));
    }

    #[test]
    fn every_mistyped_character_is_noticed() {
        let secret = Secret::random();
        for at in 0..secret.reveal().len() {
            let mut bytes = secret.reveal().as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'a' { b'b' } else { b'a' };
            let text = String::from_utf8(bytes).expect("ascii");
            assert_eq!(Secret::parse(&text), None, "{at}");
        }
        for text in ["", "wed_", "wed_é", &secret.reveal()[..62], &format!("{}a", secret.reveal())] {
            assert_eq!(Secret::parse(text), None, "{text}");
        }
    }

    #[test]
    fn debugging_does_not_tell_it() {
        let secret = Secret::random();
        let shown = format!("{secret:?}");
        assert!(shown.contains(secret.prefix()) && shown.len() < 30, "{shown}");
    }
}
