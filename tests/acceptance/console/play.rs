//! The worked example of the process language, played by three people in three sessions of one browser: two of them
//! race, the winner goes away, loses the network at each step of that, works without it, and returns.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use wedflow_console::Links;

use super::browser::{driver, pictures};
use super::served_over;
use crate::support::http::Api;
use crate::support::program::{run, wed};
use crate::support::{Database, Flow, on, repository};

/// People and their roles; two may visit the customer.
const PEOPLE: [(&str, &str); 3] = [("ana", "{Atendente}"), ("beto", "{Tecnico}"), ("caio", "{Tecnico,Office_boy}")];

/// The browser's driver. It asks for what happens outside of the browser, a line each.
struct Play(Child);

impl Drop for Play {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The example's flow with its people.
fn manutencao() -> Flow {
    let database = Database::new();
    let source = repository("host/process/tests/data/manutencao.pdl");
    run(wed(&database.url()).args(["flow", "apply"]).arg(source)).done();
    for (name, roles) in PEOPLE {
        let made = format!("SELECT wed.create_person('default', '{name}', '{roles}')");
        database.owner().run(&made);
    }
    let store = &database.store;
    Flow {
        id: on(store.flow("default", "manutencao")).expect("the flow").flow_id,
        url: on(store.flow_url("default", "manutencao")).expect("its URL"),
        database: Arc::clone(&database),
        name: "manutencao".to_owned(),
    }
}

/// Answers the driver until it ends: does the automatic tasks as a program does, and runs commands of the inbox.
fn answer(play: &mut Play, flow: &Flow, server: &str, token: &str) {
    let mut input = play.0.stdin.take().expect("its input");
    let output = BufReader::new(play.0.stdout.take().expect("its output"));
    for line in output.lines() {
        let asked: Json = serde_json::from_str(&line.expect("a line")).expect("a document");
        let answer = match asked["terminal"].as_array() {
            Some(words) => {
                let mut command = wed(&flow.database.url());
                let as_caio = ["--json", "work", "--server", server, "--token", token];
                command.args(as_caio);
                command.args(words.iter().filter_map(Json::as_str));
                run(&mut command).done().json()
            }
            None => {
                let mut program = flow.session();
                let task = asked["program"].as_str().expect("a task");
                program.finish(1, task, &format!("{task}_state = 'SUCCEEDED'"));
                Json::Null
            }
        };
        writeln!(input, "{answer}").expect("it reads");
    }
    assert!(play.0.wait().expect("it ends").success());
}

/// Checks that nothing is lost, and nothing there twice.
fn check(flow: &Flow, winner: &str) {
    let mut owner = flow.database.owner();
    let steps = "SELECT string_agg(trw, ' ' ORDER BY seq) FROM wed.trace WHERE trw IS NOT NULL";
    assert_eq!(
        owner.line(steps),
        "criar_ordem_servico visitar_cliente gerar_ordem_pagamento armazenar_debito_cliente enviar_ordem_pagamento"
    );
    let of = |action: &str| format!("SELECT count(*) FROM wed.work_event WHERE action = '{action}'");
    assert_eq!(owner.number(&of("succeeded")), 3);
    assert_eq!(owner.number(&of("report_refused")), 1);
    assert_eq!(owner.number(&of("locked")), 1, "one of two who race");
    let order = flow.session().line("SELECT ordem_servico FROM wed_flow");
    assert_eq!(order, format!("Carla, Rua 5; solda: {winner}"));
    let started = flow.session().line("SELECT debitos_clientes FROM wed_flow");
    assert_eq!(started, "Carla: R$ 0,00");
    assert_eq!(flow.session().status(1), "F");
}

#[harness::test]
fn three_people_play_the_example_and_nothing_is_lost_or_done_twice() {
    let flow = manutencao();
    let api: Api = served_over(&flow.database, &Links::default());
    let tokens: serde_json::Map<String, Json> = (PEOPLE.iter())
        .map(|(name, _)| {
            let token = api.user("default", name, "participant").token;
            ((*name).to_owned(), json!(token))
        })
        .collect();
    let server = format!("http://{}", api.address);
    let asked = json!({ "server": server, "tokens": tokens, "pictures": pictures() });
    let mut command = Command::new("node");
    command.arg(driver("play.mjs")).arg(asked.to_string());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut play = Play(piped.spawn().expect("node runs"));
    let caio = tokens["caio"].as_str().expect("a token");
    answer(&mut play, &flow, &server, caio);
    let held = "SELECT person FROM wed.work_event WHERE action = 'locked'";
    let winner = flow.database.owner().line(held);
    check(&flow, &winner);
}
