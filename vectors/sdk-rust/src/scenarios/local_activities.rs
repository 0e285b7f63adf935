use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use durable_workflow::{
    json, ActivityError, ActivityRetryPolicy, Error, LocalActivityOptions, ParallelOperation, Result, Value, Worker,
};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, payloads, ACTIVITY, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "local_activities",
    title: "activities run by the workflow worker: retried with heartbeats, failed, timed out, replayed",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

static CALLS: AtomicUsize = AtomicUsize::new(0);

fn program(worker: Worker, _: &str) -> Result<Worker> {
    let mut worker = worker.local_activities(true);
    worker.register_activity("transform", |ctx, args| async move {
        CALLS.fetch_add(1, Ordering::SeqCst);
        ctx.heartbeat(json!({"attempt": ctx.attempt_number})).await?;
        if ctx.attempt_number < args[0].as_u64().unwrap_or(1) {
            return Err(ActivityError::new("NotYet", "not yet").into());
        }
        ctx.heartbeat(json!({"attempt": ctx.attempt_number, "done": true})).await?;
        Ok(json!({"attempt": ctx.attempt_number, "run": ctx.run_id().is_some()}))
    });
    worker.register_activity("refuse", |_, _| async move {
        Err(ActivityError::new("Refused", "no").non_retryable(true).into())
    });
    worker.register_activity("hang", |_, _| async move { std::future::pending().await });
    worker.register_activity("echo", |_, args| async move { Ok(args) });
    worker.register_workflow("local", |ctx, _| async move {
        let second = Duration::from_secs(1);
        let retried = LocalActivityOptions::new()
            .retry_policy(ActivityRetryPolicy::new(3).backoff_intervals([second, Duration::ZERO]))
            .start_to_close_timeout(5 * second)
            .schedule_to_close_timeout(20 * second);
        let retried = ctx.local_activity_with_options("transform", retried, json!([3])).await?;
        let drawn = ctx.side_effect(|| 7)?;
        let refused = failure(ctx.local_activity("refuse", json!([])).await)?;
        ctx.sleep(second).await?;
        let remote = ctx.activity("echo", json!([retried, drawn])).await?;
        let hung = LocalActivityOptions::new().start_to_close_timeout(second);
        let hung = failure(ctx.local_activity_with_options("hang", hung, json!([])).await)?;
        let beside = ctx.parallel(vec![ParallelOperation::activity("echo", json!(["beside"]))]).await?.len();
        Ok(json!([remote, refused, hung, beside]))
    });
    Ok(worker)
}

fn failure(result: Result<Value>) -> Result<Value> {
    match result {
        Err(Error::ActivityFailed(failure)) => Ok(json!([failure.reason, failure.message, failure.timeout_kind])),
        other => other,
    }
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let handle = scenario.start("local", json!([])).await?;
    let result = scenario.result(&handle).await?;
    let wanted = json!([
        [{"attempt": 3, "run": true}, 7], ["activity", "no", null],
        ["start_to_close", "local activity exceeded start_to_close timeout", "start_to_close"], 1,
    ]);
    ensure_eq!(result, wanted);
    worker.stop().await?;
    ensure_eq!(CALLS.load(Ordering::SeqCst), 3);

    let events = scenario.replayed(&handle, json!([])).await?;
    let failed: &[&str] = &["ActivityStarted", "ActivityHeartbeatRecorded", "ActivityRetryScheduled"];
    let done: &[&str] =
        &["ActivityStarted", "ActivityHeartbeatRecorded", "ActivityHeartbeatRecorded", "ActivityCompleted"];
    check_kinds(
        &events,
        &[
            START,
            &["ActivityScheduled"],
            failed,
            failed,
            done,
            &["SideEffectRecorded"],
            &["ActivityScheduled", "ActivityStarted", "ActivityFailed", "TimerScheduled", "TimerFired"],
            ACTIVITY,
            &["ActivityScheduled", "ActivityStarted", "ActivityTimedOut"],
            ACTIVITY,
            &["WorkflowCompleted"],
        ],
    )?;
    let local: Vec<_> =
        payloads(&events, "ActivityScheduled").iter().map(|payload| payload["local_activity"] == json!(true)).collect();
    ensure_eq!(local, [true, true, false, true, false]);
    ensure_eq!(members(&events, "ActivityRetryScheduled", "retry_backoff_seconds"), [json!(1), json!(0)]);
    ensure_eq!(members(&events, "ActivityTimedOut", "timeout_kind"), [json!("start_to_close")]);
    Ok(())
}
