use durable_workflow::{json, Error, Result, Worker};

use super::Entry;
use crate::ensure;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, APPLIED, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "repeats",
    title: "a second start of one id, signals sent twice with one request id, signals that nobody declared",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_workflow("repeats", |ctx, _| async move { Ok(json!(ctx.wait_signal("go").await?)) });
    worker.declare_workflow_signals("repeats", &["go"])?;
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let handle = scenario.start("repeats", json!([])).await?;
    scenario.history(&handle).until_count("SignalWaitOpened", 1).await?;
    let again = scenario.client.start_workflow("repeats", &scenario.queue, &handle.workflow_id, json!([])).await;
    ensure!(status(&again.map(|_| ())) == Some(409), "a second start was not refused");
    let unknown = handle.signal("come", json!([])).await;
    ensure!(status(&unknown.map(|_| ())) == Some(404), "an undeclared signal was not refused");

    let first = handle.signal_with_request_id("go", json!([1]), "the-one").await?;
    let second = handle.signal_with_request_id("go", json!([1]), "the-one").await?;
    ensure_eq!(first["command_id"], second["command_id"]);
    let conflict = handle.signal_with_request_id("go", json!([2]), "the-one").await;
    ensure!(conflict.as_ref().is_err_and(Error::is_request_id_conflict), "{conflict:?}");
    ensure_eq!(scenario.result(&handle).await?, json!([1]));
    let third = handle.signal_with_request_id("go", json!([1]), "the-one").await?;
    ensure_eq!(first["command_id"], third["command_id"]);
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([])).await?;
    check_kinds(&events, &[START, &["SignalWaitOpened", "SignalReceived"], APPLIED, &["WorkflowCompleted"]])
}

/// The HTTP status of a refusal.
fn status(result: &Result<()>) -> Option<u16> {
    match result {
        Err(Error::Http { status, .. }) => Some(status.as_u16()),
        _ => None,
    }
}
