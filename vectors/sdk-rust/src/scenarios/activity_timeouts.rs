use std::time::Duration;

use durable_workflow::{json, ActivityFailureKind, ActivityOptions, ActivityRetryPolicy, Error, Result, Value, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, members, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "activity_timeouts",
    title: "all four activity timeouts, retried and final; a late result does not end the worker",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("fall-silent", |ctx, _| async move {
        if ctx.attempt_number == 1 {
            tokio::time::sleep(Duration::from_millis(2500)).await;
        }
        Ok(json!(ctx.attempt_number))
    });
    worker.register_workflow("activity-timeouts", |ctx, args| async move {
        let second = Duration::from_secs(1);
        let policy = ActivityRetryPolicy::new(args[1].as_u64().unwrap_or(1) as u32);
        let options = ActivityOptions::new().retry_policy(policy);
        let options = match args[0].as_str() {
            Some("start_to_close") => options.start_to_close_timeout(second),
            Some("heartbeat") => options.heartbeat_timeout(second),
            Some("schedule_to_close") => options.schedule_to_close_timeout(second),
            _ => options.schedule_to_start_timeout(second).task_queue("nobody-polls-this"),
        };
        let answer = match ctx.activity_with_options("fall-silent", options, json!([])).await {
            Err(Error::ActivityFailed(failure)) if failure.kind == ActivityFailureKind::TimedOut => {
                json!(failure.timeout_kind)
            }
            other => other?,
        };
        // Outlive the silent attempt, so that its late result meets an open run.
        ctx.sleep(Duration::from_secs(3)).await?;
        Ok(answer)
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let cases = [
        (json!(["start_to_close", 1]), json!("start_to_close"), true),
        (json!(["start_to_close", 2]), json!(2), true),
        (json!(["heartbeat", 1]), json!("heartbeat"), true),
        (json!(["heartbeat", 2]), json!(2), true),
        (json!(["schedule_to_close", 3]), json!("schedule_to_close"), true),
        (json!(["schedule_to_start", 1]), json!("schedule_to_start"), false),
    ];
    let mut started = Vec::new();
    for case in &cases {
        started.push(scenario.start("activity-timeouts", case.0.clone()).await?);
    }
    for ((input, wanted, claimed), handle) in cases.iter().zip(&started) {
        ensure_eq!(scenario.result(handle).await?, *wanted);
        check(scenario, handle, input, *claimed).await?;
    }
    worker.stop().await
}

async fn check(scenario: &Scenario, handle: &durable_workflow::WorkflowHandle, input: &Value, claimed: bool) -> Check {
    let events = scenario.replayed(handle, input.clone()).await?;
    let end: &[&str] = &["TimerScheduled", "TimerFired", "WorkflowCompleted"];
    let started: &[&str] = if claimed { &["ActivityStarted"] } else { &[] };
    let (outcome, rest): (&str, &[&str]) = match input[1] == json!(2) {
        true => ("ActivityRetryScheduled", &["ActivityRetryScheduled", "ActivityStarted", "ActivityCompleted"]),
        false => ("ActivityTimedOut", &["ActivityTimedOut"]),
    };
    check_kinds(&events, &[START, &["ActivityScheduled"], started, rest, end])?;
    ensure_eq!(members(&events, outcome, "timeout_kind"), [input[0].clone()]);
    Ok(())
}
