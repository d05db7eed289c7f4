//! The inbox as a picture.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Margin, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};
use serde_json::Value as Json;
use wedflow_away::{KeptResult, LocalItem};

use super::form::Form;
use super::screen::{Leaving, ORDERS, Screen, Window, why_disabled};
use super::words::LinkState;
use crate::answer::{self, counted, shown};

/// Columns from which list and detail stand side by side.
const WIDE: u16 = 110;
/// Columns below which the list has item, task, instance and state alone.
const NARROW: u16 = 60;

/// Keys of a window that only shows.
const CLOSES: &str = "↑ ↓ scroll, any other key closes";

/// The keys, for the help window, which scrolls.
const KEYS: [(&str, &str); 24] = [
    ("↑ ↓ Enter", "go through the list, open an item; Esc closes it"),
    ("s", "select: take it to do it now"),
    ("l", "lock: take it away; it stays yours without a connection"),
    ("u", "give it back"),
    ("b", "begin: others see that you are at it"),
    ("d", "do: run the item's component, its answer fills the form"),
    ("D", "the same, but the server runs it: only the data travel"),
    ("r", "report: fill in the form; F3 asks the component, F2 sends"),
    ("f", "report a failure, with its reason"),
    ("g O", "give it to another person; take it over, if you are in charge"),
    ("t", "take the task that follows away together with it"),
    ("c", "comment"),
    ("h", "history: who did what, when"),
    ("m", "messages"),
    ("x", "a result that was not taken: both versions; send again, edit, forget"),
    ("v", "results: saved here, on their way, confirmed, refused"),
    ("n", "start a process"),
    ("/", "list only items with a text; PgUp PgDn Home End go through"),
    ("o F5", "order: arrival, priority, deadline, size, own; look again"),
    ("J K", "move the item down or up in your own order"),
    ("p", "prefetch on or off"),
    ("a", "leave: transfer what is locked, go without a connection"),
    ("R", "return: send results, fetch messages"),
    ("q", "quit; what is kept stays in the local store"),
];

