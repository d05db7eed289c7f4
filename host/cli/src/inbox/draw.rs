//! The inbox as a picture.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Margin, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};
use serde_json::Value as Json;
use wedflow_away::LocalItem;

use super::desk::LinkState;
use super::form::Form;
use super::screen::{Leaving, ORDERS, Screen, Window, why_disabled};
use crate::answer::{self, counted, shown};

/// Columns from which list and detail stand side by side.
const WIDE: u16 = 110;

/// The keys, for the help window; so few that they fit 24 lines.
const KEYS: [(&str, &str); 21] = [
    (
        "↑ ↓ Enter",
        "go through the list, open an item; Esc closes it",
    ),
    ("s", "select: take it to do it now"),
    (
        "l",
        "lock: take it away; it stays yours without a connection",
    ),
    ("u", "give it back"),
    ("b", "begin: others see that you are at it"),
    (
        "d",
        "do: run the item's component, its answer fills the form",
    ),
    (
        "D",
        "the same, but the server runs it: only the data travel",
    ),
    (
        "r",
        "report: fill in the form; F3 asks the component, F2 sends",
    ),
    ("f", "report a failure, with its reason"),
    (
        "g O",
        "give it to another person; take it over, if you are in charge",
    ),
    ("t", "take the task that follows away together with it"),
    ("c", "comment"),
    ("h", "history: who did what, when"),
    ("m", "messages"),
    ("x", "a refused result: both versions, and what to do"),
    (
        "o F5",
        "order: arrival, priority, deadline, size, own; look again",
    ),
    ("J K", "move the item down or up in your own order"),
    ("p", "prefetch on or off"),
    (
        "a",
        "leave: transfer what is locked, go without a connection",
    ),
    ("R", "return: send results, fetch messages"),
    ("q", "quit; what is kept stays in the local store"),
];

/// Draws all of it.
pub(crate) fn draw(frame: &mut Frame<'_>, screen: &Screen, now: &str) {
    let [title, body, status, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
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
        draw_window(frame, window);
    }
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
        Span::from(format!(
            "  {}, by {}",
            counted(screen.desk.items.len(), "item"),
            ORDERS[screen.order]
        )),
    ];
    let kept = screen
        .desk
        .results
        .iter()
        .filter(|one| one.state == "kept")
        .count();
    if kept > 0 {
        spans.push(Span::styled(
            format!("  {} to send", counted(kept, "result")),
            Color::Yellow,
        ));
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
    let line = match (text.is_empty(), screen.desk.warnings.first()) {
        (true, Some(warning)) => Line::from(format!(" {warning}")).fg(Color::Yellow),
        _ => Line::from(format!(" {text}")).fg(if *wrong { Color::Red } else { Color::Reset }),
    };
    frame.render_widget(line, area);
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, screen: &Screen, now: &str) {
    let block = Block::bordered().title(" items ");
    if screen.desk.items.is_empty() {
        let text = if screen.loaded {
            "Nothing to do. What is offered to your roles appears here."
        } else {
            "Fetching the worklist …"
        };
        let text = Paragraph::new(text)
            .alignment(Alignment::Center)
            .dim()
            .block(block);
        return frame.render_widget(text, area);
    }
    let rows = screen
        .desk
        .items
        .iter()
        .map(|item| list_row(item, screen, now));
    let widths = [
        Constraint::Length(6),
        Constraint::Fill(1),
        Constraint::Max(18),
        Constraint::Length(8),
        Constraint::Length(4),
        Constraint::Length(8),
        Constraint::Length(6),
    ];
    let head = Row::new(["item", "task", "instance", "state", "prio", "due", "here"]).bold();
    let table = Table::new(rows, widths)
        .header(head)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(block);
    let mut state = TableState::new().with_selected(Some(screen.at));
    frame.render_stateful_widget(table, area, &mut state);
}

