use std::path::Path;
use std::time::Duration;

use durable_workflow::{json, ActivityOptions, ActivityRetryPolicy, ParallelOperation, ParallelResult, Result, Worker};
use tokio::process::Child;

use super::Entry;
use crate::harness::history::{check_kinds, check_outcomes_once, members, START};
use crate::harness::scenario::Scenario;
use crate::harness::{worker, Check};
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "two_workers",
    title: "two workers on one queue share the work; one is killed with an activity in hand",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("who", |_, _| async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        Ok(json!(std::process::id()))
    });
    worker.register_activity("announce", |_, args| async move {
        // The first to come leaves its process id and never returns; the next one answers with its own.
        let path = args[0].as_str().unwrap_or_default();
        if tokio::fs::OpenOptions::new().create_new(true).write(true).open(path).await.is_ok() {
            let _ = tokio::fs::write(path, std::process::id().to_string()).await;
            std::future::pending::<()>().await;
        }
        Ok(json!(std::process::id()))
    });
    worker.register_workflow("shared", |ctx, args| async move {
        let members = (0..args[0].as_u64().unwrap_or(0)).map(|_| ParallelOperation::activity("who", json!([])));
        let who = ctx.parallel(members.collect()).await?.into_iter().filter_map(|result| match result {
            ParallelResult::Activity(value) => Some(value),
            _ => None,
        });
        Ok(who.collect())
    });
    worker.register_workflow("in-hand", |ctx, args| async move {
        let policy = ActivityRetryPolicy::new(3).backoff_intervals([Duration::ZERO]);
        let options = ActivityOptions::new().retry_policy(policy).heartbeat_timeout(Duration::from_secs(2));
        ctx.activity_with_options("announce", options, args).await
    });
    Ok(worker.max_concurrent_activity_tasks(3))
}

async fn run(scenario: &Scenario) -> Check {
    let mut workers = vec![scenario.process("one", "default")?, scenario.process("two", "default")?];
    let handle = scenario.start("shared", json!([24])).await?;
    let mut who: Vec<u64> = serde_json::from_value(scenario.result(&handle).await?)?;
    ensure_eq!(who.len(), 24);
    who.sort_unstable();
    who.dedup();
    let mut ids: Vec<u64> = workers.iter().filter_map(Child::id).map(u64::from).collect();
    ids.sort_unstable();
    ensure_eq!(who, ids);
    check_outcomes_once(&scenario.replayed(&handle, json!([24])).await?)?;

    killed(scenario, &mut workers).await?;
    for mut process in workers {
        let status = worker::terminate(&mut process).await?;
        ensure!(status.success(), "a worker ended with {status}");
    }
    Ok(())
}

async fn killed(scenario: &Scenario, workers: &mut Vec<Child>) -> Check {
    let path = scenario.directory.join(&scenario.queue);
    let input = json!([path.to_str()]);
    let handle = scenario.start("in-hand", input.clone()).await?;
    scenario.eventually("a worker has the activity", || claimant(&path).is_some()).await?;
    let victim = workers.iter().position(|process| process.id() == claimant(&path)).ok_or("a stranger has it")?;
    workers.remove(victim).kill().await?;
    ensure_eq!(scenario.result(&handle).await?, json!(workers[0].id()));

    let events = scenario.replayed(&handle, input).await?;
    let lost: &[&str] = &["ActivityScheduled", "ActivityStarted", "ActivityRetryScheduled"];
    check_kinds(&events, &[START, lost, &["ActivityStarted", "ActivityCompleted", "WorkflowCompleted"]])?;
    ensure_eq!(members(&events, "ActivityRetryScheduled", "timeout_kind"), [json!("heartbeat")]);
    Ok(())
}

fn claimant(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.parse().ok()
}
