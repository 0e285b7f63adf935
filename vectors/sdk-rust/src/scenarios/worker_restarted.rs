use std::time::Duration;

use durable_workflow::{json, ActivityOptions, ActivityRetryPolicy, Result, Worker};

use super::Entry;
use crate::ensure;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::{worker, Check};

pub const ENTRY: Entry = Entry {
    name: "worker_restarted",
    title: "a worker stopped in the middle, then one killed with an activity in hand; others go on",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, variant: &str) -> Result<Worker> {
    let forever = variant == "forever";
    worker.register_activity("step", move |_, args| async move {
        if forever && args[0] == json!(2) {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_millis(600)).await;
        Ok(json!(args[0].as_i64().unwrap_or(0) + 1))
    });
    worker.register_workflow("restarted", |ctx, _| async move {
        let policy = ActivityRetryPolicy::new(3).backoff_intervals([Duration::ZERO]);
        let options = ActivityOptions::new().retry_policy(policy).heartbeat_timeout(Duration::from_secs(2));
        let mut number = json!(0);
        for _ in 0..4 {
            number = ctx.activity_with_options("step", options.clone(), json!([number])).await?;
        }
        Ok(number)
    });
    // One task of each kind at a time: a worker that stops still takes what its held polls bring.
    Ok(worker.max_concurrent_workflow_tasks(1).max_concurrent_activity_tasks(1))
}

async fn run(scenario: &Scenario) -> Check {
    let mut first = scenario.process("first", "default")?;
    let handle = scenario.start("restarted", json!([])).await?;
    scenario.history(&handle).until_count("ActivityStarted", 1).await?;
    let status = worker::terminate(&mut first).await?; // it finishes what it has in hand
    ensure!(status.success(), "the first worker ended with {status}");
    check_kinds(&scenario.history(&handle).read().await?[..5], &[START, ACTIVITY])?;

    let mut second = scenario.process("second", "forever")?;
    scenario.history(&handle).until_count("ActivityStarted", 3).await?;
    second.kill().await?;
    // Its successor has the same id: its registration says that the attempt is lost, before any timeout does.
    let mut third = scenario.process("second", "default")?;
    ensure_eq!(scenario.result(&handle).await?, json!(4));
    let status = worker::terminate(&mut third).await?;
    ensure!(status.success(), "the third worker ended with {status}");

    let events = scenario.replayed(&handle, json!([])).await?;
    let lost: &[&str] = &["ActivityScheduled", "ActivityStarted", "ActivityRetryScheduled"];
    let again: &[&str] = &["ActivityStarted", "ActivityCompleted"];
    check_kinds(&events, &[START, ACTIVITY, ACTIVITY, lost, again, ACTIVITY, &["WorkflowCompleted"]])
}