/// Draws all of it.
pub(crate) fn draw(frame: &mut Frame<'_>, screen: &Screen, now: &str) {
    let notices = notices(screen);
    let width = usize::from(frame.area().width.max(1));
    let lines = |text: &str| text.chars().count().div_ceil(width).clamp(1, 3) as u16;
    let [title, body, notice, status, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(if notices.is_empty() { 0 } else { lines(&notices) }),
        Constraint::Length(lines(&screen.status.0)),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let notices = Paragraph::new(notices).wrap(Wrap { trim: true });
    frame.render_widget(notices.fg(Color::Yellow), notice);
    draw_title(frame, title, screen);
    if body.width >= WIDE {
        let halves = [Constraint::Percentage(55), Constraint::Percentage(45)];
        let [left, right] = Layout::horizontal(halves).areas(body);
        draw_list(frame, left, screen, now);
        draw_detail(frame, right, screen, now);
    } else if screen.detail {
        draw_detail(frame, body, screen, now);
    } else {
        draw_list(frame, body, screen, now);
    }
    draw_status(frame, status, screen);
    let words = " s select  l lock  u back  d do  r report  a away  R return  ? keys  q quit";
    frame.render_widget(Paragraph::new(words).style(Style::new().dim()), keys);
    if let Some(window) = &screen.window {
        draw_window(frame, window, screen);
    }
}

/// Returns the notices that stay until they are over: deadlines, and messages that were not read.
fn notices(screen: &Screen) -> String {
    let message = screen.desk.message.as_ref();
    let message = message.map(|text| format!("message (m shows it): {text}"));
    let all: Vec<String> = message.into_iter().chain(screen.desk.warnings.iter().cloned()).collect();
    all.join("; ")
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, screen: &Screen) {
    let (word, colour) = match screen.desk.link {
        LinkState::Connected => ("connected", Color::Green),
        LinkState::Away => ("away", Color::Yellow),
        LinkState::Lost => ("server lost", Color::Red),
    };
    let mut spans = vec![
        Span::from(format!(" Worklist of {} ", screen.person)).bold(),
        Span::styled(format!("● {word}"), colour),
        Span::from(format!("  {}, by {}", counted(screen.visible().len(), "item"), ORDERS[screen.order])),
    ];
    let kept = screen.desk.results.iter().filter(|one| one.is_pending()).count();
    if kept > 0 {
        spans.push(Span::styled(format!("  {} to send", counted(kept, "result")), Color::Yellow));
    }
    if !screen.filter.is_empty() {
        spans.push(Span::from(format!("  with \"{}\"", screen.filter)).bold());
    }
    let refused = screen.desk.results.len() - kept;
    if refused > 0 {
        spans.push(Span::styled(format!("  {refused} refused"), Color::Red));
    }
    if screen.desk.may_leave {
        let word = match (screen.desk.prefetch, screen.desk.spare) {
            (true, true) => "battery low: prefetch of locked items only",
            (true, false) => "prefetch on",
            (false, _) => "prefetch off",
        };
        spans.push(Span::from(format!("  {word}")).dim());
    }
    if let Some(bandwidth) = screen.desk.bandwidth.filter(|_| screen.desk.may_leave) {
        spans.push(Span::from(format!("  {}/s", answer::bytes(bandwidth as u64))).dim());
    }
    if screen.waiting > 0 {
        spans.push(Span::styled("  …", Color::Cyan));
    }
    frame.render_widget(Line::from(spans), area);
}

fn draw_status(frame: &mut Frame<'_>, area: Rect, screen: &Screen) {
    let (text, wrong) = &screen.status;
    let colour = if *wrong { Color::Red } else { Color::Reset };
    let text = Paragraph::new(format!(" {text}")).wrap(Wrap { trim: false });
    frame.render_widget(text.fg(colour), area);
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, screen: &Screen, now: &str) {
    let block = Block::bordered().title(" items ");
    let listed = screen.visible();
    if listed.is_empty() {
        let text = if !screen.filter.is_empty() {
            "No item has this text; / changes it."
        } else if screen.loaded {
            "Nothing to do. What is offered to your roles appears here."
        } else {
            "Fetching the worklist …"
        };
        let text = Paragraph::new(text).alignment(Alignment::Center).dim().block(block);
        return frame.render_widget(text, area);
    }
    // A narrow screen shows only the columns that distinguish items.
    let shown_columns = if area.width < NARROW { 4 } else { 7 };
    let rows = listed.iter().map(|item| {
        Row::new(list_cells(item, screen, now).into_iter().take(shown_columns)).style(dimmed(item, screen))
    });
    let widths = [
        Constraint::Length(6),
        Constraint::Fill(1),
        if area.width < NARROW { Constraint::Fill(1) } else { Constraint::Max(18) },
        Constraint::Length(8),
        Constraint::Length(4),
        Constraint::Length(8),
        Constraint::Length(6),
    ];
    let head = ["item", "task", "instance", "state", "prio", "due", "here"];
    let head = Row::new(head.into_iter().take(shown_columns)).bold();
    let table = Table::new(rows, widths.into_iter().take(shown_columns))
        .header(head)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(block);
    let mut state = TableState::new().with_selected(Some(screen.at));
    frame.render_stateful_widget(table, area, &mut state);
}

/// The style of an item's row: dim while the item cannot be used.
fn dimmed(item: &LocalItem, screen: &Screen) -> Style {
    let usable = screen.desk.link == LinkState::Connected || item.enabled || item.result.is_some();
    if usable { Style::new() } else { Style::new().dim() }
}

fn list_cells<'a>(item: &LocalItem, screen: &Screen, now: &str) -> [Cell<'a>; 7] {
    let document = &item.document;
    let place = document["instance"]
        .as_str()
        .map_or_else(|| format!("{}/{}", shown(&document["flow"]), shown(&document["wid"])), str::to_owned);
    let state = match item.result.as_deref() {
        Some(fate @ ("refused" | "damaged" | "sending")) => fate,
        Some(_) => "done",
        None => item.state.as_str(),
    };
    let colour = match state {
        "LOCKED" => Color::Yellow,
        "SELECTED" | "RUNNING" => Color::Cyan,
        "refused" | "damaged" => Color::Red,
        "done" => Color::Green,
        _ => Color::Reset,
    };
    let due = document["deadline_at"].as_str().map_or_else(String::new, |at| time_left(at, now));
    let late = due.starts_with('-');
    [
        Cell::from(item.item.to_string()),
        Cell::from(shown(&document["task"])),
        Cell::from(place),
        Cell::from(state.to_lowercase()).fg(colour),
        Cell::from(shown(&document["priority"])),
        Cell::from(due).fg(if late { Color::Red } else { Color::Reset }),
        Cell::from(here(item, screen)),
    ]
}