fn list_row<'a>(item: &LocalItem, screen: &Screen, now: &str) -> Row<'a> {
    let document = &item.document;
    let place = document["instance"].as_str().map_or_else(
        || format!("{}/{}", shown(&document["flow"]), shown(&document["wid"])),
        str::to_owned,
    );
    let state = match item.result.as_deref() {
        Some("refused") => "refused",
        Some(_) => "done",
        None => item.state.as_str(),
    };
    let colour = match state {
        "LOCKED" => Color::Yellow,
        "SELECTED" | "RUNNING" => Color::Cyan,
        "refused" => Color::Red,
        "done" => Color::Green,
        _ => Color::Reset,
    };
    let due = document["deadline_at"]
        .as_str()
        .map_or_else(String::new, |at| time_left(at, now));
    let late = due.starts_with('-');
    let row = Row::new([
        Cell::from(item.item.to_string()),
        Cell::from(shown(&document["task"])),
        Cell::from(place),
        Cell::from(state.to_lowercase()).fg(colour),
        Cell::from(shown(&document["priority"])),
        Cell::from(due).fg(if late { Color::Red } else { Color::Reset }),
        Cell::from(here(item, screen)),
    ]);
    let usable = screen.desk.link == LinkState::Connected || item.enabled || item.result.is_some();
    if usable { row } else { row.dim() }
}

/// States how much of an item is on this machine.
fn here(item: &LocalItem, screen: &Screen) -> String {
    if !screen.desk.may_leave || item.document["disconnected"] != true {
        return String::new();
    }
    if item.transferred {
        return "whole".to_owned();
    }
    match screen
        .desk
        .held
        .iter()
        .find(|(number, _, _)| *number == item.item)
    {
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
    text.parse::<jiff::Timestamp>()
        .ok()
        .map(jiff::Timestamp::as_second)
}

fn draw_detail(frame: &mut Frame<'_>, area: Rect, screen: &Screen, now: &str) {
    let block = Block::bordered().title(" item ");
    let (Some(item), Some(document)) = (screen.item(), screen.document()) else {
        return frame.render_widget(block, area);
    };
    let text = detail_lines(item, document, screen, now);
    let text = Paragraph::new(text)
        .wrap(Wrap { trim: false })
        .scroll((screen.scroll, 0))
        .block(block);
    frame.render_widget(text, area);
}

fn detail_lines<'a>(
    item: &LocalItem,
    document: &Json,
    screen: &Screen,
    now: &str,
) -> Vec<Line<'a>> {
    let pair = |name: &str, text: String| {
        Line::from(vec![
            Span::from(format!("{name:<10}")).dim(),
            Span::from(text),
        ])
    };
    let mut lines = vec![
        Line::from(format!("{} · item {}", shown(&document["task"]), item.item)).bold(),
        pair("instance", shown(&document["instance"])),
    ];
    let holder = document["holder"]
        .as_str()
        .map_or(String::new(), |name| format!(" by {name}"));
    lines.push(pair(
        "state",
        format!("{}{holder}", item.state.to_lowercase()),
    ));
    if let Some(role) = document["role"].as_str() {
        lines.push(pair("role", role.to_owned()));
    }
    if let Some(at) = document["deadline_at"].as_str() {
        let left = time_left(at, now);
        lines.push(pair(
            "deadline",
            format!("{} UTC ({left})", minute(&document["deadline_at"])),
        ));
    }
    if let Some(application) = document["application"].as_str() {
        let size = document["application_bytes"]
            .as_u64()
            .map(answer::bytes)
            .unwrap_or_default();
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
    if let Some(refused) = screen.refused() {
        lines.extend([
            Line::default(),
            Line::from("Your result was refused; x shows both versions.").fg(Color::Red),
        ]);
        lines.push(Line::from(shown(&refused["answer"]["reason"])));
    }
    lines
}

