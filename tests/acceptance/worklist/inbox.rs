//! The full-screen inbox, driven through a terminal as a person drives it.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::Office;
use super::away::Field;
use crate::console::picture_of_terminal;
use crate::support::program::{run, wed, wed_path};
use crate::support::{eventually, repository};

/// A terminal of tmux with a program in it.
pub(super) struct Screen {
    socket: String,
}

impl Screen {
    /// Opens a terminal of 100 columns and 30 lines for `wed work` with these words and variables.
    fn open(words: &[&str], variables: &[(&str, String)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = format!("wedflow-{}-{number}", std::process::id());
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &socket, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30"]);
        for (name, value) in variables {
            tmux.args(["-e", &format!("{name}={value}")]);
        }
        tmux.arg(wed_path()).arg("work").args(words).current_dir(repository("."));
        let opened = tmux.stdin(Stdio::null()).output().expect("tmux is installed (make setup-test)");
        assert!(opened.status.success(), "{opened:?}");
        Screen { socket }
    }

    fn tmux(&self, words: &[&str]) -> String {
        let answer = Command::new("tmux").args(["-L", &self.socket]).args(words).output().expect("tmux runs");
        String::from_utf8_lossy(&answer.stdout).into_owned()
    }

    /// Presses keys, by tmux's names.
    pub(super) fn press(&self, keys: &[&str]) {
        let mut words = vec!["send-keys"];
        words.extend(keys);
        self.tmux(&words);
    }

    pub(super) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Waits until the screen shows a text no more.
    #[track_caller]
    pub(super) fn lacks(&self, text: &str) {
        eventually(&format!("`{text}` gone from the screen"), || {
            let picture = self.tmux(&["capture-pane", "-p"]);
            (!picture.contains(text)).then_some(())
        });
    }

    /// Waits until the screen has a text; the screen.
    #[track_caller]
    pub(super) fn has(&self, text: &str) -> String {
        eventually(&format!("`{text}` on the screen"), || {
            let picture = self.tmux(&["capture-pane", "-p"]);
            picture.contains(text).then_some(picture)
        })
    }

    /// The screen with its colours.
    fn coloured(&self) -> String {
        self.tmux(&["capture-pane", "-e", "-p"])
    }

    /// True once the program has ended.
    pub(super) fn ended(&self) {
        eventually("the end of the program", || self.tmux(&["list-sessions"]).is_empty().then_some(()));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[harness::test]
fn inbox_shows_the_list_and_an_item_beside_the_database() {
    let mut office = Office::new();
    let item = office.visit();
    let url = office.database().url();
    let screen = Screen::open(&["--as", "beto"], &[("DATABASE_URL", url)]);
    let list = screen.has("● connected");
    assert!(list.contains("Worklist of beto"), "{list}");
    let list = screen.has("visit");
    assert!(list.contains("ready") && list.contains("repairs/1"), "{list}");
    screen.press(&["Enter"]);
    let detail = screen.has("tea");
    assert!(detail.contains("deadline"), "{detail}");
    picture_of_terminal(&screen.coloured(), "work-terminal");
    screen.press(&["Left"]);
    screen.press(&["l"]);
    screen.has("locked");
    assert_eq!(office.state(item), "LOCKED|beto");
    screen.press(&["g"]);
    screen.type_text("nobody");
    screen.press(&["Enter"]);
    screen.has("there is no person \"nobody\"");
    screen.press(&["h"]);
    screen.has("history of item");
    screen.press(&["Space"]);
    screen.press(&["u"]);
    screen.has("ready");
    screen.press(&["?"]);
    screen.has("take the task that follows");
    screen.press(&["Space"]);
    screen.press(&["q"]);
    screen.ended();
}

#[harness::test]
fn inbox_refuses_what_the_form_does_not_take() {
    let mut office = Office::new();
    let item = office.visit();
    let url = office.database().url();
    let screen = Screen::open(&["--as", "beto"], &[("DATABASE_URL", url)]);
    screen.has("visit");
    screen.press(&["r"]);
    screen.has("not yours yet");
    screen.press(&["s"]);
    screen.has("selected");
    screen.press(&["Enter"]);
    screen.has("Data");
    let form = format!("result of item {item}");
    // It opens now, or when it comes.
    screen.press(&["r"]);
    screen.has(&form);
    // The order of the fields is that of the task's outputs: form, then cost.
    screen.press(&["Tab"]);
    screen.type_text("much");
    screen.press(&["F2"]);
    screen.has("a number is expected");
    screen.press(&["C-u"]);
    screen.type_text("12.5");
    screen.press(&["F2"]);
    screen.has("is applied");
    let mut flow = office.flow.session();
    assert_eq!(flow.line("SELECT cost, form FROM wed_flow"), "12.5|tea");
}

/// A screen of beto's machine.
pub(super) fn machine(field: &Field, store: &str) -> Screen {
    let server = format!("http://127.0.0.1:{}", field.proxy.port);
    let variables = [
        ("WEDFLOW_SERVER", server),
        ("WEDFLOW_TOKEN", field.token.clone()),
        ("WEDFLOW_WORK_STORE", field.path(store).display().to_string()),
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/nothing".to_owned()),
    ];
    Screen::open(&[], &variables)
}

#[harness::test]
fn person_leaves_works_without_a_connection_and_returns_in_the_inbox() {
    let mut field = Field::new();
    field.locked();
    let screen = machine(&field, "s");
    screen.has("whole");
    screen.press(&["a"]);
    screen.has("Seconds that transfers may take");
    screen.press(&["Enter"]);
    let steps = screen.has("Locked items are with you");
    assert!(steps.contains(" 1  leaving") && steps.contains("11  you may go"), "{steps}");
    screen.press(&["Escape"]);
    // A key that comes at once behind Escape would be one with it: Alt-d.
    screen.lacks("you may go");
    screen.has("● away");
    field.proxy.cut_after(1);
    // The component runs here; its answer fills the form.
    screen.press(&["d"]);
    let form = screen.has("result of item");
    assert!(form.contains("done"), "{form}");
    screen.press(&["F2"]);
    screen.has("1 result to send");
    assert_eq!(field.steps_of(), 0);
    field.proxy.cut_after(0);
    screen.press(&["R"]);
    screen.has("1 result applied");
    screen.has("● connected");
    assert_eq!(field.steps_of(), 1);
}

#[harness::test]
fn lost_server_is_shown_and_found_again() {
    let mut field = Field::new();
    field.locked();
    let screen = machine(&field, "s");
    screen.has("whole");
    field.proxy.cut_after(1);
    field.proxy.cut();
    screen.press(&["F5"]);
    screen.has("● server lost");
    field.proxy.cut_after(0);
    screen.press(&["R"]);
    screen.has("● connected");
}

#[harness::test]
fn inbox_follows_the_events_of_the_server_and_comes_back_behind_the_last() {
    let mut field = Field::new();
    let screen = machine(&field, "s");
    screen.has("● connected");
    let stream = |wanted: &str| {
        eventually(wanted, || {
            let requests = field.proxy.requests();
            let is_wanted = |one: &String| one.contains("/v1/work/events") && one.contains(wanted);
            requests.into_iter().find(is_wanted)
        })
    };
    stream("GET");
    let wid = field.office.start_with("1, 1, '{6}', NULL");
    let item = field.office.item(wid, "visit");
    screen.has("visit");
    field.office.act("select_work", "caio", item);
    screen.lacks("visit");
    field.proxy.cut();
    stream("last-event-id: ");
    field.office.act("unselect_work", "caio", item);
    screen.has("visit");
}

#[harness::test]
fn inbox_beside_the_database_hears_of_new_items() {
    let mut office = Office::new();
    let url = office.database().url();
    let screen = Screen::open(&["--as", "beto"], &[("DATABASE_URL", url)]);
    screen.has("● connected");
    office.visit();
    screen.has("visit");
}

#[harness::test]
fn inbox_is_plain_lines_where_nobody_looks() {
    let mut office = Office::new();
    office.visit();
    let url = office.database().url();
    let answer = run(wed(&url).args(["work", "--as", "beto"])).done();
    assert!(answer.out.contains("visit") && !answer.out.contains('\u{1b}'), "{answer:?}");
    let list = run(wed(&url).args(["--json", "work", "--as", "beto"])).done().json();
    assert_eq!(list[0]["task"], "visit");
}

#[harness::test]
fn store_of_one_person_is_refused_to_another() {
    let mut field = Field::new();
    field.locked();
    let server = format!("http://127.0.0.1:{}", field.proxy.port);
    let work = |token: &str| {
        run(wed("postgres://nobody@127.0.0.1:1/nothing")
            .args(["--json", "work"])
            .env("WEDFLOW_WORK_STORE", field.path("s"))
            .env("WEDFLOW_SERVER", &server)
            .env("WEDFLOW_TOKEN", token))
    };
    assert_eq!(work(&field.token).done().json()["items"][0]["state"], "LOCKED");
    let caio = field.api.user("default", "caio", "participant").token.expect("a token");
    let error = work(&caio).exits(2).error();
    assert!(error["message"].to_string().contains("beto"), "{error}");
}
