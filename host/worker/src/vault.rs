//! Secrets at rest: encrypted under the installation's key, bound to their flow and name.

use std::fmt;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use wedflow_model::FlowId;
use wedflow_store::SealedSecret;

/// The fewest bytes of a secret: a shorter one could not be masked without masking everything.
pub const MIN_SECRET_BYTES: usize = 4;

/// The most bytes of a secret.
pub const MAX_SECRET_BYTES: usize = 64 << 10;

/// Looks for the key to secrets; none where there is none yet.
pub type FindSecretKey = fn() -> Option<SecretKey>;

/// The key under which an installation's secrets are encrypted: 32 bytes. Its `Debug` shows nothing.
#[derive(Clone)]
pub struct SecretKey(XChaCha20Poly1305);

/// Why a secret cannot be stored or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The text is no key.
    #[error("a key has 64 hexadecimal digits")]
    NoKey,
    /// Too short to be masked, too long to be kept, or not storable.
    #[error("a secret has {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} bytes of UTF-8")]
    Size,
    /// Encrypted under another key, for another flow or name, or damaged.
    #[error("it cannot be decrypted: it was stored under another key, or is damaged")]
    NotOurs,
}

impl SecretKey {
    /// A key from its 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`SecretError::NoKey`] for any other text.
    pub fn from_hex(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(SecretError::NoKey);
        }
        let mut key = [0; 32];
        for (at, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| SecretError::NoKey)?;
        }
        Ok(SecretKey(XChaCha20Poly1305::new(&Key::from(key))))
    }

    /// A new key, as hexadecimal digits.
    pub fn fresh_hex() -> String {
        rand::random::<[u8; 32]>().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Encrypts a secret of a flow: ciphertext and nonce.
    ///
    /// # Errors
    /// [`SecretError::Size`] when it is too short or too long.
    pub fn seal(&self, flow: FlowId, name: &str, secret: &str) -> Result<(Vec<u8>, Vec<u8>), SecretError> {
        if !(MIN_SECRET_BYTES..=MAX_SECRET_BYTES).contains(&secret.len()) {
            return Err(SecretError::Size);
        }
        let nonce = rand::random::<[u8; 24]>();
        let payload = Payload { msg: secret.as_bytes(), aad: &associated(flow, name) };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload).map_err(|_| SecretError::Size)?;
        Ok((sealed, nonce.to_vec()))
    }

    /// Decrypts a secret of a flow.
    ///
    /// # Errors
    /// [`SecretError::NotOurs`].
    pub fn open(&self, flow: FlowId, sealed: &SealedSecret) -> Result<String, SecretError> {
        let nonce = <[u8; 24]>::try_from(sealed.nonce.as_slice()).map_err(|_| SecretError::NotOurs)?;
        let payload = Payload { msg: &sealed.ciphertext, aad: &associated(flow, &sealed.name) };
        let bytes = self.0.decrypt(&XNonce::from(nonce), payload).map_err(|_| SecretError::NotOurs)?;
        String::from_utf8(bytes).map_err(|_| SecretError::NotOurs)
    }
}

/// Returns the data that a ciphertext is bound to, so that it cannot be moved to another flow or name.
fn associated(flow: FlowId, name: &str) -> Vec<u8> {
    [b"wedflow secret 1\0", &flow.get().to_be_bytes()[..], name.as_bytes()].concat()
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_opens_where_it_was_sealed_and_nowhere_else() {
        let (flow, other_flow) = (FlowId::new(7), FlowId::new(8));
        let text = SecretKey::fresh_hex();
        let key = SecretKey::from_hex(&format!("{text}\n")).expect("a key");
        let (ciphertext, nonce) = key.seal(flow, "api", "hunter2").expect("sealed");
        assert!(!ciphertext.windows(7).any(|part| part == b"hunter2"));
        let sealed =
            SealedSecret { name: "api".into(), ciphertext, nonce, transitions: Vec::new(), senders: Vec::new() };
        assert_eq!(key.open(flow, &sealed).as_deref(), Ok("hunter2"));
        assert_eq!(key.open(other_flow, &sealed), Err(SecretError::NotOurs));
        let renamed = SealedSecret { name: "other".into(), ..sealed.clone() };
        assert_eq!(key.open(flow, &renamed), Err(SecretError::NotOurs));
        let mut damaged = sealed.clone();
        damaged.ciphertext[0] ^= 1;
        assert_eq!(key.open(flow, &damaged), Err(SecretError::NotOurs));
        let other = SecretKey::from_hex(&SecretKey::fresh_hex()).expect("a key");
        assert_eq!(other.open(flow, &sealed), Err(SecretError::NotOurs));
        // The same secret is never the same ciphertext.
        let again = key.seal(flow, "api", "hunter2").expect("sealed");
        assert_ne!(again.0, sealed.ciphertext);
        assert_eq!(key.seal(flow, "api", "abc"), Err(SecretError::Size));
        assert!(SecretKey::from_hex("12").is_err());
    }
}
