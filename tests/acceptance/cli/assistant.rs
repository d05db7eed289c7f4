//! `wed mcp`, asked by a client of the protocol: the same client and permissions as the commands, answers in parts.

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams, ResourceContents};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value as Json, json};

use super::{Cli, STEPS};
use crate::support::http::Api;
use crate::support::program::{run, wed, wed_path};
use crate::support::{on, repository};

/// Most bytes of an answer: a part, and the line that says which one it is.
const ANSWER_BYTES_MAX: usize = 4_200;

/// A session by the protocol's own client for Python, with `wed mcp` over standard input and output: the tools' names,
/// and the answer for an instance named by its key.
const PYTHON_SESSION: &str = r#"
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        wanted = {"flow": "steps", "wid": "key:order-17"}
        told = await client.call_tool("explain_instance", wanted)
        unknown = await client.call_tool("explain_instance", {"flow": "steps", "wid": "key:none"})
        trace = await client.read_resource("wed://flows/steps/instances/key:order-17/trace")
        print(json.dumps({
            "tools": [tool.name for tool in tools],
            "described": all(tool.description and tool.input_schema for tool in tools),
            "told": json.loads(told.content[0].text),
            "unknown": [unknown.is_error, unknown.content[0].text],
            "trace": trace.contents[0].text,
        }))

asyncio.run(main())
"#;

/// A session of the protocol with a program of its own, which ends with it.
struct Assistant {
    session: RunningService<RoleClient, ()>,
    _program: tokio::process::Child,
}

impl Assistant {
    fn start(mut command: std::process::Command, words: &[&str]) -> Self {
        command.args(words);
        on(async {
            let mut program = tokio::process::Command::from(command)
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .expect("started");
            let input = program.stdin.take().expect("its input");
            let output = program.stdout.take().expect("its output");
            Assistant { session: ().serve((output, input)).await.expect("greeted"), _program: program }
        })
    }