/// Advises where to run the component, from bandwidth and sizes.
fn advice(item: &LocalItem, document: &Json, screen: &Screen) -> Option<String> {
    let bytes = document["application_bytes"].as_u64()?;
    if !screen.desk.may_leave || screen.desk.link != LinkState::Connected {
        return None;
    }
    let held = screen
        .desk
        .held
        .iter()
        .find(|(number, _, _)| *number == item.item);
    let held = held.map_or(0, |(_, held, _)| *held);
    Some(wedflow_away::recommend(
        bytes.saturating_sub(held),
        document["data_bytes"].as_u64().unwrap_or(0),
        screen.desk.bandwidth,
        item.transferred,
    ))
}

fn draw_window(frame: &mut Frame<'_>, window: &Window) {
    match window {
        Window::Help => {
            let lines = KEYS.iter().map(|(key, text)| {
                Line::from(vec![
                    Span::from(format!("{key:<10}")).bold(),
                    Span::from(*text),
                ])
            });
            popup(frame, " keys ", lines.collect(), "any key closes");
        }
        Window::Form(item, form) => draw_form(frame, *item, form),
        Window::Line(purpose, text) => {
            let lines = vec![
                Line::from(purpose.question()),
                Line::from(format!("{text}█")),
            ];
            popup(frame, "", lines, "Enter goes on, Esc does not");
        }
        Window::History(item, entries) => {
            let lines = entries.iter().map(history_line).collect();
            popup(
                frame,
                &format!(" history of item {item} "),
                lines,
                "any key closes",
            );
        }
        Window::Messages(messages) if messages.is_empty() => {
            popup(
                frame,
                " messages ",
                vec![Line::from("There are no messages.")],
                "any key closes",
            );
        }
        Window::Messages(messages) => {
            let lines = messages.iter().flat_map(|message| {
                [
                    Line::from(format!(
                        "{}  {}",
                        minute(&message["at"]),
                        shown(&message["sender"])
                    ))
                    .bold(),
                    Line::from(format!("  {}", shown(&message["text"]))),
                ]
            });
            popup(
                frame,
                " messages ",
                lines.collect(),
                "D removes them, any other key closes",
            );
        }
        Window::Refused(answer) => draw_refused(frame, answer),
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
        Span::from(format!(
            "  {:<10} {:<12}",
            shown(&entry["person"]),
            shown(&entry["action"])
        )),
        Span::from(said),
    ])
}