/// States how much of an item is on this machine.
fn here(item: &LocalItem, screen: &Screen) -> String {
    if !screen.desk.may_leave || item.document["disconnected"] != true {
        return String::new();
    }
    if item.fresh {
        return "whole".to_owned();
    }
    if item.transferred {
        return "older".to_owned();
    }
    match screen.desk.held.iter().find(|(number, _, _)| *number == item.item) {
        Some((_, held, total)) if *total > 0 => format!("{} %", held * 100 / total),
        _ => "no".to_owned(),
    }
}

/// The time that is left until a moment, as 3d 4h or 2h 5m; with a minus when it has passed.
pub(crate) fn time_left(at: &str, now: &str) -> String {
    let (Some(at), Some(now)) = (seconds_of(at), seconds_of(now)) else {
        return String::new();
    };
    let left = at - now;
    let sign = if left < 0 { "-" } else { "" };
    let minutes = left.abs() / 60;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{sign}{minutes}m"),
        (0, hours, minutes) => format!("{sign}{hours}h {minutes}m"),
        (days, hours, _) => format!("{sign}{days}d {hours}h"),
    }
}

fn seconds_of(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}

fn draw_detail(frame: &mut Frame<'_>, area: Rect, screen: &Screen, now: &str) {
    let block = Block::bordered().title(" item ");
    let (Some(item), Some(document)) = (screen.item(), screen.document()) else {
        return frame.render_widget(block, area);
    };
    let text = detail_lines(item, document, screen, now);
    let text = Paragraph::new(text).wrap(Wrap { trim: false }).scroll((screen.scroll, 0)).block(block);
    frame.render_widget(text, area);
}

fn detail_lines<'a>(item: &LocalItem, document: &Json, screen: &Screen, now: &str) -> Vec<Line<'a>> {
    let pair = |name: &str, text: String| Line::from(vec![Span::from(format!("{name:<10}")).dim(), Span::from(text)]);
    let mut lines = vec![
        Line::from(format!("{} · item {}", shown(&document["task"]), item.item)).bold(),
        pair("instance", shown(&document["instance"])),
    ];
    let holder = document["holder"].as_str().map_or(String::new(), |name| format!(" by {name}"));
    lines.push(pair("state", format!("{}{holder}", item.state.to_lowercase())));
    if let Some(role) = document["role"].as_str() {
        lines.push(pair("role", role.to_owned()));
    }
    if let Some(at) = document["deadline_at"].as_str() {
        let left = time_left(at, now);
        lines.push(pair("deadline", format!("{} UTC ({left})", minute(&document["deadline_at"]))));
    }
    if let Some(application) = document["application"].as_str() {
        let size = document["application_bytes"].as_u64().map(answer::bytes).unwrap_or_default();
        lines.push(pair("component", format!("{application} {size}")));
    }
    lines.extend(advice(item, document, screen).map(|text| pair("advice", text)));
    if !item.enabled {
        lines.push(Line::from(why_disabled(item, screen.desk.link)).fg(Color::Yellow));
    }
    let description = shown(&document["description"]);
    if description.len() > 2 {
        lines.extend([Line::default(), Line::from(description).italic()]);
    }
    lines.extend([Line::default(), Line::from("Data").bold()]);
    match document["data"].as_object().filter(|data| !data.is_empty()) {
        Some(data) => {
            for (name, value) in data {
                lines.push(pair(name, format!(" {}", shown(value))));
            }
        }
        None => lines.push(Line::from("Shown to who holds the item, or is offered it.").dim()),
    }
    lines.extend(kept_lines(item, screen));
    lines
}

