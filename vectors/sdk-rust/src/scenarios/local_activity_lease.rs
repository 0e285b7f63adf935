use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use durable_workflow::{json, Error, Result, Worker, WorkflowCommandOptions};

use super::Entry;
use crate::ensure;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, START};
use crate::harness::scenario::Scenario;
use crate::harness::{worker, Check};

pub const ENTRY: Entry = Entry {
    name: "local_activity_lease",
    title: "a local activity longer than the lease, one whose run is cancelled, one whose worker is killed",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

static CALLS: AtomicUsize = AtomicUsize::new(0);

fn program(worker: Worker, _: &str) -> Result<Worker> {
    let mut worker = worker.local_activities(true);
    worker.register_activity("take-time", |_, args| async move {
        CALLS.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(args[0].as_u64().unwrap_or(0))).await;
        Ok(json!("took it"))
    });
    worker.register_workflow("local-lease", |ctx, args| async move { ctx.local_activity("take-time", args).await });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let long = scenario.start("local-lease", json!([7])).await?;
    let cancelled = scenario.start("local-lease", json!([60])).await?;
    scenario.eventually("both activities run", || CALLS.load(Ordering::SeqCst) == 2).await?;
    cancelled.cancel(WorkflowCommandOptions::new()).await?;
    let ended = scenario.result(&cancelled).await;
    ensure!(matches!(ended, Err(Error::WorkflowCancelled(_))), "{ended:?}");
    ensure_eq!(scenario.result(&long).await?, json!("took it"));
    worker.stop().await?;
    // The lease is 5 s: without its renewals the task would have been served and run again.
    ensure_eq!(CALLS.load(Ordering::SeqCst), 2);
    let recorded: &[&str] = &["ActivityScheduled", "ActivityStarted", "ActivityCompleted", "WorkflowCompleted"];
    check_kinds(&scenario.replayed(&long, json!([7])).await?, &[START, recorded])?;
    check_kinds(&scenario.history(&cancelled).read().await?, &[START, &["CancelRequested", "WorkflowCancelled"]])?;
    killed(scenario, recorded).await
}

/// Nothing of a local activity is recorded before its completion: the next worker runs it again.
async fn killed(scenario: &Scenario, recorded: &[&str]) -> Check {
    let mut first = scenario.process("first", "default")?;
    let handle = scenario.start("local-lease", json!([3])).await?;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    first.kill().await?;
    let mut second = scenario.process("second", "default")?;
    ensure_eq!(scenario.result(&handle).await?, json!("took it"));
    let status = worker::terminate(&mut second).await?;
    ensure!(status.success(), "the worker ended with {status}");
    check_kinds(&scenario.replayed(&handle, json!([3])).await?, &[START, recorded])
}
