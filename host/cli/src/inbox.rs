//! `wed work` as a full screen: a person's worklist, connected or not.
//!
//! - `screen`: what is shown, and what each key does
//! - `draw`: the picture of it
//! - `form`: a form made of a JSON Schema
//! - `words`: what the threads tell each other
//! - `desk`: the thread that keeps the local store, and what is shown of it
//! - `courier`: the thread that asks the server
//! - `follow`: the thread that hears of changes to the worklist
//! - `server`: the API's client as these threads ask it

mod courier;
mod desk;
mod draw;
mod follow;
pub(crate) mod form;
mod screen;
pub(crate) mod server;
mod words;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use wedflow_away::AwayError;

use desk::Threads;
use screen::Screen;
use server::Server;
use words::{News, Wish};

/// Time between two looks at the keyboard.
const TICK: Duration = Duration::from_millis(50);

/// Shows the inbox until the person quits.
///
/// # Errors
/// When the local store or the terminal cannot be used.
pub(crate) fn show(person: &str, server: Server, store: Option<PathBuf>) -> Result<(), AwayError> {
    let Threads { wishes, news, keeper } = desk::start(server, store)?;
    let mut screen = Screen { person: person.to_owned(), ..Screen::default() };
    let cannot = |error: std::io::Error| AwayError::NotEnabled(format!("the terminal cannot be used: {error}"));
    let mut terminal = ratatui::try_init().map_err(cannot)?;
    let shown = drive(&mut terminal, &mut screen, &wishes, &news);
    ratatui::restore();
    // What was typed last is on the disk before the program ends.
    if wishes.send(Wish::End).is_ok() {
        let _ = keeper.join();
    }
    shown.map_err(cannot)
}

fn drive(
    terminal: &mut ratatui::DefaultTerminal,
    screen: &mut Screen,
    wishes: &Sender<Wish>,
    news: &Receiver<News>,
) -> std::io::Result<()> {
    while !screen.may_end() {
        let now = jiff::Timestamp::now().to_string();
        terminal.draw(|frame| draw::draw(frame, screen, &now))?;
        let mut follow = Vec::new();
        if event::poll(TICK)?
            && let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
        {
            follow.extend(screen.press(key));
        }
        for heard in news.try_iter() {
            follow.extend(screen.hear(heard));
        }
        for wish in follow {
            if wishes.send(wish).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}
