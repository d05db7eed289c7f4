//! The designer: the text of a flow or of processes next to its picture; each changes the other.

use axum::extract::Path;
use axum::http::HeaderMap;
use maud::{Markup, PreEscaped, html};
use serde_json::json;
use wedflow_client::{ClientError, Expected};
use wedflow_documents::{Applied, FlowDetail, Preview, ProcessDefinition};
use wedflow_model::FlowDefinition;
use wedflow_process::{Change, Diagnostic, Plan, Severity, wsql};

use super::flow::{detail, of_flow};
use super::{Query, flow_address};
use crate::ROOT;
use crate::document::{self, script};
use crate::failure::Failure;
use crate::frame::{Answer, hidden, onward, page};
use crate::session::{Sent, Session};
use crate::shown::prose;
use crate::source::{Draft, Form, Line, Reading, change, difference};

/// Process that a new text begins with.
const NEW_PROCESS: &str = "WORKFLOW New {\n  TASK First: Form {}\n  \
    TASK Second: Form { DEPENDS First -> SUCCEEDED; }\n}\n\n\
    TASK Form { TYPE MANUAL; PRIORITY 0; DISCONNECTED_OPERATION FALSE; }\n";
/// Flow that a new text begins with.
const NEW_FLOW: &str = "CREATE WED-FLOW new_flow;\nCREATE WED-ATTRIBUTE first text;\n\
    CREATE FINAL WED-CONDITION AS (first IS NOT NULL);\n\
    CREATE WED-TRIGGER first\n  WHEN (first IS NULL)\n  FIRE first\n  WRITES (first);\n";
/// Address of the designer of new flows.
const ADDRESS: &str = "/design";

/// Text that is designed, with what it came from.
struct Design {
    form: Form,
    text: String,
    /// The flow that it was read from; empty: a new one.
    flow: String,
    /// Tag of the definition that it was read from.
    tag: String,
    creator_role: String,
}

impl Design {
    fn of(sent: &Sent) -> Self {
        // Browsers send line ends as the protocol has them.
        let text = sent.0.get("text").map_or("", String::as_str);
        Design {
            form: Form::of(sent.text("form")),
            text: text.replace("\r\n", "\n"),
            flow: sent.text("flow").to_owned(),
            tag: sent.text("tag").to_owned(),
            creator_role: sent.text("creator_role").to_owned(),
        }
    }
}

/// The designer of a new flow or process.
pub(crate) async fn new(session: Session, query: Query) -> Answer {
    let form = Form::of(query.given("form").unwrap_or_default());
    let text = match form {
        Form::Process => NEW_PROCESS,
        Form::Statements => NEW_FLOW,
    };
    let design =
        Design { form, text: text.to_owned(), flow: String::new(), tag: String::new(), creator_role: String::new() };
    let reading = Reading::of(form, &design.text);
    let drawn = drawn(&session, &design, &reading, &html! {});
    whole(&session, &design, &drawn).await
}

/// The designer of a flow that there is: of a process in the process language, of others in WSQL.
pub(crate) async fn flow(session: Session, Path(flow): Path<String>, query: Query) -> Answer {
    let (detail, tag) = session.client.flow(&flow).await.map_err(session.failed())?;
    let plan = plan_of(&session, &flow).await;
    let plan = plan.filter(|_| query.given("form") != Some(Form::Statements.word()));
    let creator_role = plan.as_ref().and_then(|plan| plan.creator_role.clone());
    let (form, text) = match &plan {
        Some(plan) => (Form::Process, wedflow_process::raise(std::slice::from_ref(plan))),
        None => (Form::Statements, wsql::write(&definition_of(&session, &detail)?)),
    };
    let design = Design { form, text, flow, tag, creator_role: creator_role.unwrap_or_default() };
    let reading = Reading::of(form, &design.text);
    let drawn = drawn(&session, &design, &reading, &html! {});
    whole(&session, &design, &drawn).await
}

/// The plan of a flow that is a process of the process language.
async fn plan_of(session: &Session, flow: &str) -> Option<Plan> {
    let plan = session.client.work_plan(flow).await.ok()?.plan;
    serde_json::from_value(plan).ok()
}

