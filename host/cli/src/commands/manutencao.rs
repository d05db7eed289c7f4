//! `wed demo manutencao`: the worked example of the process language, done by three people, one of whom works without a
//! connection.

use serde_json::{Value as Json, json};
use wedflow_api::{Server, ServerSettings};
use wedflow_away::{Leaving, Link, LocalStore, disconnect, reconnect};
use wedflow_documents::{NewToken, NewUser, Process, Report, Status};
use wedflow_model::Wid;
use wedflow_store::Store;

use crate::answer::counted;
use crate::commands::{away, process};
use crate::door::{self, Door};
use crate::problem::Problem;
use crate::terminal::Terminal;

/// The source, as printed.
const SOURCE: &str = include_str!("../../../process/tests/data/manutencao.pdl");

/// Name of its flow.
const FLOW: &str = "manutencao";

/// Name and purpose, as `wed demo` lists them.
pub(crate) const ABOUT: (&str, &str) =
    ("manutencao", "people's work in the process language: one locks a task, goes offline, works and returns");

/// The people and their roles.
const PEOPLE: [(&str, &str); 3] = [("ana", "Atendente"), ("beto", "Tecnico"), ("caio", "Office_boy")];
/// The values that people and the programs between them set.
const ORDER: &str = "Nome do Cliente: Carla; Endereco: Rua 5";
const VISIT: &str = "Nome do Cliente: Carla; Endereco: Rua 5; Servicos: solda; Materiais: 2 m de tubo";

/// The players of the example.
struct Example<'a> {
    store: &'a Store,
    tenant: &'a str,
    terminal: &'a Terminal,
    wid: Wid,
    steps: Vec<Json>,
}

/// Plays the example to its end.
pub(crate) async fn run(store: &Store, tenant: &str, terminal: &Terminal) -> Result<(), Problem> {
    let owner = door::of_store(store, tenant, "operator");
    let flows = process::apply_text("manutencao.pdl", SOURCE, &owner, terminal).await?;
    for (name, role) in PEOPLE {
        owner.put_person(name, &[role.to_owned()]).await?;
        door::of_store(store, tenant, name).set_active(true).await?;
    }
    let new = Process {
        flow: FLOW.to_owned(),
        in_charge: Some("ana".to_owned()),
        warnings: vec![24, 6],
        transfer: Some(6),
        ..Process::default()
    };
    let begun = door::of_store(store, tenant, "ana").begin(&new).await?;
    let wid = begun["wid"].as_i64().and_then(|wid| i32::try_from(wid).ok());
    let wid = wid.map(Wid::new).unwrap_or_default();
    let mut example = Example { store, tenant, terminal, wid, steps: Vec::new() };
    let messages = example.play().await?;
    let steps = example.steps;
    let trace = owner.trace(FLOW, wid, None, None).await?;
    if terminal.is_json() {
        terminal.document(&json!({ "flows": flows, "wid": wid, "steps": steps, "messages": messages, "trace": trace }));
    } else {
        terminal.trace(&trace, &[]);
        let next = format!(
            "\nTry next:\n  wed work --as ana history ITEM    who did what with an item\n  \
             wed flow show manutencao          the flow that the source became\n  \
             wed instance show manutencao {wid}   the instance"
        );
        terminal.say(&next);
    }
    match trace.last() {
        Some(last) if last.status == Status::Final => Ok(()),
        _ => Err(Problem::new(format!("instance {wid} of manutencao has not ended"))),
    }
}