    fn tools(&self) -> Vec<String> {
        let tools = on(self.session.list_all_tools()).expect("listed");
        tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    /// Calls a tool: the text of its answer, or of its error.
    fn call(&self, tool: &'static str, arguments: Json) -> Result<String, String> {
        let arguments = arguments.as_object().cloned().expect("an object");
        let asked = CallToolRequestParams::new(tool).with_arguments(arguments);
        let answer = on(self.session.call_tool(asked)).map_err(|error| error.to_string())?;
        let text = answer.content[0].as_text().expect("a text").text.clone();
        assert!(text.len() <= ANSWER_BYTES_MAX, "{tool}: {}", text.len());
        match answer.is_error {
            Some(true) => Err(text),
            _ => Ok(text),
        }
    }

    /// The document of an answer that is whole.
    #[track_caller]
    fn json(&self, tool: &'static str, arguments: Json) -> Json {
        let text = self.call(tool, arguments).expect("an answer");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[track_caller]
    fn read(&self, uri: &str) -> String {
        let asked = ReadResourceRequestParams::new(uri);
        let answer = on(self.session.read_resource(asked)).expect("read");
        match &answer.contents[0] {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            other => panic!("{other:?}"),
        }
    }
}

#[harness::test]
fn assistant_over_the_database_reads_and_changes_nothing() {
    let cli = Cli::with_steps();
    cli.json(&["instance", "start", "steps", "n=1"]);
    let long = "tea ".repeat(3_000);
    cli.json(&["instance", "start", "steps", &format!("remark={long}")]);
    let assistant = Assistant::start(wed(&cli.database.url()), &["mcp"]);
    let tools = assistant.tools();
    assert!(tools.contains(&"explain_instance".to_owned()), "{tools:?}");
    assert!(!tools.contains(&"set_state".to_owned()), "{tools:?}");
    let set = json!({ "flow": "steps", "wid": 1, "state": { "n": 2 }, "reason": "none" });
    let refused = assistant.call("set_state", set).expect_err("refused");
    assert!(refused.contains("no tool set_state"), "{refused}");

    let flows = assistant.json("list_flows", json!({}));
    assert_eq!(flows[0]["name"], "steps");
    let found = json!({ "flow": "steps", "condition": "n = 1" });
    let found = assistant.json("find_instances", found);
    assert_eq!(found["items"][0]["wid"], 1, "{found}");
    let why = assistant.json("explain_instance", json!({ "flow": "steps", "wid": 1 }));
    assert_eq!(why["pending"], json!(["step"]));
    assert_eq!(why["why"]["state"]["n"], 1);
    let waits = assistant.json("list_waiting", json!({ "flow": "steps", "wid": 1 }));
    assert!(waits["items"].as_array().is_some_and(|items| !items.is_empty()));
    let jobs = assistant.json("list_waiting", json!({ "flow": "steps" }));
    assert_eq!(jobs["items"].as_array().map(Vec::len), Some(2), "{jobs}");
    let check = json!({ "flow": "steps", "trigger": "t", "condition": "n < 1" });
    assert_eq!(assistant.json("check_condition", check)["condition"], "(n < 1)");
    let wrong = json!({ "flow": "steps", "trigger": "t", "condition": "n <" });
    assert!(assistant.call("check_condition", wrong).is_err());
    let changed = json!({ "definition": STEPS.replace("n < 3", "n < 2") });
    assert!(assistant.call("preview_definition", changed).is_ok());
    let rows = assistant.json("read_trace", json!({ "flow": "steps", "wid": 1 }));
    assert_eq!(rows["items"][0]["seq"], 1, "{rows}");

    let mut told = String::new();
    for part in 1..=4 {
        let asked = json!({ "flow": "steps", "wid": 2, "part": part });
        let text = assistant.call("explain_instance", asked).expect("a part");
        assert!(text.contains(&format!("part {part} of ")), "{text}");
        told.push_str(text.split("\n[").next().unwrap_or_default());
    }
    assert!(told.contains(&long), "{told}");
    let all = json!({ "flow": "steps", "status": "regular" });
    let cut = assistant.call("find_instances", all).expect("an answer");
    assert!(cut.contains("[cut: ") && cut.contains("cursor"), "{cut}");
}

#[harness::test]
fn assistant_reads_definitions_traces_and_pages() {
    let cli = Cli::with_steps();
    cli.json(&["instance", "start", "steps"]);
    let assistant = Assistant::start(wed(&cli.database.url()), &["mcp"]);
    let resources = on(assistant.session.list_all_resources()).expect("listed");
    let resources: Vec<&str> = resources.iter().map(|one| one.uri.as_str()).collect();
    assert!(resources.contains(&"wed://flows/steps/definition"));
    assert!(resources.contains(&"wed://docs/assistants"), "{resources:?}");
    assert!(assistant.read("wed://flows/steps/definition").contains("n < 3"));
    let trace = assistant.read("wed://flows/steps/instances/1/trace");
    assert!(trace.contains("\"seq\":1"), "{trace}");
    let second = assistant.read("wed://docs/conditions?part=2");
    assert!(second.contains("part 2 of "), "{second}");
    let missing = ReadResourceRequestParams::new("wed://docs/none");
    assert!(on(assistant.session.read_resource(missing)).is_err());
}

#[harness::test]
fn assistant_over_http_may_do_what_its_token_may() {
    let cli = Cli::with_steps();
    cli.json(&["instance", "start", "steps"]);
    let api = Api::of(&cli.database);
    let assistant = |role: &str| {
        cli.json(&["user", "create", role, "--role", role]);
        let token = cli.json(&["token", "create", role]);
        let mut command = wed("");
        command
            .env_remove("DATABASE_URL")
            .env("WEDFLOW_SERVER", format!("http://{}", api.address))
            .env("WEDFLOW_TOKEN", token["secret"].as_str().expect("a secret"));
        Assistant::start(command, &["mcp", "--write"])
    };
    let skip = ["instance", "skip", "steps", "1", "--transition", "step", "--reason", "stuck"];
    run(wed(&cli.database.url()).args(skip)).done();
    let set = json!({ "flow": "steps", "wid": 1, "state": { "n": 1 }, "reason": "counted again" });
    let viewer = assistant("viewer");
    let refused = viewer.call("set_state", set.clone()).expect_err("refused");
    assert!(refused.contains("not_permitted"), "{refused}");
    let found = json!({ "flow": "steps", "status": "exception" });
    let found = viewer.json("find_instances", found);
    assert_eq!(found["items"][0]["wid"], 1, "{found}");

    let admin = assistant("admin");
    admin.json("set_state", set);
    let trace = admin.call("read_trace", json!({ "flow": "steps", "wid": 1 }));
    assert!(trace.expect("rows").contains("counted again"));
    let retry = json!({ "flow": "steps", "wid": 1, "reason": "at once" });
    admin.json("retry_instance", retry);
    let back = json!({ "flow": "steps", "wid": 1, "seq": 1, "reason": "again" });
    let refused = admin.call("go_back", back).expect_err("no exception");
    assert!(refused.contains("\"code\""), "{refused}");
    let changed = json!({ "definition": STEPS.replace("n < 3", "n < 2") });
    admin.json("apply_definition", changed);
    let definition = admin.call("read_definition", json!({ "flow": "steps" }));
    assert!(definition.expect("it").contains("n < 2"));
}

#[harness::test]
fn protocols_client_for_python_asks_about_an_instance_by_its_key() {
    let cli = Cli::with_steps();
    let started = ["instance", "start", "steps", "n=1", "--key", "order-17"];
    cli.json(&started);
    let mut python = std::process::Command::new(repository(".venv/bin/python"));
    python.args(["-c", PYTHON_SESSION]).arg(wed_path());
    python.env("DATABASE_URL", cli.database.url());
    let told = run(&mut python).done().json();
    let tools = told["tools"].as_array().expect("tools");
    assert!(tools.contains(&json!("explain_instance")), "{told}");
    assert_eq!(told["described"], true, "{told}");
    assert_eq!(told["told"]["why"]["state"]["n"], 1, "{told}");
    assert_eq!(told["unknown"][0], true, "{told}");
    let refusal = told["unknown"][1].as_str().expect("a text");
    assert!(refusal.contains("\"hint\""), "{refusal}");
    let trace = told["trace"].as_str().expect("a text");
    assert!(trace.contains("\"seq\":1"), "{trace}");
}

#[harness::test]
fn client_that_does_not_speak_the_protocol_is_told_so_in_a_line() {
    let database = crate::support::Database::new();
    let (file, path) = written(&format!("{{\"id\": 1, \"x\": \"{}\"}}\n", "y".repeat(9_000)));
    let mut program = wed(&database.url());
    let input = std::fs::File::open(&path).expect("the file");
    let answer = run(program.arg("mcp").stdin(input));
    assert!(answer.err.len() < 600, "{}", answer.err);
    assert!(answer.err.contains("wed explain assistants"), "{}", answer.err);
    drop(file);
}

/// A file with a text.
fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("input");
    std::fs::write(&path, text).expect("written");
    (folder, path)
}

#[harness::test]
fn line_that_is_no_json_is_answered_and_the_session_goes_on() {
    use std::io::{BufRead, BufReader, Write};
    let cli = Cli::with_steps();
    let mut program = wed(&cli.database.url());
    program.arg("mcp").stdin(std::process::Stdio::piped());
    let mut program = (program.stdout(std::process::Stdio::piped())).spawn().expect("started");
    let mut input = program.stdin.take().expect("its input");
    let mut output = BufReader::new(program.stdout.take().expect("its output")).lines();
    let mut answer = |line: &str| -> Json {
        writeln!(input, "{line}").expect("written");
        let line = output.next().expect("an answer").expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    };
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } });
    let greeting = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client });
    assert_eq!(answer(&greeting.to_string())["id"], 1);
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let refused = answer(&format!("{begun}\nlist the flows, please"));
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Json::Null, &json!(-32_700)));
    let listing = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let listed = answer(&listing.to_string());
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    drop(input);
    assert!(program.wait().expect("it ends").success());
}
