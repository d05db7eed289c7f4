//! The recipes, each played to its end by its own script, as a reader plays it.

use crate::support::program::{run, wed_path};
use crate::support::{Database, repository};

/// Plays a recipe on a database of its own.
#[track_caller]
fn play(name: &str) {
    let database = Database::new();
    let home = tempfile::tempdir().expect("a folder");
    let mut script = std::process::Command::new(repository("recipes").join(name).join("run.sh"));
    script
        .env("WED", wed_path())
        .env("DATABASE_URL", database.url())
        .env("WEDFLOW_HOME", home.path())
        .env_remove("WEDFLOW_TENANT")
        .current_dir(home.path());
    run(&mut script).done();
}

#[harness::test]
fn an_order_is_undone_in_reverse() {
    play("order-compensation");
}

#[harness::test]
fn stock_is_reserved_before_it_is_packed() {
    play("stock-reservations");
}

#[harness::test]
fn missed_nights_are_imported_ten_at_a_time() {
    play("nightly-import");
}

#[harness::test]
fn leave_is_granted_by_a_manager_and_noted_by_the_office() {
    play("leave-request");
}

#[harness::test]
fn an_incident_that_nobody_acknowledges_is_escalated() {
    play("incident-escalation");
}

#[harness::test]
fn a_receiver_checks_who_sent_a_message() {
    play("webhook-signature");
}

#[harness::test]
fn a_loan_is_granted_by_two_people() {
    play("loan-four-eyes");
}

#[harness::test]
fn an_approval_without_a_connection_is_sent_on_return() {
    play("approval-on-the-road");
}

#[harness::test]
fn a_customers_step_runs_within_limits() {
    play("customers-step");
}

#[harness::test]
fn a_model_is_called_again_within_a_budget() {
    play("model-call");
}

#[harness::test]
fn an_invoice_is_approved_by_whom_a_table_names() {
    play("invoice-approval");
}

#[harness::test]
fn a_vacation_comes_back_to_its_employee() {
    play("vacation-request");
}

#[harness::test]
fn voters_vote_at_the_same_time() {
    play("parallel-vote");
}
