//! TLS towards the outside: rustls, with the roots that Mozilla trusts and those that an operator adds.

use std::sync::{Arc, LazyLock};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Authorities whose certificates are trusted.
#[derive(Debug, Clone)]
pub struct Trust(Arc<ClientConfig>);

/// A file of authorities that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no certificates of authorities: {0}; a file in PEM is needed, with one or more certificates")]
pub struct TrustError(String);

impl Trust {
    /// The authorities that Mozilla trusts, and those of a text in PEM.
    ///
    /// # Errors
    /// [`TrustError`] when it holds none, or one that is none.
    pub fn also(pem: &[u8]) -> Result<Self, TrustError> {
        let mut roots = public();
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| TrustError(error.to_string()))?;
            roots.add(certificate).map_err(|error| TrustError(error.to_string()))?;
        }
        if roots.len() == before {
            return Err(TrustError("it holds none".to_owned()));
        }
        Ok(Trust(config(roots)))
    }

    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

/// The authorities that Mozilla trusts.
impl Default for Trust {
    fn default() -> Self {
        static PUBLIC: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| config(public()));
        Trust(Arc::clone(&PUBLIC))
    }
}

fn public() -> RootCertStore {
    RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned())
}

fn config(roots: RootCertStore) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring serves the versions of TLS that rustls does")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}
