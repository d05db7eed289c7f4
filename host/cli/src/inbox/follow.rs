//! Hears of changes to the worklist, on a thread of its own, and wishes a look at each.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wedflow_away::AwayError;

use super::words::Wish;

/// Time between the end of a stream and the next try to open one.
const OPEN_AGAIN: Duration = Duration::from_secs(1);
/// Maximum of this time, after streams that brought nothing.
const OPEN_AGAIN_MAX: Duration = Duration::from_secs(30);

/// A stream of changes to one person's worklist.
pub(crate) trait Changes: Send {
    /// Opens the stream behind the last change that was heard. Marks the person as connected.
    fn open(&mut self) -> Result<(), AwayError>;
    /// Waits for the next change, or a sign of life: true for a change.
    fn wait(&mut self) -> Result<bool, AwayError>;
}

/// Permission to hear changes: true while the person is connected. Clones share it.
#[derive(Clone)]
pub(crate) struct Permission(Arc<Mutex<bool>>);

impl Permission {
    pub(crate) fn new(given: bool) -> Self {
        Permission(Arc::new(Mutex::new(given)))
    }

    /// Locks the permission: no stream is opened until the guard is dropped.
    pub(crate) fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows the changes while it is permitted, until nobody takes its wishes.
pub(crate) fn follow(mut changes: Box<dyn Changes>, permission: &Permission, wish: &Sender<Wish>) {
    let mut pause = OPEN_AGAIN;
    loop {
        if open(changes.as_mut(), permission) {
            if wish.send(Wish::Follow(true)).is_err() {
                return;
            }
            let heard = hear(changes.as_mut(), permission, wish);
            if wish.send(Wish::Follow(false)).is_err() {
                return;
            }
            pause = match heard {
                0 => OPEN_AGAIN_MAX.min(pause * 2),
                _ => OPEN_AGAIN,
            };
        } else if *permission.lock() {
            pause = OPEN_AGAIN_MAX.min(pause * 2);
        }
        std::thread::sleep(pause);
    }
}

/// Opens the stream if it is permitted; true if it is open. Holds the permission meanwhile: a person who leaves is not
/// marked as connected behind that.
fn open(changes: &mut dyn Changes, permission: &Permission) -> bool {
    let permitted = permission.lock();
    *permitted && changes.open().is_ok()
}

/// Wishes a look at each change, until the stream or the permission ends; the number of changes.
fn hear(changes: &mut dyn Changes, permission: &Permission, wish: &Sender<Wish>) -> usize {
    let mut heard = 0;
    while let Ok(changed) = changes.wait() {
        if !*permission.lock() || changed && wish.send(Wish::Look("")).is_err() {
            break;
        }
        heard += usize::from(changed);
    }
    heard
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

    use super::*;

    /// Changes by a script; cut at its end.
    struct Script {
        opens: VecDeque<bool>,
        heard: VecDeque<bool>,
    }

    impl Changes for Script {
        fn open(&mut self) -> Result<(), AwayError> {
            let opened = self.opens.pop_front().unwrap_or(false);
            opened.then_some(()).ok_or(AwayError::Cut("not opened".to_owned()))
        }

        fn wait(&mut self) -> Result<bool, AwayError> {
            self.heard.pop_front().ok_or(AwayError::Cut("cut".to_owned()))
        }
    }

    fn wishes(opens: &[bool], heard: &[bool], permission: &Permission) -> Receiver<Wish> {
        let (wish, wishes) = channel();
        let (opens, heard) = (opens.to_vec().into(), heard.to_vec().into());
        let permission = permission.clone();
        std::thread::spawn(move || {
            follow(Box::new(Script { opens, heard }), &permission, &wish);
        });
        wishes
    }

    #[test]
    fn each_change_is_looked_at_until_the_stream_ends() {
        let permission = Permission::new(true);
        let wishes = wishes(&[true, false, true], &[true, false, true], &permission);
        let (followed, left, look) = (Wish::Follow(true), Wish::Follow(false), Wish::Look(""));
        let first = [followed.clone(), look.clone(), look, left.clone(), followed, left];
        for expected in first {
            assert_eq!(wishes.recv().expect("a wish"), expected);
        }
    }

    #[test]
    fn no_stream_is_opened_for_a_person_who_left() {
        let permission = Permission::new(false);
        let wishes = wishes(&[true], &[true], &permission);
        let heard = wishes.recv_timeout(OPEN_AGAIN / 2);
        assert_eq!(heard, Err(RecvTimeoutError::Timeout));
        *permission.lock() = true;
        assert_eq!(wishes.recv(), Ok(Wish::Follow(true)));
    }
}
