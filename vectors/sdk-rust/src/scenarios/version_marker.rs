use durable_workflow::{json, Result, Worker};

use super::Entry;
use crate::ensure;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::{worker, Check};

pub const ENTRY: Entry = Entry {
    name: "version_marker",
    title: "version markers that hold a run to its old branch over a worker restart with new code",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

// The old worker serves no activity: its run is still open when the new code takes over.
fn program(mut worker: Worker, variant: &str) -> Result<Worker> {
    if variant == "before" {
        worker.register_workflow("versioned", |ctx, _| async move {
            ctx.get_version("currency", 1, 1)?;
            ctx.activity("price", json!(["EUR"])).await
        });
        return Ok(worker);
    }
    worker.register_activity(
        "price",
        |_, args| async move { Ok(json!(format!("10 {}", args[0].as_str().unwrap_or("?")))) },
    );
    worker.register_workflow("versioned", |ctx, _| async move {
        let version = ctx.get_version("currency", 1, 2)?;
        let currency = if version == 1 { "EUR" } else { "USD" };
        let answer = ctx.activity("price", json!([currency])).await?;
        Ok(json!([answer, version, ctx.patched("rounding")?]))
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let mut before = scenario.process("before", "before")?;
    let old = scenario.start("versioned", json!([])).await?;
    scenario.history(&old).until_count("ActivityScheduled", 1).await?;
    before.kill().await?;

    let mut after = scenario.process("after", "default")?;
    ensure_eq!(scenario.result(&old).await?, json!(["10 EUR", 1, true]));
    let new = scenario.start("versioned", json!([])).await?;
    ensure_eq!(scenario.result(&new).await?, json!(["10 USD", 2, true]));
    let status = worker::terminate(&mut after).await?;
    ensure!(status.success(), "the worker ended with {status}");

    for (handle, version) in [(old, 1), (new, 2)] {
        let events = scenario.replayed(&handle, json!([])).await?;
        let marker: &[&str] = &["VersionMarkerRecorded"];
        check_kinds(&events, &[START, marker, ACTIVITY, marker, &["WorkflowCompleted"]])?;
        ensure_eq!(members(&events, "VersionMarkerRecorded", "version"), [json!(version), json!(1)]);
    }
    Ok(())
}