/// The draft and the result of an item, if there are any.
fn kept_lines<'a>(item: &LocalItem, screen: &Screen) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    if screen.desk.drafts.iter().any(|draft| draft.item == item.item) {
        lines.push(Line::from("A form was begun; r opens it again.").fg(Color::Cyan));
    }
    if let Some(result) = screen.result() {
        lines.extend([
            Line::default(),
            Line::from(format!("Your result: {}; x shows it.", result.state)).fg(Color::Red),
        ]);
        lines.extend(result.answer.as_ref().map(|answer| Line::from(why_not(answer))));
    }
    lines
}

/// Why the server did not take a result.
fn why_not(answer: &Json) -> String {
    wedflow_away::AwayError::Refused(answer["answer"].clone()).to_string()
}

/// Advises where to run the component, from bandwidth and sizes.
fn advice(item: &LocalItem, document: &Json, screen: &Screen) -> Option<String> {
    let bytes = document["application_bytes"].as_u64()?;
    if !screen.desk.may_leave || screen.desk.link != LinkState::Connected {
        return None;
    }
    let held = screen.desk.held.iter().find(|(number, _, _)| *number == item.item);
    let held = held.map_or(0, |(_, held, _)| *held);
    Some(wedflow_away::recommend(
        bytes.saturating_sub(held),
        document["data_bytes"].as_u64().unwrap_or(0),
        screen.desk.bandwidth,
        item.transferred,
    ))
}

fn draw_window(frame: &mut Frame<'_>, window: &Window, screen: &Screen) {
    let scroll = screen.window_scroll;
    match window {
        Window::Help => {
            let lines = KEYS
                .iter()
                .map(|(key, text)| Line::from(vec![Span::from(format!("{key:<10}")).bold(), Span::from(*text)]));
            popup(frame, " keys ", lines.collect(), (CLOSES, scroll));
        }
        Window::Form(item, form) => draw_form(frame, *item, form),
        Window::Line(purpose, text) => {
            let lines = vec![Line::from(purpose.question()), Line::from(format!("{text}█"))];
            popup(frame, "", lines, ("Enter continues, Esc does not", 0));
        }
        Window::History(item, entries) => {
            let lines = entries.iter().map(history_line).collect();
            popup(frame, &format!(" history of item {item} "), lines, (CLOSES, scroll));
        }
        Window::Messages(messages) if messages.is_empty() => {
            popup(frame, " messages ", vec![Line::from("There are no messages.")], (CLOSES, 0));
        }
        Window::Messages(messages) => {
            let lines = messages.iter().flat_map(|message| {
                [
                    Line::from(format!("{}  {}", minute(&message["at"]), shown(&message["sender"]))).bold(),
                    Line::from(format!("  {}", shown(&message["text"]))),
                ]
            });
            popup(frame, " messages ", lines.collect(), ("↑ ↓ scroll, D removes them, any other key closes", scroll));
        }
        Window::Result(result) => draw_result(frame, result, scroll),
        Window::Outbox => draw_outbox(frame, screen, scroll),
        Window::Leaving(leaving) => draw_leaving(frame, leaving),
    }
}

/// A moment to the minute, in UTC.
fn minute(at: &Json) -> String {
    match shown(at).parse::<jiff::Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => shown(at),
    }
}