fn definition_of(session: &Session, flow: &FlowDetail) -> Result<FlowDefinition, Failure> {
    let unreadable = |_| Failure::broken(session.language);
    serde_json::from_value(flow.definition.clone()).map_err(unreadable)
}

/// Draws a text anew, changes a task of it, says what applying it would do, or applies it. A script asks only for
/// the panel next to the text.
pub(crate) async fn act(session: Session, headers: HeaderMap, sent: Sent) -> Answer {
    let mut design = Design::of(&sent);
    let act = sent.text("act");
    let changed = match how(act, &sent) {
        Some(how) => {
            let task = if act == "add" { sent.text("name") } else { task_of(&sent).1 };
            let place = (task_of(&sent).0, task);
            change(design.form, &design.text, place, &how).map(Some)
        }
        None => Ok(None),
    };
    let mut message = html! {};
    match changed {
        Ok(Some(text)) => design.text = text,
        Ok(None) => {}
        Err(why) => message = refusal(&why),
    }
    let reading = Reading::of(design.form, &design.text);
    match act {
        "apply" if reading.is_whole() => match apply(&session, &design, &reading).await {
            Ok(flow) => {
                let said = session.language.say("It was applied.");
                return Ok(onward(&format!("{}/versions", flow_address(&flow)), said));
            }
            Err(refusal) => message = refusal,
        },
        "preview" if reading.is_whole() => message = preview(&session, &design, &reading).await,
        "preview" | "apply" => {
            message = refusal(session.language.say("The text has errors: mend them first."));
        }
        _ => {}
    }
    let drawn = drawn(&session, &design, &reading, &message);
    if sent.text("part") == "yes" {
        let content = html! { (drawn) textarea hidden data-text="true" { "\n" (design.text) } };
        return Ok(document::part(&headers, &content));
    }
    whole(&session, &design, &drawn).await
}

/// Reads from a form how a task is to be changed.
fn how(act: &str, sent: &Sent) -> Option<Change> {
    let after = sent.given("after");
    Some(match act {
        "rename" => Change::Rename(sent.text("name").to_owned()),
        "delete" => Change::Delete,
        "move" => Change::Place(after),
        "add" => Change::Add(after),
        _ => return None,
    })
}

/// The workflow and the name of the task that a form is about.
fn task_of(sent: &Sent) -> (&str, &str) {
    let task = sent.text("task");
    task.split_once('/').unwrap_or(("", task))
}

/// Applies a text over the API, as `wed flow apply` does; the name of its first flow. A text that is new changes no
/// flow that there is.
async fn apply(session: &Session, design: &Design, reading: &Reading) -> Result<String, Markup> {
    let refused = |error: ClientError| refusal(&error.to_string());
    let first = reading.drafts.first().map(|one| &one.definition);
    let first = first.map_or("", |one| &one.name).to_owned();
    if design.form == Form::Process {
        if design.flow.is_empty() && session.client.flow(&first).await.is_ok() {
            let taken = session.language.say("There is a flow of this name already: change it in its own designer.");
            return Err(refusal(taken));
        }
        let processes = reading.drafts.iter().map(|one| ProcessDefinition {
            definition: json!(one.definition),
            plan: json!(one.plan.as_ref().map(|plan| Plan {
                // An empty one lets anybody start instances.
                creator_role: Some(design.creator_role.clone()),
                ..plan.clone()
            })),
        });
        session.client.apply_processes(processes.collect()).await.map_err(refused)?;
        return Ok(first);
    }
    for one in &reading.drafts {
        let is_same = one.definition.name == design.flow && !design.tag.is_empty();
        let expected = match is_same {
            true => Expected::Tag(design.tag.clone()),
            false => Expected::Nothing,
        };
        let applied = session.client.apply(&one.definition, &expected).await;
        applied.map_err(refused)?;
    }
    Ok(first)
}