impl Example<'_> {
    fn tell(&mut self, text: String) {
        self.terminal.say(&text);
        self.steps.push(Json::String(text));
    }

    /// The door of a person.
    fn door(&self, name: &str) -> Door {
        door::of_store(self.store, self.tenant, name)
    }

    /// Plays all tasks; the messages to who is in charge.
    async fn play(&mut self) -> Result<Vec<Json>, Problem> {
        let order = self.claim("ana", "CriarOrdemServico", "select").await?;
        self.report("ana", order, json!({ "ordem_servico": ORDER })).await?;
        let visit = self.claim("beto", "VisitarCliente", "lock").await?;
        self.visit(visit).await?;
        self.program("gerar_ordem_pagamento", "ordem_pagamento = 'R$ 120,00'").await?;
        self.program("armazenar_debito_cliente", "debitos_clientes = 'Carla: R$ 120,00'").await?;
        let send = self.claim("caio", "EnviarOrdemPagamento", "select").await?;
        self.report("caio", send, json!({})).await?;
        let messages = self.door("ana").messages(10).await?;
        for message in messages.iter().rev().filter(|one| one["kind"] != "task_deadline") {
            let (sender, text) = (message["sender"].as_str(), message["text"].as_str());
            self.tell(format!("message to ana from {}: {}", sender.unwrap_or_default(), text.unwrap_or_default()));
        }
        Ok(messages)
    }

    /// Claims the instance's item of a task; its number.
    async fn claim(&mut self, name: &str, task: &str, act: &str) -> Result<i64, Problem> {
        let door = self.door(name);
        let list = door.worklist("arrival", 1_000).await?;
        let found = list.iter().find(|item| item["task"] == task && item["wid"] == self.wid.get());
        let item = found.and_then(|item| item["item"].as_i64());
        let item = item.ok_or_else(|| Problem::new(format!("{task} is not on the worklist of {name}")))?;
        door.work_act(item, act, None).await?;
        self.tell(format!("{name} {act}s {task} (item {item})"));
        Ok(item)
    }

    async fn report(&mut self, name: &str, item: i64, values: Json) -> Result<(), Problem> {
        let report =
            Report { success: true, values: values.as_object().cloned().unwrap_or_default(), ..Report::default() };
        let key = format!("demo-{item}");
        self.door(name).report(item, &report, &key).await?;
        self.tell(format!("{name} reports item {item}: SUCCEEDED"));
        Ok(())
    }

    /// Beto leaves with the item, works without a connection, and returns.
    async fn visit(&mut self, item: i64) -> Result<(), Problem> {
        let served = |error| Problem::new("the API cannot be served").because(error);
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let server = Server::start(self.store, &ServerSettings::at(address)).await.map_err(served)?;
        let link = self.link(&server).await?;
        let said = tokio::task::spawn_blocking(move || offline(&link, item)).await;
        server.stop().await;
        let said = said.map_err(|error| Problem::new("the visit ended early").because(error))??;
        for line in said {
            self.tell(line);
        }
        Ok(())
    }

    /// A user and a token for beto's machine.
    async fn link(&self, server: &Server) -> Result<Link, Problem> {
        let owner = self.door("operator");
        let user = NewUser { name: "beto".to_owned(), role: "participant".to_owned() };
        match owner.create_user(&user).await {
            // A second run finds the user.
            Err(error) if error.code().is_none() => return Err(error.into()),
            _ => {}
        }
        let new = NewToken {
            user: Some("beto".to_owned()),
            name: format!("demo-{:08x}", rand::random::<u32>()),
            scopes: vec!["write".to_owned()],
            flows: Vec::new(),
            days: Some(1),
        };
        let issued = owner.create_token(&new).await?;
        Ok(Link::new(&format!("http://{}", server.address()), &issued.secret))
    }

    /// Does an automatic task as a program with a Postgres connection does.
    async fn program(&mut self, transition: &str, clause: &str) -> Result<(), Problem> {
        let mut session = self.store.flow_session(self.tenant, FLOW).await?;
        let clause = format!("{clause}, {transition}_state = 'SUCCEEDED'");
        if !session.finish(self.wid, transition, &clause).await? {
            return Err(Problem::new(format!("{transition} of instance {} is not pending", self.wid)));
        }
        self.tell(format!("a program does {transition}"));
        Ok(())
    }
}

/// Leaves, works and returns; what is to be told of it.
fn offline(link: &Link, item: i64) -> Result<Vec<String>, Problem> {
    let folder = std::env::temp_dir().join(format!("wedflow-demo-{:016x}", rand::random::<u64>()));
    let cannot = |source| Problem::new(format!("{} cannot be used", folder.display())).because(source);
    std::fs::create_dir(&folder).map_err(cannot)?;
    let told = leave_and_return(link, item, &folder.join("work.db"));
    std::fs::remove_dir_all(&folder).map_err(cannot)?;
    told
}

fn leave_and_return(link: &Link, item: i64, path: &std::path::Path) -> Result<Vec<String>, Problem> {
    let mut store = LocalStore::open(path).map_err(away::problem)?;
    let leaving = Leaving { wait_seconds: 60.0, confirmed: true, accepted: false, path, quota_bytes: None };
    let mut said = Vec::new();
    disconnect(link, &mut store, &leaving, |step| {
        let bytes = if step.bytes > 0 { format!(", {}", crate::answer::bytes(step.bytes)) } else { String::new() };
        said.push(format!("  beto leaves, step {}: {}{bytes}", step.step, step.text));
    })
    .map_err(away::problem)?;
    let found = store.enabled(item).map_err(away::problem)?;
    let body = json!({ "success": true, "values": { "ordem_servico": VISIT }, "reason": null, "claim": found.claim });
    store.keep_result(&found, &body).map_err(away::problem)?;
    said.push(format!("beto does item {item} without a connection; its result is kept"));
    let returned = reconnect(link, &mut store).map_err(away::problem)?;
    said.push(format!(
        "beto returns: {} applied, {} refused",
        counted(returned.applied.len(), "result"),
        returned.refused.len()
    ));
    Ok(said)
}
