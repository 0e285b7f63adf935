use std::time::{Duration, Instant};

use durable_workflow::{json, Result, Worker};

use super::Entry;
use crate::harness::history::{check_kinds, members, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "timer",
    title: "durable timers, one with no delay",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_workflow("timer", |ctx, _| async move {
        ctx.sleep(Duration::from_millis(1500)).await?; // whole seconds on the wire, rounded up
        ctx.start_timer(Duration::ZERO).await?;
        Ok(json!("woke"))
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let began = Instant::now();
    let handle = scenario.start("timer", json!([])).await?;
    ensure_eq!(scenario.result(&handle).await?, json!("woke"));
    ensure!(began.elapsed() >= Duration::from_secs(2), "it took {:?}", began.elapsed());
    worker.stop().await?;

    let events = scenario.replayed(&handle, json!([])).await?;
    let timer = &["TimerScheduled", "TimerFired"];
    check_kinds(&events, &[START, timer, timer, &["WorkflowCompleted"]])?;
    ensure_eq!(members(&events, "TimerScheduled", "delay_seconds"), [json!(2), json!(0)]);
    ensure_eq!(members(&events, "TimerScheduled", "timer_id"), members(&events, "TimerFired", "timer_id"));
    Ok(())
}