/// Says what applying a text would do: which attributes and triggers change, and how the text differs from what there
/// is.
async fn preview(session: &Session, design: &Design, reading: &Reading) -> Markup {
    let say = |text| session.language.say(text);
    let mut content = Vec::new();
    for one in &reading.drafts {
        match session.client.preview(&one.definition).await {
            Ok(preview) => content.push(changes(session, &one.definition.name, &preview)),
            Err(error) => content.push(refusal(&error.to_string())),
        }
    }
    let present = match design.flow.is_empty() {
        true => String::new(),
        false => present_text(session, design).await,
    };
    let new = reading.printed();
    let lines = difference(&present, &new);
    html! {
        h2 { (say("What would change")) }
        @for one in &content { (one) }
        @if !present.is_empty() {
            pre class="diff" tabindex="0" {
                @for line in &lines {
                    @match line {
                        Line::Same(line) => { "  " (line) "\n" }
                        Line::Old(line) => del { "- " (line) "\n" },
                        Line::New(line) => ins { "+ " (line) "\n" },
                        Line::Gap => { "  …\n" }
                    }
                }
                @if lines.is_empty() { (say("They are the same.")) }
            }
        }
    }
}

/// The flow that a text was read from, as text.
async fn present_text(session: &Session, design: &Design) -> String {
    if design.form == Form::Process {
        let plan = plan_of(session, &design.flow).await;
        return plan.map_or_else(String::new, |plan| wedflow_process::raise(&[plan]));
    }
    let flow = session.client.flow(&design.flow).await;
    let definition = flow.ok().and_then(|(detail, _)| definition_of(session, &detail).ok());
    definition.map_or_else(String::new, |definition| wsql::write(&definition))
}

/// Lists what a definition would change.
fn changes(session: &Session, flow: &str, preview: &Preview) -> Markup {
    let say = |text| session.language.say(text);
    let Applied {
        attributes_added,
        attributes_changed,
        attributes_kept,
        triggers_added,
        triggers_changed,
        triggers_removed,
        settings_changed,
        components_missing,
        warnings,
        ..
    } = &preview.would_apply;
    let lists = [
        (say("Attributes added"), attributes_added),
        (say("Attributes changed"), attributes_changed),
        (say("Attributes that stay, though the text has them not"), attributes_kept),
        (say("Triggers added"), triggers_added),
        (say("Triggers changed"), triggers_changed),
        (say("Triggers removed"), triggers_removed),
        (say("Settings changed"), settings_changed),
        (say("Components that are missing"), components_missing),
    ];
    let lists: Vec<_> = lists.iter().filter(|(_, names)| !names.is_empty()).collect();
    html! {
        section class="box" {
            h3 { (flow) @if preview.would_apply.created { " · " (say("a new flow")) } }
            @if lists.is_empty() { p { (say("Nothing changes.")) } }
            @for (name, names) in lists { p { (name) ": " code { (names.join(", ")) } } }
            @for one in warnings { p class="note" { (prose(one)) } }
            @if preview.matching > 0 {
                p { (preview.matching) " " (say("running instances would fire something at a re-match.")) }
            }
        }
    }
}

fn refusal(why: &str) -> Markup {
    html! { p class="alert" role="alert" { (prose(why)) } }
}

/// The panel next to the text: pictures, tasks, errors, and the answer to what was asked.
fn drawn(session: &Session, design: &Design, reading: &Reading, message: &Markup) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        (errors(session, design, &reading.found))
        (message)
        @for one in &reading.drafts {
            @let title = format!("{} {}", say("Picture of the flow"), one.definition.name);
            div class="picture" tabindex="0" role="region" aria-label=(title) {
                @match &one.graph {
                    Some(graph) => (PreEscaped(wedflow_picture::svg(&title, graph,
                        wedflow_picture::Place::Editor(&one.workflow)))),
                    None => p { (say("The flow is too large for a picture here.")) },
                }
            }
        }
        (tasks(session, design.form, &reading.drafts))
    }
}

