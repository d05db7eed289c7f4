//! A host and port, as operators and flows write them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::Host;

/// A host and port to which HTTP may be spoken: `api.example.com:443`, `127.0.0.1:8080`, `[::1]:8080`. A
/// name, not a pattern; in small letters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPort {
    host: Host,
    port: u16,
}

/// A text that names no host and port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" names no host and port; write one such as api.example.com:443, without a scheme")]
pub struct HostPortError(pub String);

impl HostPort {
    /// A host and port.
    pub fn new(host: Host, port: u16) -> Self {
        HostPort { host, port }
    }

    /// The port at an address.
    pub fn at(address: SocketAddr) -> Self {
        let host = match address.ip().to_canonical() {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        HostPort::new(host, address.port())
    }

    /// The host and port that a URL of `http` or `https` names.
    pub fn of_url(url: &str) -> Option<Self> {
        let url = url::Url::parse(url).ok()?;
        let port = url.port_or_known_default()?;
        Some(HostPort::new(url.host()?.to_owned(), port))
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, HostPortError> {
        let wrong = || HostPortError(text.chars().take(200).collect());
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        if host.is_empty() || host.contains('*') || !port.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        Ok(HostPort {
            host: Host::parse(host).map_err(|_| wrong())?,
            port: port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?,
        })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A host and port that an operator permits: to all tenants, or to one of them, written before it
/// (`acme/10.0.0.5:8080`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The tenant whose flows may reach it; every tenant's when absent.
    pub tenant: Option<String>,
    /// The host and port.
    pub target: HostPort,
}

impl Permission {
    /// Returns whether flows of this tenant have it.
    pub fn holds_for(&self, tenant: &str) -> bool {
        self.tenant.as_deref().is_none_or(|own| own == tenant)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tenant {
            Some(tenant) => write!(f, "{tenant}/{}", self.target),
            None => self.target.fmt(f),
        }
    }
}

impl FromStr for Permission {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, HostPortError> {
        let (tenant, target) = match text.split_once('/') {
            Some((tenant, target)) if !tenant.is_empty() => (Some(tenant.to_owned()), target),
            Some(_) => return Err(HostPortError(text.chars().take(200).collect())),
            None => (None, text),
        };
        Ok(Permission { tenant, target: target.parse()? })
    }
}

impl TryFrom<String> for HostPort {
    type Error = HostPortError;

    fn try_from(text: String) -> Result<Self, HostPortError> {
        text.parse()
    }
}

impl From<HostPort> for String {
    fn from(target: HostPort) -> String {
        target.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_for_all_or_for_one() {
        let all: Permission = "api.example.com:443".parse().expect("for all");
        assert!(all.holds_for("acme") && all.holds_for("other"));
        let one: Permission = "acme/10.0.0.5:8080".parse().expect("for one");
        assert!(one.holds_for("acme") && !one.holds_for("other"));
        assert_eq!(one.target, "10.0.0.5:8080".parse().expect("a target"));
        for wrong in ["/a.b:1", "acme/", "acme/a.b", "https://a.b:1", "a/b/c:1"] {
            assert!(wrong.parse::<Permission>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn hosts_and_ports_are_read_and_written() {
        for (text, written) in [
            ("api.example.com:443", "api.example.com:443"),
            ("API.Example.com:80", "api.example.com:80"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            // The same address in another notation is the same target.
            ("0x7f.1:8080", "127.0.0.1:8080"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            let target: HostPort = text.parse().expect("a target");
            assert_eq!(target.to_string(), written);
        }
        for text in ["", ":80", "a", "a:", "a:0", "a:70000", "*.a:80", "http://a:80", "a:+80", "a b:80", "::1:x"] {
            assert!(text.parse::<HostPort>().is_err(), "{text}");
        }
    }
}
