use std::sync::atomic::{AtomicUsize, Ordering};

use durable_workflow::{json, Result, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "side_effect",
    title: "side effects: run once, read from history ever after",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

static DRAWN: AtomicUsize = AtomicUsize::new(0);

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("echo", |_, args| async move { Ok(args[0].clone()) });
    worker.register_workflow("side-effect", |ctx, _| async move {
        let drawn = ctx.side_effect(|| DRAWN.fetch_add(1, Ordering::SeqCst) + 40)?;
        let id = ctx.uuid_v4()?.to_string();
        let echoed = ctx.activity("echo", json!([id])).await?;
        Ok(json!([drawn, echoed == json!(id)]))
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let handle = scenario.start("side-effect", json!([])).await?;
    ensure_eq!(scenario.result(&handle).await?, json!([40, true]));
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([])).await?;
    ensure_eq!(DRAWN.load(Ordering::SeqCst), 1);
    check_kinds(&events, &[START, &["SideEffectRecorded"; 2], ACTIVITY, &["WorkflowCompleted"]])
}
