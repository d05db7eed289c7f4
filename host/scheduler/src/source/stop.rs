//! Requests to stop as sources: from within the process and from the operating system.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::Shared;

use super::{EventSource, Observing};
use crate::lock::locked;

/// A stop signal: the trigger, and a source that may be cloned for several schedulers. Each clone
/// delivers one event when the trigger is pulled or its last clone is dropped, and then ends.
pub fn stop_source() -> (StopTrigger, StopSource) {
    let (sender, receiver) = oneshot::channel();
    let trigger = StopTrigger { sender: Arc::new(Mutex::new(Some(sender))) };
    let source = StopSource { asked: Some(receiver.shared()) };
    (trigger, source)
}

/// Pulls the stop of every clone of its [`StopSource`].
#[derive(Debug, Clone)]
pub struct StopTrigger {
    sender: Arc<Mutex<Option<oneshot::Sender<()>>>>,
}

impl StopTrigger {
    /// Asks for the stop. Further calls do nothing.
    pub fn stop(&self) {
        drop(locked(&self.sender).take());
    }
}

/// The source of [`stop_source`].
#[derive(Debug, Clone)]
pub struct StopSource {
    asked: Option<Shared<oneshot::Receiver<()>>>,
}

impl EventSource for StopSource {
    type Event = ();

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<()>> {
        let Some(asked) = &mut self.asked else {
            return Poll::Ready(None);
        };
        let _dropped_or_sent = std::task::ready!(Pin::new(asked).poll(&mut observing.context()));
        self.asked = None;
        Poll::Ready(Some(()))
    }
}

/// The signal of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Termination {
    /// Ctrl-C (SIGINT).
    Interrupt,
    /// An orderly end (SIGTERM; on Windows, Ctrl-Break).
    Terminate,
}

/// The signals by which a person or a service manager ends a process, as a source that stays active for
/// ever. From this call on they no longer end the process by themselves. Needs a tokio runtime
/// with I/O enabled.
///
/// # Errors
/// The operating system's, if it refuses the handlers.
pub fn termination() -> io::Result<TerminationSource> {
    TerminationSource::new()
}

/// The source of [`termination`].
#[derive(Debug)]
pub struct TerminationSource {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
    #[cfg(windows)]
    terminate: tokio::signal::windows::CtrlBreak,
}

impl TerminationSource {
    #[cfg(unix)]
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(TerminationSource {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(windows)]
    fn new() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c};
        Ok(TerminationSource { interrupt: ctrl_c()?, terminate: ctrl_break()? })
    }
}

impl EventSource for TerminationSource {
    type Event = Termination;

    fn poll_event(&mut self, observing: &mut Observing<'_>) -> Poll<Option<Termination>> {
        let cx = &mut observing.context();
        if let Poll::Ready(Some(())) = self.terminate.poll_recv(cx) {
            return Poll::Ready(Some(Termination::Terminate));
        }
        if let Poll::Ready(Some(())) = self.interrupt.poll_recv(cx) {
            return Poll::Ready(Some(Termination::Interrupt));
        }
        Poll::Pending
    }
}
