//! The inbox as a person drives it: what is shown, and what each key does.

use std::collections::HashMap;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Map, Value as Json};
use wedflow_away::{LocalItem, Step};

use super::desk::{Desk, LinkState, News, Wish};
use super::form::Form;

/// Orders of a worklist, in the order in which `o` goes through them.
pub(crate) const ORDERS: [&str; 5] = ["arrival", "priority", "deadline", "size", "own"];
/// Time that leaving may take when nothing is typed, in seconds.
const WAIT_SECONDS: f64 = 60.0;

/// The whole screen.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// The person, for the title.
    pub(crate) person: String,
    /// The worklist.
    pub(crate) desk: Desk,
    /// True once the first worklist came.
    pub(crate) loaded: bool,
    /// The place of the selected item in the list.
    pub(crate) at: usize,
    /// Documents of items, with data.
    pub(crate) documents: HashMap<i64, Json>,
    /// The item whose form opens when it comes, unless another key is pressed first.
    pub(crate) awaited: Option<i64>,
    /// True while the detail fills a narrow screen.
    pub(crate) detail: bool,
    /// Lines of the detail that are scrolled away.
    pub(crate) scroll: u16,
    /// The order of the list: its place in [`ORDERS`].
    pub(crate) order: usize,
    /// The window before all else.
    pub(crate) window: Option<Window>,
    /// The last word of the server: the text, and true for an error.
    pub(crate) status: (String, bool),
    /// Wishes that are not yet granted.
    pub(crate) waiting: usize,
    /// Messages that were seen before, and those there are.
    pub(crate) messages: Option<usize>,
    /// True when the person goes.
    pub(crate) quit: bool,
}

/// A window before the list.
#[derive(Debug)]
pub(crate) enum Window {
    /// The keys.
    Help,
    /// A form for an item's result.
    Form(i64, Box<Form>),
    /// A line to type, and what becomes of it.
    Line(Purpose, String),
    /// An item's history.
    History(i64, Vec<Json>),
    /// The messages.
    Messages(Vec<Json>),
    /// A refused result, with both versions.
    Refused(Json),
    /// The steps of leaving, and what must be decided.
    Leaving(Leaving),
}

/// The state of leaving.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    pub(crate) steps: Vec<Step>,
    /// A message and a hint, when the person must decide.
    pub(crate) decide: Option<(String, String)>,
    pub(crate) wait: f64,
    pub(crate) confirmed: bool,
    pub(crate) accepted: bool,
    pub(crate) done: bool,
}

/// The purpose of a typed line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Purpose {
    /// The name of whom an item is given to.
    Delegate(i64),
    /// A task to take away together with an item.
    Together(i64),
    /// A comment.
    Comment(i64),
    /// Why an item failed.
    Fail(i64),
    /// Seconds that leaving may take.
    Leave,
}

impl Purpose {
    /// The question before the line.
    pub(crate) fn question(&self) -> String {
        match self {
            Purpose::Delegate(item) => format!("Give item {item} to whom?"),
            Purpose::Together(item) => format!("Which task follows item {item}, to take away too?"),
            Purpose::Comment(item) => format!("Comment on item {item}"),
            Purpose::Fail(item) => format!("Why did item {item} fail?"),
            Purpose::Leave => format!("Seconds that transfers may take ({WAIT_SECONDS})"),
        }
    }
}

impl Screen {
    /// The selected item.
    pub(crate) fn item(&self) -> Option<&LocalItem> {
        self.desk.items.get(self.at)
    }

    /// The document of the selected item, with data when they came.
    pub(crate) fn document(&self) -> Option<&Json> {
        let item = self.item()?;
        Some(self.documents.get(&item.item).unwrap_or(&item.document))
    }

    /// Takes news in; wishes that follow from them.
    pub(crate) fn hear(&mut self, news: News) -> Vec<Wish> {
        match news {
            News::Desk(desk) => return self.take_desk(*desk),
            News::Item(item, document) => {
                self.documents.insert(item, document);
                self.open_awaited(item);
            }
            News::History(item, entries) => self.window = Some(Window::History(item, entries)),
            News::Messages(messages) => {
                self.messages = Some(messages.len());
                self.window = Some(Window::Messages(messages));
            }
            News::Said(text) => self.status = (text, false),
            News::Failed(text, hint) => {
                self.status = (format!("{text}. {hint}").trim_end().to_owned(), true);
            }
            News::Step(step) => {
                if let Some(Window::Leaving(leaving)) = &mut self.window {
                    leaving.steps.push(step);
                }
            }
            News::Decide(message, hint) => {
                if let Some(Window::Leaving(leaving)) = &mut self.window {
                    leaving.decide = Some((message, hint));
                }
            }
            News::Left => {
                if let Some(Window::Leaving(leaving)) = &mut self.window {
                    leaving.done = true;
                }
            }
            News::Answer(item, answer) => self.take_answer(item, answer),
        }
        Vec::new()
    }