fn draw_form(frame: &mut Frame<'_>, item: i64, form: &Form) {
    let mut lines = Vec::new();
    for (at, field) in form.fields.iter().enumerate() {
        let here = at == form.at;
        let label = Span::from(format!("{:<18}", field.label));
        let cursor = if here { "█" } else { "" };
        lines.push(Line::from(vec![
            if here { label.bold() } else { label },
            Span::styled(format!("{}{cursor}", field.text), Style::new().underlined()),
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
    let keys = "Tab next  ^U empty  F3 ask the component  F2 or ^S send  Esc cancel";
    popup(frame, &format!(" result of item {item} "), lines, keys);
}

fn draw_refused(frame: &mut Frame<'_>, refused: &Json) {
    let answer = &refused["answer"];
    let mut lines = vec![
        Line::from(shown(&answer["reason"])).fg(Color::Red),
        Line::default(),
    ];
    let (yours, present) = (&answer["yours"], &answer["present"]);
    lines.push(Line::from(format!("{:<16}{:<24}{}", "", "yours", "present")).bold());
    let names = present
        .as_object()
        .into_iter()
        .chain(yours.as_object())
        .flatten()
        .map(|(name, _)| name);
    let mut seen: Vec<&String> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
            lines.push(Line::from(format!(
                "{name:<16}{:<24}{}",
                shown(&yours[name]),
                shown(&present[name])
            )));
        }
    }
    lines.extend([Line::default(), Line::from(shown(&answer["hint"]))]);
    popup(
        frame,
        " refused result ",
        lines,
        "D removes it, any other key closes",
    );
}

fn draw_leaving(frame: &mut Frame<'_>, leaving: &Leaving) {
    let mut lines: Vec<Line<'_>> = leaving
        .steps
        .iter()
        .map(|step| {
            let size = if step.bytes > 0 {
                answer::bytes(step.bytes)
            } else {
                String::new()
            };
            let time = if step.seconds > 0.0 {
                format!("{:.1} s", step.seconds)
            } else {
                String::new()
            };
            Line::from(format!(
                "{:>2}  {:<44} {size:>9} {time:>8}",
                step.step, step.text
            ))
        })
        .collect();
    let keys = match (&leaving.decide, leaving.done) {
        (Some((message, hint)), _) => {
            lines.extend([
                Line::default(),
                Line::from(message.clone()).fg(Color::Yellow),
                Line::from(hint.clone()).dim(),
            ]);
            "y goes on anyway, any other key stays"
        }
        (None, true) => {
            lines.extend([
                Line::default(),
                Line::from("Locked items are with you. R returns.").fg(Color::Green),
            ]);
            "any key closes"
        }
        (None, false) => "Esc hides this window",
    };
    popup(frame, " leaving ", lines, keys);
}

/// Draws a window in the middle.
fn popup(frame: &mut Frame<'_>, title: &str, lines: Vec<Line<'_>>, keys: &str) {
    let area = frame.area();
    let width = area.width.saturating_sub(4).min(92);
    let inner = usize::from(width.saturating_sub(4).max(1));
    let needed: usize = lines
        .iter()
        .map(|line| line.width().div_ceil(inner).max(1))
        .sum();
    let height = u16::try_from(needed + 2)
        .unwrap_or(u16::MAX)
        .min(area.height.saturating_sub(2));
    let place = Rect {
        x: area.x + (area.width.saturating_sub(width)) / 2,
        y: area.y + (area.height.saturating_sub(height)) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let block = Block::bordered()
        .title(title.to_owned())
        .title_bottom(Line::from(format!(" {keys} ")).right_aligned());
    let inside = block.inner(place).inner(Margin::new(1, 0));
    frame.render_widget(block, place);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inside);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use serde_json::json;

    use super::*;
    use crate::inbox::desk::{Desk, News};

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
        let mut screen = Screen {
            person: "beto".to_owned(),
            ..Screen::default()
        };
        screen.hear(News::Desk(Box::new(Desk {
            items,
            may_leave: true,
            ..Desk::default()
        })));
        screen
    }

    fn picture(screen: &Screen, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal
            .draw(|frame| draw(frame, screen, NOW))
            .expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn narrow_screen_has_the_list_or_the_item_and_a_wide_one_has_both() {
        let mut screen = screen();
        let list = picture(&screen, 80, 24);
        assert!(
            list.contains("Worklist of beto") && list.contains("2d 1h"),
            "{list}"
        );
        assert!(!list.contains("Carla"), "{list}");
        screen.detail = true;
        let detail = picture(&screen, 80, 24);
        assert!(
            detail.contains("Carla") && detail.contains("2026-11-26 11:30 UTC"),
            "{detail}"
        );
        screen.detail = false;
        let both = picture(&screen, 120, 40);
        assert!(
            both.contains("VisitarCliente") && both.contains("Carla"),
            "{both}"
        );
    }

    #[test]
    fn every_window_fits_a_small_screen() {
        let mut screen = screen();
        let form = Form::new(
            &json!({ "properties": { "cost": { "type": "number" } } }),
            &json!({}),
        );
        for window in [
            Window::Help,
            Window::Form(7, Box::new(form)),
            Window::History(
                7,
                vec![json!({ "at": NOW, "person": "beto", "action": "locked", "detail": {} })],
            ),
            Window::Messages(Vec::new()),
            Window::Refused(
                json!({ "answer": { "reason": "lost", "yours": { "a": 1 }, "present": { "a": 2 }, "hint": "ask" } }),
            ),
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
}
