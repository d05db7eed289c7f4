//! The inbox as a person drives it: what is shown, and what each key does.

use std::collections::HashMap;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Map, Value as Json};
use wedflow_away::{KeptResult, LocalItem, Step};

use super::form::{Field, Form};
use super::words::{Desk, LinkState, News, Wish};

/// Orders of a worklist, in the order in which `o` goes through them.
pub(crate) const ORDERS: [&str; 5] = ["arrival", "priority", "deadline", "size", "own"];
/// Time that leaving may take when nothing is typed, in seconds.
const WAIT_SECONDS: f64 = 60.0;
/// Number of items by which a page key moves.
const PAGE: isize = 10;

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
    /// Lines of the window that are scrolled away.
    pub(crate) window_scroll: u16,
    /// Only items with this text are listed.
    pub(crate) filter: String,
    /// The item that left the list under the cursor, until the person chose another.
    pub(crate) gone: Option<i64>,
    /// Texts of forms that were begun, by item.
    pub(crate) drafts: HashMap<i64, Map<String, Json>>,
    /// Results that are not on the disk yet.
    pub(crate) unsaved: usize,
    /// True when the person goes.
    pub(crate) quit: bool,
    /// True when the person goes although a result is not on the disk.
    pub(crate) forced: bool,
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
    /// A result that the server did not take, with both versions where there are two.
    Result(Box<KeptResult>),
    /// All results: saved here, on their way, confirmed, refused.
    Outbox,
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
    /// A process to start.
    Begin,
    /// A text to look for in the list.
    Search,
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
            Purpose::Begin => "Start which process? You are in charge of it.".to_owned(),
            Purpose::Search => "List only items with this text (none: all)".to_owned(),
            Purpose::Leave => format!("Seconds that transfers may take ({WAIT_SECONDS})"),
        }
    }
}

impl Screen {
    /// True once the program may end: the person goes, and nothing is unsaved.
    pub(crate) fn may_end(&self) -> bool {
        self.quit && (self.unsaved == 0 || self.forced)
    }

    /// The items that are listed.
    pub(crate) fn visible(&self) -> Vec<&LocalItem> {
        let wanted = self.filter.to_lowercase();
        let has = |item: &&LocalItem| {
            let document = &item.document;
            wanted.is_empty()
                || item.item.to_string() == wanted
                || ["task", "instance", "flow", "description"]
                    .iter()
                    .filter_map(|name| document[*name].as_str())
                    .any(|text| text.to_lowercase().contains(&wanted))
        };
        self.desk.items.iter().filter(has).collect()
    }