    fn take_desk(&mut self, desk: Desk) -> Vec<Wish> {
        let selected = self.item().map(|item| item.item);
        self.desk = desk;
        self.loaded = true;
        self.waiting = self.waiting.saturating_sub(1);
        let kept = self
            .desk
            .items
            .iter()
            .position(|item| Some(item.item) == selected);
        self.at = kept
            .unwrap_or(self.at)
            .min(self.desk.items.len().saturating_sub(1));
        let claims: HashMap<i64, (i64, String)> = self
            .desk
            .items
            .iter()
            .map(|one| (one.item, (one.claim, one.state.clone())))
            .collect();
        // A document of an older claim is fetched anew.
        self.documents.retain(|item, document| {
            claims.get(item).is_some_and(|(claim, state)| {
                document["claim"] == *claim && document["state"] == state.as_str()
            })
        });
        self.look_at()
    }

    fn take_answer(&mut self, item: i64, answer: Result<Map<String, Json>, String>) {
        match answer {
            Ok(values) => {
                let document = self.documents.get(&item).cloned().unwrap_or_default();
                let mut form = match self.window.take() {
                    Some(Window::Form(of, form)) if of == item => form,
                    _ => Box::new(Form::new(&document["form"], &document["data"])),
                };
                form.fill(&values);
                form.changed = true;
                self.status = (
                    "The component's values are filled in; check them, then F2 sends.".to_owned(),
                    false,
                );
                self.window = Some(Window::Form(item, form));
            }
            Err(why) => self.status = (why, true),
        }
    }

    /// Fetches the selected item's document where it is missing.
    fn look_at(&self) -> Vec<Wish> {
        match self.item() {
            Some(item) if !self.documents.contains_key(&item.item) => vec![Wish::Open(item.item)],
            _ => Vec::new(),
        }
    }

