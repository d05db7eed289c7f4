//! The worked example, as printed, from the source to the end of an instance.

use super::{applied, flow_command, manutencao};
use crate::support::Database;
use crate::support::program::{run, wed};

#[harness::test]
fn example_runs_to_its_end_by_sql_workers() {
    let flow = applied(&manutencao(), "manutencao");
    let mut s = flow.session();
    let wid = s.number("INSERT INTO wed_flow (ordem_servico) VALUES ('ordem') RETURNING wid");
    assert_eq!(s.pending(wid), ["criar_ordem_servico"]);
    s.finish(wid, "criar_ordem_servico", "ordem_servico = 'ordem: ana', criar_ordem_servico_state = 'SUCCEEDED'");
    assert_eq!(s.pending(wid), ["visitar_cliente"]);
    s.finish(wid, "visitar_cliente", "ordem_servico = ordem_servico || ', tubo', visitar_cliente_state = 'SUCCEEDED'");
    assert_eq!(s.pending(wid), ["gerar_ordem_pagamento"]);
    s.finish(wid, "gerar_ordem_pagamento", "ordem_pagamento = 'R$ 10', gerar_ordem_pagamento_state = 'SUCCEEDED'");
    assert_eq!(s.pending(wid), ["armazenar_debito_cliente", "enviar_ordem_pagamento"]);
    s.finish(wid, "enviar_ordem_pagamento", "enviar_ordem_pagamento_state = 'SUCCEEDED'");
    assert_eq!(s.status(wid), "R");
    s.finish(wid, "armazenar_debito_cliente", "debitos_clientes = '10', armazenar_debito_cliente_state = 'SUCCEEDED'");
    assert_eq!(s.status(wid), "F");
    assert_eq!(
        s.line(&format!("SELECT ordem_servico, ordem_pagamento, debitos_clientes FROM wed_flow WHERE wid = {wid}")),
        "ordem: ana, tubo|R$ 10|10"
    );
}

#[harness::test]
fn example_is_applied_with_warnings_for_the_missing_models() {
    let database = Database::new();
    let answer = flow_command(&database, "apply", &manutencao(), &["--creator-role", "Gerente"]).done().json();
    let warnings: Vec<&str> = answer["warnings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["message"].as_str())
        .filter(|message| message.contains("needs to be supplied"))
        .collect();
    assert_eq!(warnings.len(), 2, "{answer:#}");
    assert_eq!(answer["flows"][0]["flow"], "manutencao");
    let mut owner = database.owner();
    assert_eq!(
        owner.lines("SELECT task, kind FROM wed.work_task ORDER BY task"),
        ["CriarOrdemServico|semi_automatic", "EnviarOrdemPagamento|manual", "VisitarCliente|semi_automatic"]
    );
    assert_eq!(
        owner.line("SELECT r.name FROM wed.work_plan JOIN wed.role_of_people r ON role_id = creator_role"),
        "Gerente"
    );
    // Again: nothing changes.
    let again = flow_command(&database, "apply", &manutencao(), &[]).done().json();
    assert_eq!(again["flows"][0]["applied"]["triggers_changed"], serde_json::json!([]));
}

#[harness::test]
fn example_runs_to_its_end_by_people() {
    let flow = applied(&manutencao(), "manutencao");
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    for (name, role) in [("ana", "Atendente"), ("beto", "Tecnico"), ("caio", "Office_boy")] {
        owner.run(&format!("SELECT wed.create_person('default', '{name}', '{{{role}}}')"));
        owner.run(&format!("SELECT wed.connect_person('default', '{name}')"));
    }
    let wid = owner.number("SELECT wed.start_process('default', 'manutencao', 'ana', 'ana')");
    let report = |owner: &mut crate::support::Session, name: &str, claim: &str, values: &str| {
        let item = owner.number("SELECT item_id FROM wed.work_item WHERE ended_at IS NULL ORDER BY item_id LIMIT 1");
        owner.run(&format!("SELECT wed.{claim}_work('default', '{name}', {item})"));
        owner.run(&format!("SELECT wed.report_work('default', '{name}', {item}, true, '{values}', 'k{item}')"));
    };
    report(&mut owner, "ana", "select", "{\"ordem_servico\": \"ana\"}");
    report(&mut owner, "beto", "lock", "{\"ordem_servico\": \"ana, tubo\"}");
    s.finish(wid, "gerar_ordem_pagamento", "ordem_pagamento = 'R$ 10', gerar_ordem_pagamento_state = 'SUCCEEDED'");
    report(&mut owner, "caio", "select", "{}");
    s.finish(wid, "armazenar_debito_cliente", "armazenar_debito_cliente_state = 'SUCCEEDED'");
    assert_eq!(s.status(wid), "F");
    assert_eq!(owner.line("SELECT sender FROM wed.work_message WHERE kind = 'process_ended'"), "Manutencao_001");
}

#[harness::test]
fn demo_runs_to_its_end_with_three_people_one_of_whom_is_away() {
    let database = Database::new();
    // Twice: its people and its user are there already then.
    for wid in 1..=2 {
        let demo = run(wed(&database.url()).args(["--json", "demo", "manutencao"])).done().json();
        assert_eq!(demo["wid"], wid);
        let trace = demo["trace"].as_array().expect("a trace");
        let steps = trace.iter().filter_map(|row| row["transition"].as_str());
        let steps: Vec<&str> = steps.collect();
        assert_eq!(
            steps,
            [
                "criar_ordem_servico",
                "visitar_cliente",
                "gerar_ordem_pagamento",
                "armazenar_debito_cliente",
                "enviar_ordem_pagamento"
            ]
        );
        assert_eq!(trace.last().expect("a row")["status"], "final");
        let told = demo["steps"].to_string();
        for part in [
            "beto locks VisitarCliente",
            "step 11",
            "without a connection",
            "beto returns: 1 result applied",
            "message to ana from Manutencao_001: The process has ended",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }
}

#[harness::test]
fn tasks_set_only_their_outputs() {
    let flow = applied(&manutencao(), "manutencao");
    let mut s = flow.session();
    let wid = s.start();
    s.finish_refused(wid, "criar_ordem_servico", "debitos_clientes = 'x', criar_ordem_servico_state = 'SUCCEEDED'")
        .expect("WF010");
    s.finish_refused(wid, "criar_ordem_servico", "criar_ordem_servico_state = 'DONE'").expect("23514");
}