/// Errors and warnings, each with its place.
fn errors(session: &Session, design: &Design, found: &[Diagnostic]) -> Markup {
    let say = |text| session.language.say(text);
    html! {
        @if !found.is_empty() {
            ol class="found" aria-label=(say("Errors and warnings")) {
                @for one in found {
                    @let place = one.position(&design.text);
                    @let class = if one.severity == Severity::Error { "alert" } else { "note" };
                    li class=(class) data-line=(place.line) data-column=(place.column) {
                        a href="#text" { (say("Line")) " " (place.line) ":" (place.column) }
                        " " (one.message)
                        @if let Some(hint) = &one.hint { ". " (hint) }
                    }
                }
            }
        }
    }
}

/// Fields that change a task; a script moves tasks in the picture.
fn tasks(session: &Session, form: Form, drafts: &[Draft]) -> Markup {
    let say = |text| session.language.say(text);
    let rule = match form {
        Form::Process => {
            say("Moved behind another task, it waits for that one; what waited for that one waits for it.")
        }
        Form::Statements => say("Moving a trigger moves its statement; its condition says when it fires."),
    };
    html! {
        @if !drafts.is_empty() {
            fieldset id="tasks" {
                legend { (say("Tasks")) }
                div class="row" {
                    label {
                        (say("Task"))
                        select name="task" { @for one in drafts { @for task in &one.tasks {
                            option value=(format!("{}/{task}", one.workflow)) { (task) }
                        } } }
                    }
                    label {
                        (say("Behind"))
                        select name="after" {
                            option value="" { (say("the beginning")) }
                            @for one in drafts { @for task in &one.tasks { option { (task) } } }
                        }
                    }
                    button name="act" value="move" { (say("Move")) }
                    button class="bad" name="act" value="delete"
                        data-ask=(say("Delete this task, with the comments above it?")) { (say("Delete")) }
                }
                div class="row" {
                    label { (say("Name")) input name="name" autocomplete="off" maxlength="60"; }
                    button name="act" value="rename" { (say("Rename")) }
                    button name="act" value="add" { (say("Add behind")) }
                    button class="scripted" type="button" data-undo="true" hidden { (say("Take back")) }
                }
                p class="soft" { (rule) }
                p class="soft scripted" {
                    (say("In the picture: drag a box onto another one, or choose one by Tab and move it by Alt and \
                        an arrow, rename it by F2, delete it by Delete."))
                }
            }
        }
    }
}

/// The whole page, around the panel next to the text.
async fn whole(session: &Session, design: &Design, drawn: &Markup) -> Answer {
    let say = |text| session.language.say(text);
    let may_apply = session.may("flows:write");
    let content = html! {
        (script("design.js"))
        @if design.flow.is_empty() {
            h1 { (say("New flow")) }
            nav class="tabs" aria-label=(say("Language of the text")) {
                @for (form, name) in [(Form::Process, say("Process of people")), (Form::Statements, "WSQL")] {
                    a href=(format!("{ROOT}{ADDRESS}?form={}", form.word()))
                        aria-current=[(form == design.form).then_some("page")] { (name) }
                }
            }
        }
        form method="post" action=(format!("{ROOT}{ADDRESS}")) class="design" data-design=(design.form.word()) {
            (hidden(session))
            input type="hidden" name="form" value=(design.form.word());
            input type="hidden" name="flow" value=(design.flow);
            input type="hidden" name="tag" value=(design.tag);
            div class="pane" {
                label for="text" { (say("Text")) }
                div class="editor" {
                    textarea id="text" name="text" rows="26" spellcheck="false" autocapitalize="off" wrap="off" {
                        "\n" (design.text)
                    }
                }
                @if design.form == Form::Process {
                    p { label {
                        (say("Role whose people start it; empty: anybody"))
                        input name="creator_role" value=(design.creator_role) autocomplete="off";
                    } }
                }
                p class="acts" {
                    // The first button of a form is the one that Enter presses.
                    button class="strong" name="act" value="preview" { (say("Preview")) }
                    @if may_apply { button name="act" value="apply" { (say("Apply")) } }
                }
            }
            div class="pane" id="drawn" aria-live="polite" { (drawn) }
        }
    };
    if design.flow.is_empty() {
        return Ok(page(session, say("New flow"), &content));
    }
    Ok(of_flow(session, &detail(session, &design.flow).await?, "/design", &content))
}