fn history_line<'a>(entry: &Json) -> Line<'a> {
    let detail = &entry["detail"];
    let said = detail["text"].as_str().map_or_else(
        || match detail.as_object() {
            Some(map) if map.is_empty() => String::new(),
            _ => shown(detail),
        },
        str::to_owned,
    );
    Line::from(vec![
        Span::from(minute(&entry["at"])).dim(),
        Span::from(format!("  {:<10} {:<12}", shown(&entry["person"]), shown(&entry["action"]))),
        Span::from(said),
    ])
}

fn draw_form(frame: &mut Frame<'_>, item: i64, form: &Form) {
    let mut lines = Vec::new();
    for (at, field) in form.fields.iter().enumerate() {
        let here = at == form.at;
        let label = Span::from(format!("{:<18}", field.label));
        let (before, behind) = field.split();
        let cursor = if here { "█" } else { "" };
        lines.push(Line::from(vec![
            if here { label.bold() } else { label },
            Span::styled(format!("{before}{cursor}{behind}"), Style::new().underlined()),
        ]));
        let below = match &field.wrong {
            Some(why) => Span::styled(format!("{:<18}{why}", ""), Color::Red),
            None => Span::from(format!("{:<18}{}", "", field.takes)).dim(),
        };
        lines.push(Line::from(below));
    }
    if form.fields.is_empty() {
        lines.push(Line::from("Nothing is to be filled in."));
    }
    let keys = if form.corrects {
        "Tab next  ^U empty  F2 or ^S send  Esc leave as it was"
    } else {
        "Tab next  ^U empty  F3 ask the component  F2 or ^S send  Esc keep as draft  ^X forget"
    };
    let title = format!(" result of item {item} ");
    // Two lines a field; the one with the cursor stays in sight.
    let visible = usize::from(frame.area().height.saturating_sub(4).max(2));
    let scroll = (2 * form.at + 2).saturating_sub(visible) as u16;
    popup(frame, &title, lines, (keys, scroll));
}

/// A result that the server did not take: why, the reported values next to the present ones.
fn draw_result(frame: &mut Frame<'_>, result: &KeptResult, scroll: u16) {
    let told = result.answer.clone().unwrap_or_default();
    let answer = &told["answer"];
    let mut lines = vec![Line::from(format!("item {}: {}", result.item, result.state)).bold()];
    if !answer.is_null() {
        lines.push(Line::from(why_not(&told)).fg(Color::Red));
    }
    lines.push(Line::default());
    let (yours, present) = (&result.body["values"], &answer["present"]);
    lines.push(Line::from(format!("{:<16}{:<24}{}", "", "yours", "present")).bold());
    let names = yours.as_object().into_iter().chain(present.as_object()).flatten();
    let mut seen: Vec<&String> = Vec::new();
    for (name, _) in names {
        if !seen.contains(&name) {
            seen.push(name);
            lines.push(Line::from(format!("{name:<16}{:<24}{}", shown(&yours[name]), shown(&present[name]))));
        }
    }
    if let Some(reason) = result.body["reason"].as_str() {
        lines.push(Line::from(format!("reason: {reason}")));
    }
    lines.extend([Line::default(), Line::from(shown(&answer["hint"]))]);
    let keys = "s sends again, e edits, D forgets, any other key closes";
    popup(frame, " result ", lines, (keys, scroll));
}

/// All results with their states.
fn draw_outbox(frame: &mut Frame<'_>, screen: &Screen, scroll: u16) {
    let line = |item: i64, task: &str, state: &str, at: &Json, why: String| {
        Line::from(format!("{item:>7}  {task:<20} {state:<10} {:<17} {why}", minute(at)))
    };
    let kept = screen.desk.results.iter().map(|one| {
        let task = shown(&one.document["task"]);
        let why = one.answer.as_ref().map(why_not).unwrap_or_default();
        line(one.item, &task, &one.state, &one.body["done_at"], why)
    });
    let sent = screen
        .desk
        .sent
        .iter()
        .map(|one| line(one.item, &one.task, "confirmed", &Json::from(one.at.as_str()), String::new()));
    let mut lines: Vec<Line<'_>> = kept.chain(sent).collect();
    if lines.is_empty() {
        lines.push(Line::from("There are no results yet."));
    }
    popup(frame, " results ", lines, (CLOSES, scroll));
}

