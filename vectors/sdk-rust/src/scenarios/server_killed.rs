use std::time::Duration;

use durable_workflow::{json, ActivityOptions, ActivityRetryPolicy, Result, Worker};

use super::Entry;
use crate::harness::history::{check_kinds, check_outcomes_once, count, START};
use crate::harness::scenario::Scenario;
use crate::harness::{worker, Check};
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "server_killed",
    title: "the server killed with SIGKILL in the middle of runs and started again, twice",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

const RUNS: usize = 8;
const STEPS: usize = 5;

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("step", |_, args| async move {
        tokio::time::sleep(Duration::from_millis(150)).await;
        Ok(json!(args[0].as_u64().unwrap_or(0) + 1))
    });
    worker.register_workflow("server-killed", |ctx, _| async move {
        // A result that is reported to a dead server is lost with it; the attempt's own timeout brings the next one.
        let policy = ActivityRetryPolicy::new(10).backoff_intervals([Duration::ZERO]);
        let options = ActivityOptions::new().retry_policy(policy).start_to_close_timeout(Duration::from_secs(3));
        let mut number = json!(0);
        for _ in 0..STEPS {
            number = ctx.activity_with_options("step", options.clone(), json!([number])).await?;
        }
        ctx.sleep(Duration::from_secs(1)).await?;
        Ok(number)
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let mut worker = scenario.process("worker", "default")?;
    let mut handles = Vec::new();
    for _ in 0..RUNS {
        handles.push(scenario.start("server-killed", json!([])).await?);
    }
    for completed in [1, 3] {
        scenario.history(&handles[RUNS - 1]).until_count("ActivityCompleted", completed).await?;
        let mut server = scenario.server.lock().await;
        server.kill().await?;
        server.start().await?;
    }
    for handle in &handles {
        ensure_eq!(scenario.result(handle).await?, json!(STEPS));
    }
    let status = worker::terminate(&mut worker).await?;
    ensure!(status.success(), "the worker ended with {status}");
    for handle in &handles {
        check(scenario, handle).await?;
    }
    Ok(())
}

/// Attempts may have been lost with the server; every step has one beginning and one end, in order.
async fn check(scenario: &Scenario, handle: &durable_workflow::WorkflowHandle) -> Check {
    let events = scenario.replayed(handle, json!([])).await?;
    check_outcomes_once(&events)?;
    let lost = ["ActivityStarted", "ActivityRetryScheduled"];
    let kept: Vec<_> = events.iter().filter(|event| !lost.contains(&event.kind.as_str())).cloned().collect();
    let steps = ["ActivityScheduled", "ActivityCompleted"].repeat(STEPS);
    check_kinds(&kept, &[START, &steps, &["TimerScheduled", "TimerFired", "WorkflowCompleted"]])?;
    ensure_eq!(count(&events, "ActivityStarted"), STEPS + count(&events, "ActivityRetryScheduled"));
    Ok(())
}
