//! Access of a guest outside the call, if granted: files and HTTP, of the host, of a test, or from a recording.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use wedflow_capability::HostPort;
use wedflow_capability::files::{Draft, Files};
use wedflow_capability::http::Http;
use wedflow_model::Wid;

use crate::answers::HttpAnswer;
use crate::asker::Asker;

/// Recorded name of a request or file operation that was refused before it was looked at.
pub(crate) const NOT_GRANTED: &str = "not granted";

/// Access that operator and flow both grant a transition.
#[derive(Debug, Clone, Default)]
pub struct Granted {
    /// The files of its instances.
    pub files: Option<FilesFrom>,
    /// HTTP.
    pub http: Option<HttpFrom>,
}

impl Granted {
    /// Returns true if a test answers.
    pub(crate) fn is_of_test(&self) -> bool {
        matches!(self.files, Some(FilesFrom::Test(_))) || matches!(self.http, Some(HttpFrom::Test(_)))
    }
}

/// Source of the answers about files.
#[derive(Debug, Clone)]
pub enum FilesFrom {
    /// The host's.
    Host {
        /// Files of the host.
        files: Files,
        /// A name of the flow that no other flow of any database has.
        flow: Arc<str>,
    },
    /// A test's: what is there before. What is written goes nowhere.
    Test(BTreeMap<String, Vec<u8>>),
}

/// Source of the answers to HTTP requests.
#[derive(Debug, Clone)]
pub enum HttpFrom {
    /// The network.
    Network {
        /// Requests that the operator permits.
        http: Http,
        /// Hosts and ports that the flow allows.
        allowed: Arc<[HostPort]>,
    },
    /// A test: these, in this order, and nothing else.
    Test(Vec<Exchange>),
}

/// A request that a test expects, and what it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The method.
    pub method: String,
    /// The URL, as it is asked for.
    pub url: String,
    /// The body; any when absent.
    pub body: Option<Vec<u8>>,
    /// The answer.
    pub answer: HttpAnswer,
}

/// Access of one call.
#[derive(Default)]
pub(crate) struct Outside {
    /// Draft of the instance's files; none if files are not granted, or while a thread that may block holds it.
    pub(crate) draft: Option<Draft>,
    pub(crate) http: Option<HttpHere>,
    /// Key of the state that fired the transition.
    pub(crate) key: String,
    /// Header `traceparent` of requests.
    pub(crate) traceparent: Option<String>,
    /// Host that is asked for what lies outside of this guest process.
    pub(crate) asker: Option<Asker>,
}

/// Source of the answers to one call's HTTP requests.
pub(crate) enum HttpHere {
    Network { http: Http, allowed: Arc<[HostPort]> },
    Test(Arc<Mutex<VecDeque<Exchange>>>),
}

impl Outside {
    /// Returns true if files are granted.
    pub(crate) fn has_files(&self) -> bool {
        self.draft.is_some() || self.asker.as_ref().is_some_and(|asker| asker.files)
    }

    /// Returns true if HTTP is granted.
    pub(crate) fn has_http(&self) -> bool {
        self.http.is_some() || self.asker.as_ref().is_some_and(|asker| asker.http)
    }

    pub(crate) fn new(granted: &Granted, wid: Wid, key: &str) -> Self {
        Outside {
            draft: granted.files.as_ref().map(|from| match from {
                FilesFrom::Host { files, flow } => files.draft(flow, wid.get()),
                FilesFrom::Test(before) => Draft::in_memory(before.clone()),
            }),
            http: granted.http.as_ref().map(|from| match from {
                HttpFrom::Network { http, allowed } => {
                    HttpHere::Network { http: http.clone(), allowed: Arc::clone(allowed) }
                }
                HttpFrom::Test(exchanges) => HttpHere::Test(Arc::new(Mutex::new(exchanges.iter().cloned().collect()))),
            }),
            key: key.to_owned(),
            traceparent: None,
            asker: None,
        }
    }
}
