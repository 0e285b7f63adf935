use std::time::Duration;

use durable_workflow::{json, ActivityOptions, Result, Worker};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_kinds, payloads, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "activity_heartbeat",
    title: "heartbeats that keep an attempt alive past its heartbeat timeout",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("report-progress", |ctx, args| async move {
        let steps = args[0].as_u64().unwrap_or(0);
        for step in 1..=steps {
            tokio::time::sleep(Duration::from_millis(900)).await;
            let answer = ctx.heartbeat(json!({"step": step})).await?;
            if answer.should_stop() || !answer.heartbeat_recorded {
                return Ok(json!(["stopped", answer.reason]));
            }
        }
        Ok(json!(steps))
    });
    worker.register_workflow("activity-heartbeat", |ctx, args| async move {
        let options = ActivityOptions::new().heartbeat_timeout(Duration::from_secs(2));
        ctx.activity_with_options("report-progress", options, args).await
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let handle = scenario.start("activity-heartbeat", json!([4])).await?;
    ensure_eq!(scenario.result(&handle).await?, json!(4));
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([4])).await?;
    let beats = &["ActivityHeartbeatRecorded"; 4];
    let around = (&["ActivityScheduled", "ActivityStarted"], &["ActivityCompleted", "WorkflowCompleted"]);
    check_kinds(&events, &[START, around.0, beats, around.1])?;
    let beats = payloads(&events, "ActivityHeartbeatRecorded");
    let steps: Vec<_> = beats.iter().map(|beat| beat["progress"]["details"]["step"].as_u64()).collect();
    ensure_eq!(steps, [Some(1), Some(2), Some(3), Some(4)]);
    Ok(())
}
