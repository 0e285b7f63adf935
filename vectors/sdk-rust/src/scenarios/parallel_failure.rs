use std::time::Duration;

use durable_workflow::{json, ActivityError, Error, ParallelOperation, Result, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, check_outcomes_once, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "parallel_failure",
    title: "one member of a group fails long before the others end: the workflow goes on at once",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("pack", |_, args| async move {
        tokio::time::sleep(Duration::from_millis(args[1].as_u64().unwrap_or(0))).await;
        match args[0].as_str() {
            Some("the glass") => Err(ActivityError::new("Broken", "the glass broke").into()),
            _ => Ok(args[0].clone()),
        }
    });
    worker.register_workflow("parallel-failure", |ctx, args| async move {
        let pack = |what: &str, milliseconds: u64| ParallelOperation::activity("pack", json!([what, milliseconds]));
        let group = ctx.parallel(vec![pack("the books", 800), pack("the glass", 0), pack("the table", 1500)]);
        let Err(Error::ParallelFailed(failure)) = group.await else {
            return Ok(json!("nothing broke"));
        };
        let packed = ctx.activity("pack", json!(["the shards", 0])).await?;
        if args[0] == json!("wait") {
            ctx.sleep(Duration::from_secs(3)).await?;
        }
        Ok(json!([failure.member_path, packed]))
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let wanted = json!([[1], "the shards"]);
    let stays = scenario.start("parallel-failure", json!(["wait"])).await?;
    let leaves = scenario.start("parallel-failure", json!(["leave"])).await?;
    ensure_eq!(scenario.result(&leaves).await?, wanted);
    ensure_eq!(scenario.result(&stays).await?, wanted);
    worker.stop().await?;

    // The last of the three starts may come after the failure; what matters is what follows it.
    let events = scenario.replayed(&stays, json!(["wait"])).await?;
    let failed = events.iter().position(|event| event.kind == "ActivityFailed").ok_or("no ActivityFailed")?;
    let after: Vec<_> = events[failed + 1..].iter().filter(|event| event.kind != "ActivityStarted").cloned().collect();
    let shards = &["ActivityScheduled", "ActivityCompleted", "TimerScheduled"];
    check_kinds(&after, &[shards, &["ActivityCompleted", "ActivityCompleted", "TimerFired", "WorkflowCompleted"]])?;
    check_outcomes_once(&events)?;

    let events = scenario.history(&leaves).read().await?;
    let scheduled = &["ActivityScheduled"; 3];
    let kept: Vec<_> = events.iter().filter(|event| event.kind != "ActivityStarted").cloned().collect();
    let settled =
        &["ActivityFailed", "ActivityScheduled", "ActivityCompleted", "ActivityCancelled", "ActivityCancelled"];
    check_kinds(&kept, &[START, scheduled, settled, &["WorkflowCompleted"]])
}
