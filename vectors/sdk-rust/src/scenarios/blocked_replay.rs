use durable_workflow::{json, Result, Worker};

use super::Entry;
use crate::harness::history::{check_kinds, APPLIED, START};
use crate::harness::scenario::Scenario;
use crate::harness::{worker, Check};
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "blocked_replay",
    title: "new code that does not fit the history blocks the run, the old code takes it up again",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, variant: &str) -> Result<Worker> {
    let first = if variant == "changed" { "other" } else { "go" };
    worker.register_workflow("blocked", move |ctx, _| async move {
        let one = ctx.wait_signal(first).await?;
        let two = ctx.wait_signal("go").await?;
        Ok(json!([one, two]))
    });
    worker.declare_workflow_signals("blocked", &["go", "other"])?;
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let mut before = scenario.process("before", "default")?;
    let handle = scenario.start("blocked", json!([])).await?;
    scenario.history(&handle).until_count("SignalWaitOpened", 1).await?;
    ensure!(worker::terminate(&mut before).await?.success(), "the worker did not stop");

    let mut changed = scenario.process("changed", "changed")?;
    handle.signal("go", json!([1])).await?;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await; // it is served, and not served again
    ensure_eq!(changed.try_wait()?.map(|status| status.to_string()), None);
    ensure_eq!(handle.describe().await?.status.as_deref(), Some("waiting"));
    ensure!(worker::terminate(&mut changed).await?.success(), "the worker did not stop");

    let mut after = scenario.process("after", "default")?;
    handle.signal("go", json!([2])).await?;
    ensure_eq!(scenario.result(&handle).await?, json!([[1], [2]]));
    ensure!(worker::terminate(&mut after).await?.success(), "the worker did not stop");

    let events = scenario.replayed(&handle, json!([])).await?;
    let (opened, received) = (&["SignalWaitOpened"], &["SignalReceived"]);
    check_kinds(&events, &[START, opened, received, received, APPLIED, opened, APPLIED, &["WorkflowCompleted"]])
}