    /// The selected item.
    pub(crate) fn item(&self) -> Option<&LocalItem> {
        self.visible().get(self.at).copied()
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
                self.desk.message = None;
                self.window = Some(Window::Messages(messages));
            }
            News::Saved(item, kept) => {
                self.unsaved = self.unsaved.saturating_sub(1);
                if kept {
                    self.drafts.remove(&item);
                } else {
                    // The person stays, for what was typed is not kept.
                    self.quit = false;
                }
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
        if !self.loaded {
            let known = ORDERS.iter().position(|order| Some(*order) == desk.order.as_deref());
            self.order = known.unwrap_or(self.order);
        }
        self.desk = desk;
        self.loaded = true;
        self.waiting = self.waiting.saturating_sub(1);
        let listed = self.visible();
        let kept = listed.iter().position(|item| Some(item.item) == selected);
        let last = listed.len().saturating_sub(1);
        if kept.is_none() {
            self.gone = selected.or(self.gone);
        }
        self.at = kept.unwrap_or(self.at).min(last);
        let listed: HashMap<i64, &LocalItem> = self.desk.items.iter().map(|one| (one.item, one)).collect();
        // A document of an older claim, or of data that changed since, is fetched anew.
        self.documents.retain(|item, document| {
            listed.get(item).is_some_and(|one| {
                document["claim"] == one.claim
                    && document["state"] == one.state.as_str()
                    && document["mark"] == one.document["mark"]
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
                    _ => Box::new(Form::new(&document)),
                };
                form.fill(&values);
                self.status = ("The component's values are filled in; check them, then F2 sends.".to_owned(), false);
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
            self.forced = self.quit;
            self.quit = true;
            return Vec::new();
        }
        self.awaited = None;
        let wishes = match self.window.take() {
            Some(window) => self.press_window(window, key),
            None => self.press_list(key.code),
        };
        self.waiting += wishes.iter().filter(|wish| !matches!(wish, Wish::Open(_) | Wish::Draft(..))).count();
        self.unsaved += wishes.iter().filter(|wish| matches!(wish, Wish::Report { .. } | Wish::SendAgain(..))).count();
        wishes
    }

    fn press_list(&mut self, code: KeyCode) -> Vec<Wish> {
        match code {
            KeyCode::Char('q') => {
                self.quit = true;
                if self.unsaved > 0 {
                    let text = "A result is being saved; then the program ends. Ctrl-C ends it at once.";
                    self.status = (text.to_owned(), true);
                }
            }
            KeyCode::Esc | KeyCode::Left => self.detail = false,
            KeyCode::Enter | KeyCode::Right => self.detail = self.item().is_some(),
            KeyCode::Down | KeyCode::Char('j') => return self.go(1),
            KeyCode::Up | KeyCode::Char('k') => return self.go(-1),
            KeyCode::PageDown if self.detail => self.scroll = self.scroll.saturating_add(5),
            KeyCode::PageUp if self.detail => self.scroll = self.scroll.saturating_sub(5),
            KeyCode::PageDown => return self.go(PAGE),
            KeyCode::PageUp => return self.go(-PAGE),
            KeyCode::Home => return self.go(isize::MIN),
            KeyCode::End => return self.go(isize::MAX),
            KeyCode::Char('?') => self.open_window(Window::Help),
            KeyCode::Char('v') => self.open_window(Window::Outbox),
            KeyCode::Char('n') => self.window = Some(Window::Line(Purpose::Begin, String::new())),
            KeyCode::Char('/') => self.window = Some(Window::Line(Purpose::Search, self.filter.clone())),
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

    fn open_window(&mut self, window: Window) {
        self.window_scroll = 0;
        self.window = Some(window);
    }

    fn go(&mut self, by: isize) -> Vec<Wish> {
        let last = self.visible().len().saturating_sub(1);
        self.gone = None;
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
        if let Some(gone) = self.gone.take() {
            let text = format!(
                "Item {gone} left the list; the cursor is on item {number} now. Press the key again for that one."
            );
            self.status = (text, true);
            return Vec::new();
        }
        let act = |act: &'static str| vec![Wish::Act(number, act, item.claim)];
        match letter {
            's' => act("select"),
            'l' => act("lock"),
            'b' => act("start"),
            'u' if item.state == "LOCKED" => act("unlock"),
            'u' => act("unselect"),
            'O' => act("take-over"),
            'h' => vec![Wish::History(number)],
            'J' | 'K' => self.reorder(letter == 'J'),
            'd' | 'D' => self.run(&item, letter == 'D'),
            'r' => self.open_form(&item),
            'x' => {
                match self.result().cloned() {
                    Some(result) => self.open_window(Window::Result(Box::new(result))),
                    None => self.status = (format!("Item {number} has no result here."), true),
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
        let before = if down { self.at + 2 } else { self.at.saturating_sub(1) };
        let before = self.visible().get(before).map(|item| item.item);
        self.order = own;
        vec![Wish::Move(item, before.filter(|before| *before != item)), Wish::Look(ORDERS[own])]
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
        let mut form = Form::new(document);
        let kept = self.desk.drafts.iter().find(|draft| draft.item == item.item);
        let texts = match self.drafts.get(&item.item) {
            Some(texts) => Some(Json::from(texts.clone())),
            None => kept.map(|draft| draft.texts.clone()),
        };
        if let Some(texts) = texts {
            form.resume(&texts);
            self.status = ("What you had typed is here again; Ctrl-X forgets it.".to_owned(), false);
        }
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
            window if self.scrolls(key.code) => {
                self.window = Some(window);
                Vec::new()
            }
            Window::Result(result) => self.press_result(&result, key.code),
            // Any other key closes it.
            _ => Vec::new(),
        }
    }

    /// Scrolls a window; false for a key that does something else.
    fn scrolls(&mut self, code: KeyCode) -> bool {
        let by = match code {
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::PageDown => 10,
            KeyCode::PageUp => -10,
            _ => return false,
        };
        self.window_scroll = self.window_scroll.saturating_add_signed(by);
        true
    }

    /// Sends a result again, corrects it or forgets it.
    fn press_result(&mut self, result: &KeptResult, code: KeyCode) -> Vec<Wish> {
        match code {
            KeyCode::Char('s') => return vec![Wish::SendAgain(result.item, None)],
            KeyCode::Char('D') => return vec![Wish::Forget(result.item)],
            KeyCode::Char('e') => {
                // The present data, where they are here, with what the person had reported.
                let document = self.document().filter(|one| !one["form"].is_null());
                let mut form = Form::new(document.unwrap_or(&result.document));
                form.corrects = true;
                if let Some(values) = result.body["values"].as_object() {
                    form.fill(values);
                }
                self.window = Some(Window::Form(result.item, Box::new(form)));
            }
            _ => {}
        }
        Vec::new()
    }

    fn press_form(&mut self, item: i64, mut form: Box<Form>, key: KeyEvent) -> Vec<Wish> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => {
                let kept = !form.corrects && !form.texts().is_empty();
                let text = if kept { "Kept as a draft: r opens it again." } else { "Nothing was sent." };
                self.status = (text.to_owned(), false);
                return Vec::new();
            }
            KeyCode::Char('x') if control && !form.corrects => {
                self.status = ("What was typed is forgotten.".to_owned(), false);
                self.drafts.remove(&item);
                return vec![Wish::Draft(item, Map::new())];
            }
            KeyCode::F(2) => return self.send(item, form),
            KeyCode::Char('s') if control => return self.send(item, form),
            KeyCode::F(3) => return self.check(item, form),
            KeyCode::Tab | KeyCode::Down | KeyCode::Enter => form.step(true),
            KeyCode::BackTab | KeyCode::Up => form.step(false),
            _ => {
                if let Some(field) = form.field() {
                    press_field(field, key.code, control);
                }
            }
        }
        let texts = form.texts();
        let changed = !form.corrects && self.drafts.get(&item).is_none_or(|known| *known != texts);
        self.window = Some(Window::Form(item, form));
        if !changed {
            return Vec::new();
        }
        self.drafts.insert(item, texts.clone());
        vec![Wish::Draft(item, texts)]
    }

    /// Sends a form that its schema accepts; else it stays, with what is wrong.
    fn send(&mut self, item: i64, mut form: Box<Form>) -> Vec<Wish> {
        let Some(values) = form.values() else {
            self.window = Some(Window::Form(item, form));
            return Vec::new();
        };
        if form.corrects {
            return vec![Wish::SendAgain(item, Some(values))];
        }
        vec![Wish::Report { item, success: true, values, reason: None, base: form.base }]
    }

    /// Lets the item's component look at what was typed.
    fn check(&mut self, item: i64, mut form: Box<Form>) -> Vec<Wish> {
        let values = form.values();
        self.window = Some(Window::Form(item, form));
        let has = self.documents.get(&item).is_some_and(|one| !one["application"].is_null());
        match values {
            Some(values) if has => vec![Wish::Do(item, values)],
            Some(_) => {
                self.status = ("The form is right; the item has no component to ask.".to_owned(), false);
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
        if text.is_empty() && ![Purpose::Leave, Purpose::Search].contains(&purpose) {
            return Vec::new();
        }
        match purpose {
            Purpose::Delegate(item) => vec![Wish::Delegate(item, text)],
            Purpose::Together(item) => vec![Wish::TakeTogether(item, text)],
            Purpose::Comment(item) => vec![Wish::Comment(item, text)],
            Purpose::Fail(item) => {
                let values = Map::new();
                vec![Wish::Report { item, success: false, values, reason: Some(text), base: None }]
            }
            Purpose::Begin => vec![Wish::Begin(text)],
            Purpose::Search => {
                self.filter = text;
                (self.at, self.gone) = (0, None);
                self.look_at()
            }
            Purpose::Leave => {
                let wait = text.parse().unwrap_or(WAIT_SECONDS);
                self.leave(Leaving { wait, ..Leaving::default() })
            }
        }
    }

    fn leave(&mut self, leaving: Leaving) -> Vec<Wish> {
        let Leaving { wait, confirmed, accepted, .. } = leaving;
        self.window = Some(Window::Leaving(leaving));
        vec![Wish::Leave { wait, confirmed, accepted }]
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

    /// The result of the selected item that the server has not taken, if there is one.
    pub(crate) fn result(&self) -> Option<&KeptResult> {
        let item = self.item()?.item;
        self.desk.results.iter().find(|one| one.item == item)
    }
}

/// Does what a key means within a field.
fn press_field(field: &mut Field, code: KeyCode, control: bool) {
    match code {
        KeyCode::Backspace => field.erase(true),
        KeyCode::Delete => field.erase(false),
        KeyCode::Left => field.go_to(field.cursor.saturating_sub(1)),
        KeyCode::Right => field.go_to(field.cursor + 1),
        KeyCode::Home => field.go_to(0),
        KeyCode::End => field.go_to(usize::MAX),
        KeyCode::Char('u') if control => field.write(String::new()),
        KeyCode::Char(character) if !control => field.typed(character),
        _ => {}
    }
}

/// Says why an item cannot be done now, and what helps.
pub(crate) fn why_disabled(item: &LocalItem, link: LinkState) -> String {
    let number = item.item;
    match (item.result.as_deref(), link) {
        (Some("refused"), _) => {
            format!("The result of item {number} was refused; x shows both versions.")
        }
        (Some("damaged"), _) => {
            format!("The result of item {number} was changed on the disk; x shows it.")
        }
        (Some(_), _) => {
            format!("The result of item {number} is saved here; x shows it, R sends it.")
        }
        (None, LinkState::Connected) => {
            format!("Item {number} is not yours yet: s selects it, l locks it.")
        }
        (None, _) if item.state != "LOCKED" => {
            format!("Without a connection only locked items are done; item {number} is {}.", item.state)
        }
        _ => format!("Item {number} was not transferred in whole."),
    }
}
