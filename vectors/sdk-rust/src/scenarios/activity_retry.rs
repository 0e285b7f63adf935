use std::sync::Mutex;
use std::time::{Duration, Instant};

use durable_workflow::{
    json, ActivityAttemptLimit, ActivityError, ActivityOptions, ActivityRetryPolicy, Result, Worker,
};

use super::Entry;
use crate::harness::history::{check_kinds, members, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "activity_retry",
    title: "two attempts fail, the third succeeds, with the backoff in between",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

static ATTEMPTS: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("flaky", |ctx, _| async move {
        ATTEMPTS.lock().unwrap().push(Instant::now());
        let info = ctx.retry_info();
        if info.is_last_configured_attempt() != Some(true) {
            return Err(ActivityError::new("NotYet", format!("attempt {} failed", ctx.attempt_number)).into());
        }
        Ok(json!([ctx.attempt_number, info.attempt_limit() == ActivityAttemptLimit::Bounded(3)]))
    });
    worker.register_workflow("activity-retry", |ctx, _| async move {
        let intervals = [1, 2, 4].map(Duration::from_secs);
        let policy = ActivityRetryPolicy::new(3).backoff_intervals(intervals).non_retryable_error_type("Never");
        let options = ActivityOptions::new().retry_policy(policy).start_to_close_timeout(Duration::from_secs(20));
        ctx.activity_with_options("flaky", options, json!([])).await
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let handle = scenario.start("activity-retry", json!([])).await?;
    ensure_eq!(scenario.result(&handle).await?, json!([3, true]));
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([])).await?;
    let failed = &["ActivityStarted", "ActivityRetryScheduled"];
    let done = &["ActivityStarted", "ActivityCompleted", "WorkflowCompleted"];
    check_kinds(&events, &[START, &["ActivityScheduled"], failed, failed, done])?;
    ensure_eq!(members(&events, "ActivityRetryScheduled", "retry_backoff_seconds"), [json!(1), json!(2)]);
    ensure_eq!(members(&events, "ActivityRetryScheduled", "exception_type"), [json!("NotYet"), json!("NotYet")]);
    ensure_eq!(members(&events, "ActivityStarted", "attempt_number"), [json!(1), json!(2), json!(3)]);
    let at = ATTEMPTS.lock().unwrap().clone();
    let waits: Vec<_> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    ensure!(
        waits[0] >= Duration::from_secs(1) && waits[1] >= Duration::from_secs(2),
        "the attempts came after {waits:?}"
    );
    Ok(())
}