    /// Does what a key means; the wishes that follow.
    pub(crate) fn press(&mut self, key: KeyEvent) -> Vec<Wish> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            self.quit = true;
            return Vec::new();
        }
        self.awaited = None;
        let wishes = match self.window.take() {
            Some(window) => self.press_window(window, key),
            None => self.press_list(key.code),
        };
        self.waiting += wishes
            .iter()
            .filter(|wish| !matches!(wish, Wish::Open(_)))
            .count();
        wishes
    }

    fn press_list(&mut self, code: KeyCode) -> Vec<Wish> {
        match code {
            KeyCode::Char('q') => self.quit = true,
            KeyCode::Esc | KeyCode::Left => self.detail = false,
            KeyCode::Enter | KeyCode::Right => self.detail = self.item().is_some(),
            KeyCode::Down | KeyCode::Char('j') => return self.go(1),
            KeyCode::Up | KeyCode::Char('k') => return self.go(-1),
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(5),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(5),
            KeyCode::Char('?') => self.window = Some(Window::Help),
            KeyCode::Char('o') => {
                self.order = (self.order + 1) % ORDERS.len();
                self.status = (format!("order: {}", ORDERS[self.order]), false);
                return vec![Wish::Look(ORDERS[self.order])];
            }
            KeyCode::Char('m') => return vec![Wish::Messages(false)],
            KeyCode::Char('p') => return vec![Wish::Prefetch(!self.desk.prefetch)],
            KeyCode::Char('a') => self.begin_leaving(),
            KeyCode::Char('R') => return vec![Wish::Return],
            KeyCode::F(5) => return vec![Wish::Look(ORDERS[self.order])],
            KeyCode::Char(letter) => return self.press_item(letter),
            _ => {}
        }
        Vec::new()
    }

    fn go(&mut self, by: isize) -> Vec<Wish> {
        let last = self.desk.items.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
        self.scroll = 0;
        self.look_at()
    }

    /// Does what a letter means for the selected item.
    fn press_item(&mut self, letter: char) -> Vec<Wish> {
        let Some(item) = self.item().cloned() else {
            return Vec::new();
        };
        let number = item.item;
        match letter {
            's' => vec![Wish::Act(number, "select")],
            'l' => vec![Wish::Act(number, "lock")],
            'b' => vec![Wish::Act(number, "start")],
            'u' if item.state == "LOCKED" => vec![Wish::Act(number, "unlock")],
            'u' => vec![Wish::Act(number, "unselect")],
            'O' => vec![Wish::Act(number, "take-over")],
            'h' => vec![Wish::History(number)],
            'J' | 'K' => self.reorder(letter == 'J'),
            'd' | 'D' => self.run(&item, letter == 'D'),
            'r' => self.open_form(&item),
            'x' => {
                let refused = self.desk.results.iter().find(|one| one.item == number);
                if let Some(answer) = refused.and_then(|one| one.answer.clone()) {
                    self.window = Some(Window::Refused(answer));
                }
                Vec::new()
            }
            _ => {
                let purpose = match letter {
                    'g' => Purpose::Delegate(number),
                    'c' => Purpose::Comment(number),
                    'f' => Purpose::Fail(number),
                    't' => Purpose::Together(number),
                    _ => return Vec::new(),
                };
                self.window = Some(Window::Line(purpose, String::new()));
                Vec::new()
            }
        }
    }

    /// Moves the selected item in the person's own order.
    fn reorder(&mut self, down: bool) -> Vec<Wish> {
        let own = ORDERS.len() - 1;
        let Some(item) = self.item().map(|item| item.item) else {
            return Vec::new();
        };
        let before = if down {
            self.at + 2
        } else {
            self.at.saturating_sub(1)
        };
        let before = self.desk.items.get(before).map(|item| item.item);
        self.order = own;
        vec![
            Wish::Move(item, before.filter(|before| *before != item)),
            Wish::Look(ORDERS[own]),
        ]
    }

    fn run(&mut self, item: &LocalItem, at_server: bool) -> Vec<Wish> {
        if item.document["application"].is_null() {
            return self.open_form(item);
        }
        if !item.enabled {
            self.status = (why_disabled(item, self.desk.link), true);
            return Vec::new();
        }
        self.status = ("The component runs …".to_owned(), false);
        match at_server {
            true => vec![Wish::DoAtServer(item.item, Map::new())],
            false => vec![Wish::Do(item.item, Map::new())],
        }
    }

    /// Opens an item's form, or fetches it first.
    fn open_form(&mut self, item: &LocalItem) -> Vec<Wish> {
        if !item.enabled {
            self.status = (why_disabled(item, self.desk.link), true);
            return Vec::new();
        }
        let document = self.documents.get(&item.item).unwrap_or(&item.document);
        if document["form"].is_null() {
            self.awaited = Some(item.item);
            self.status = ("The form is on its way …".to_owned(), false);
            return vec![Wish::Open(item.item)];
        }
        let form = Form::new(&document["form"], &document["data"]);
        self.window = Some(Window::Form(item.item, Box::new(form)));
        Vec::new()
    }

    /// Opens the form that somebody waits for, now that its document came.
    fn open_awaited(&mut self, came: i64) {
        let selected = self.item().filter(|item| item.item == came).cloned();
        let Some(item) = selected.filter(|_| self.awaited == Some(came)) else {
            return;
        };
        if self.documents[&came]["form"].is_null() {
            // Asked for before the item was this person's.
            self.status = ("The form has not come yet; F5 asks again.".to_owned(), true);
            return;
        }
        self.awaited = None;
        self.status = (String::new(), false);
        self.open_form(&item);
    }

    fn begin_leaving(&mut self) {
        if !self.desk.may_leave {
            let why = "To leave, the inbox needs a server: wed work --server URL --token TOKEN";
            self.status = (why.to_owned(), true);
        } else if self.desk.link == LinkState::Connected {
            self.window = Some(Window::Line(Purpose::Leave, String::new()));
        } else {
            self.status = ("You are away already; R returns.".to_owned(), true);
        }
    }

    fn press_window(&mut self, window: Window, key: KeyEvent) -> Vec<Wish> {
        match window {
            Window::Form(item, form) => self.press_form(item, form, key),
            Window::Line(purpose, text) => self.press_line(purpose, text, key.code),
            Window::Leaving(leaving) => self.press_leaving(leaving, key.code),
            Window::Messages(_) if key.code == KeyCode::Char('D') => vec![Wish::Messages(true)],
            Window::Refused(answer) if key.code == KeyCode::Char('D') => answer["item"]
                .as_i64()
                .map(Wish::Forget)
                .into_iter()
                .collect(),
            // Any other key closes it.
            _ => Vec::new(),
        }
    }

    fn press_form(&mut self, item: i64, mut form: Box<Form>, key: KeyEvent) -> Vec<Wish> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => {
                self.status = ("Nothing was sent.".to_owned(), false);
                return Vec::new();
            }
            KeyCode::F(2) => return self.send(item, form),
            KeyCode::Char('s') if control => return self.send(item, form),
            KeyCode::F(3) => return self.check(item, form),
            KeyCode::Tab | KeyCode::Down | KeyCode::Enter => form.step(true),
            KeyCode::BackTab | KeyCode::Up => form.step(false),
            KeyCode::Backspace => form.erase(),
            KeyCode::Char('u') if control => form.empty(),
            KeyCode::Char(character) if !control => form.typed(character),
            _ => {}
        }
        self.window = Some(Window::Form(item, form));
        Vec::new()
    }

    /// Sends a form that its schema accepts; else it stays, with what is wrong.
    fn send(&mut self, item: i64, mut form: Box<Form>) -> Vec<Wish> {
        let Some(values) = form.values() else {
            self.window = Some(Window::Form(item, form));
            return Vec::new();
        };
        vec![Wish::Report {
            item,
            success: true,
            values,
            reason: None,
        }]
    }

    /// Lets the item's component look at what was typed.
    fn check(&mut self, item: i64, mut form: Box<Form>) -> Vec<Wish> {
        let values = form.values();
        self.window = Some(Window::Form(item, form));
        let has = self
            .documents
            .get(&item)
            .is_some_and(|one| !one["application"].is_null());
        match values {
            Some(values) if has => vec![Wish::Do(item, values)],
            Some(_) => {
                self.status = (
                    "The form is right; the item has no component to ask.".to_owned(),
                    false,
                );
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn press_line(&mut self, purpose: Purpose, mut text: String, code: KeyCode) -> Vec<Wish> {
        match code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => return self.enter(purpose, text.trim().to_owned()),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(character) => text.push(character),
            _ => {}
        }
        self.window = Some(Window::Line(purpose, text));
        Vec::new()
    }

    fn enter(&mut self, purpose: Purpose, text: String) -> Vec<Wish> {
        if text.is_empty() && purpose != Purpose::Leave {
            return Vec::new();
        }
        match purpose {
            Purpose::Delegate(item) => vec![Wish::Delegate(item, text)],
            Purpose::Together(item) => vec![Wish::TakeTogether(item, text)],
            Purpose::Comment(item) => vec![Wish::Comment(item, text)],
            Purpose::Fail(item) => {
                let values = Map::new();
                vec![Wish::Report {
                    item,
                    success: false,
                    values,
                    reason: Some(text),
                }]
            }
            Purpose::Leave => {
                let wait = text.parse().unwrap_or(WAIT_SECONDS);
                self.leave(Leaving {
                    wait,
                    ..Leaving::default()
                })
            }
        }
    }

    fn leave(&mut self, leaving: Leaving) -> Vec<Wish> {
        let Leaving {
            wait,
            confirmed,
            accepted,
            ..
        } = leaving;
        self.window = Some(Window::Leaving(leaving));
        vec![Wish::Leave {
            wait,
            confirmed,
            accepted,
        }]
    }

    fn press_leaving(&mut self, leaving: Leaving, code: KeyCode) -> Vec<Wish> {
        match (&leaving.decide, code) {
            (Some((message, _)), KeyCode::Char('y')) => {
                let selected = message.contains("selected");
                self.leave(Leaving {
                    wait: leaving.wait,
                    confirmed: leaving.confirmed || selected,
                    accepted: leaving.accepted || !selected,
                    ..Leaving::default()
                })
            }
            (None, _) if !leaving.done && code != KeyCode::Esc => {
                self.window = Some(Window::Leaving(leaving));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The refused result of the selected item, if there is one.
    pub(crate) fn refused(&self) -> Option<&Json> {
        let item = self.item()?.item;
        let result = self.desk.results.iter().find(|one| one.item == item)?;
        result.answer.as_ref()
    }
}

/// Says why an item cannot be done now, and what helps.
pub(crate) fn why_disabled(item: &LocalItem, link: LinkState) -> String {
    let number = item.item;
    match (item.result.as_deref(), link) {
        (Some("refused"), _) => {
            format!("The result of item {number} was refused; x shows both versions.")
        }
        (Some(_), _) => format!("The result of item {number} is kept; R sends it."),
        (None, LinkState::Connected) => {
            format!("Item {number} is not yours yet: s selects it, l locks it.")
        }
        (None, _) if item.state != "LOCKED" => {
            format!(
                "Without a connection only locked items are done; item {number} is {}.",
                item.state
            )
        }
        _ => format!("Item {number} was not transferred in whole."),
    }
}
