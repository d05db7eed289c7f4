//! TLS towards the outside: rustls, with the roots that Mozilla trusts.

use std::sync::{Arc, LazyLock};

use rustls::{ClientConfig, RootCertStore};

/// The settings of all connections.
pub(crate) fn config() -> Arc<ClientConfig> {
    static CONFIG: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
        let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring serves the versions of TLS that rustls does")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Arc::new(config)
    });
    Arc::clone(&CONFIG)
}