fn draw_leaving(frame: &mut Frame<'_>, leaving: &Leaving) {
    let mut lines: Vec<Line<'_>> = leaving
        .steps
        .iter()
        .map(|step| {
            let size = if step.bytes > 0 { answer::bytes(step.bytes) } else { String::new() };
            let time = if step.seconds > 0.0 { format!("{:.1} s", step.seconds) } else { String::new() };
            Line::from(format!("{:>2}  {:<44} {size:>9} {time:>8}", step.step, step.text))
        })
        .collect();
    let keys = match (&leaving.decide, leaving.done) {
        (Some((message, hint)), _) => {
            lines.extend([Line::default(), Line::from(message.clone()).fg(Color::Yellow)]);
            // Options of the command line help nobody here.
            if !hint.contains("--") {
                lines.push(Line::from(hint.clone()).dim());
            }
            "y continues anyway, any other key stays"
        }
        (None, true) => {
            lines.extend([Line::default(), Line::from("Locked items are with you. R returns.").fg(Color::Green)]);
            "any key closes"
        }
        (None, false) => "Esc hides this window",
    };
    popup(frame, " leaving ", lines, (keys, 0));
}

/// Draws a window in the middle, with its keys and the lines that are scrolled away.
fn popup(frame: &mut Frame<'_>, title: &str, lines: Vec<Line<'_>>, (keys, scroll): (&str, u16)) {
    let area = frame.area();
    let width = area.width.saturating_sub(4).min(92);
    let inner = usize::from(width.saturating_sub(4).max(1));
    let needed: usize = lines.iter().map(|line| line.width().div_ceil(inner).max(1)).sum();
    let height = u16::try_from(needed + 2).unwrap_or(u16::MAX).min(area.height.saturating_sub(2));
    let place = Rect {
        x: area.x + (area.width.saturating_sub(width)) / 2,
        y: area.y + (area.height.saturating_sub(height)) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let block = Block::bordered().title(title.to_owned()).title_bottom(Line::from(format!(" {keys} ")).right_aligned());
    let inside = block.inner(place).inner(Margin::new(1, 0));
    frame.render_widget(block, place);
    let beyond = u16::try_from(needed).unwrap_or(u16::MAX).saturating_sub(inside.height);
    let text = Paragraph::new(lines).wrap(Wrap { trim: false });
    frame.render_widget(text.scroll((scroll.min(beyond), 0)), inside);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use serde_json::json;

    use super::*;
    use crate::inbox::words::{Desk, News};

    const NOW: &str = "2026-11-24T10:00:00Z";

    fn screen() -> Screen {
        let item = |number: i64, state: &str| {
            let document = json!({
                "item": number, "task": "VisitarCliente", "instance": "Manutencao_001", "state": state,
                "priority": 10, "claim": 0, "deadline_at": "2026-11-26T11:30:00+00:00", "disconnected": true,
                "data": { "ordem_servico": "Carla" }, "description": "Preencher",
            });
            LocalItem::listed(&document)
        };
        let items = vec![item(7, "LOCKED"), item(8, "READY")];
        let mut screen = Screen { person: "beto".to_owned(), ..Screen::default() };
        screen.hear(News::Desk(Box::new(Desk { items, may_leave: true, ..Desk::default() })));
        screen
    }

    #[test]
    fn key_acts_on_no_item_that_came_under_the_cursor_by_itself() {
        use ratatui::crossterm::event::{KeyCode, KeyEvent};
        let mut screen = screen();
        let items = screen.desk.items[1..].to_vec();
        screen.hear(News::Desk(Box::new(Desk { items, ..Desk::default() })));
        let select = KeyEvent::from(KeyCode::Char('s'));
        assert!(screen.press(select).is_empty());
        assert!(screen.status.0.contains("Item 7 left the list"), "{:?}", screen.status);
        assert_eq!(screen.press(select).len(), 1, "pressed again it is meant");
    }

    fn refused() -> KeptResult {
        KeptResult {
            item: 7,
            key: "k".to_owned(),
            state: "refused".to_owned(),
            body: json!({ "values": { "a": "mine" } }),
            answer: Some(json!({ "answer": { "detail": "it may not set a", "hint": "ask", "code": "WF010" } })),
            document: json!({ "task": "VisitarCliente" }),
        }
    }

    fn picture(screen: &Screen, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| draw(frame, screen, NOW)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn narrow_screen_has_the_list_or_the_item_and_a_wide_one_has_both() {
        let mut screen = screen();
        let list = picture(&screen, 80, 24);
        assert!(list.contains("Worklist of beto") && list.contains("2d 1h"), "{list}");
        assert!(!list.contains("Carla"), "{list}");
        screen.detail = true;
        let detail = picture(&screen, 80, 24);
        assert!(detail.contains("Carla") && detail.contains("2026-11-26 11:30 UTC"), "{detail}");
        screen.detail = false;
        let both = picture(&screen, 120, 40);
        assert!(both.contains("VisitarCliente") && both.contains("Carla"), "{both}");
    }

    #[test]
    fn every_window_fits_a_small_screen() {
        let mut screen = screen();
        let form = Form::new(&json!({ "form": { "properties": { "cost": { "type": "number" } } }, "data": {} }));
        for window in [
            Window::Help,
            Window::Form(7, Box::new(form)),
            Window::History(7, vec![json!({ "at": NOW, "person": "beto", "action": "locked", "detail": {} })]),
            Window::Messages(Vec::new()),
            Window::Result(Box::new(refused())),
            Window::Outbox,
            Window::Leaving(Leaving::default()),
        ] {
            screen.window = Some(window);
            for (width, height) in [(80, 24), (40, 10), (10, 3)] {
                assert!(!picture(&screen, width, height).is_empty());
            }
        }
    }

    #[test]
    fn time_that_is_left_is_short() {
        assert_eq!(time_left("2026-11-24T12:05:00Z", NOW), "2h 5m");
        assert_eq!(time_left("2026-11-24T09:30:00Z", NOW), "-30m");
        assert_eq!(time_left("soon", NOW), "");
    }

    #[test]
    fn refusal_of_any_kind_shows_its_reason_beside_the_kept_values() {
        let mut screen = screen();
        screen.window = Some(Window::Result(Box::new(refused())));
        let shown = picture(&screen, 80, 24);
        assert!(shown.contains("it may not set a") && shown.contains("mine"), "{shown}");
    }

    #[test]
    fn form_longer_than_the_screen_follows_the_cursor() {
        let names: Vec<String> = (0..15).map(|at| format!("field{at:02}")).collect();
        let properties: serde_json::Map<String, Json> =
            names.iter().map(|name| (name.clone(), json!({ "type": "string" }))).collect();
        let document = json!({ "form": { "properties": properties }, "data": {}, "outputs": names });
        let mut screen = screen();
        for (at, name) in names.iter().enumerate() {
            let mut form = Form::new(&document);
            form.at = at;
            screen.window = Some(Window::Form(7, Box::new(form)));
            let shown = picture(&screen, 80, 24);
            assert!(shown.contains(name), "{at}: {shown}");
        }
    }

    #[test]
    fn deadlines_and_messages_stay_visible_beside_the_status() {
        let mut screen = screen();
        screen.desk.warnings = vec!["item 7: less than 6 hours are left until its deadline".to_owned()];
        screen.desk.message = Some("Manutencao_001: come".to_owned());
        screen.status = ("order: priority".to_owned(), false);
        let shown = picture(&screen, 80, 24);
        for text in ["less than 6 hours", "Manutencao_001: come", "order: priority"] {
            assert!(shown.contains(text), "{shown}");
        }
    }

    #[test]
    fn narrow_list_tells_items_apart() {
        let shown = picture(&screen(), 40, 20);
        assert!(shown.contains("Visitar") && shown.contains("Manutencao"), "{shown}");
    }
}
