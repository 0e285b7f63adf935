use std::time::Duration;

use durable_workflow::{
    json, ActivityOptions, ActivityRetryPolicy, ConditionWaitOptions, Error, ParallelOperation, Result, Uuid, Worker,
    WorkflowHandle,
};

use super::Entry;
use crate::harness::history::{check_outcomes_once, count, START};
use crate::harness::scenario::Scenario;
use crate::harness::{worker, Check};
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "storm",
    title: "runs that wait for everything at once, signals in any order, the server killed three times",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

const RUNS: usize = 8;
const ROUNDS: usize = 3;

fn program(worker: Worker, _: &str) -> Result<Worker> {
    let mut worker = worker.local_activities(true);
    worker.register_activity("work", |_, args| async move {
        tokio::time::sleep(Duration::from_millis(args[0].as_u64().unwrap_or(0))).await;
        Ok(json!(1))
    });
    worker.register_workflow("storm", |ctx, args| async move {
        let policy = ActivityRetryPolicy::new(20).backoff_intervals([Duration::ZERO]);
        let options = ActivityOptions::new().retry_policy(policy).start_to_close_timeout(Duration::from_secs(3));
        let mut done = 0;
        for round in 1..=ROUNDS {
            let seen = ctx.clone();
            let two_items = ConditionWaitOptions::new(format!("items {round}"), format!("sha256:{round:064}"));
            let group = vec![
                ParallelOperation::activity_with_options("work", options.clone(), json!([args[0]])),
                ParallelOperation::signal("go"),
                ParallelOperation::condition(two_items, move || Ok(seen.signals("item")?.len() >= 2 * round)),
            ];
            done += ctx.parallel(group).await?.len();
            done += ctx.side_effect(|| 1)?;
            ctx.sleep(Duration::from_secs(1)).await?;
            ctx.local_activity("work", json!([5])).await?;
        }
        Ok(json!(done))
    });
    worker.declare_workflow_signals("storm", &["go", "item"])?;
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let mut process = scenario.process("worker", "default")?;
    let mut handles = Vec::new();
    for number in 0..RUNS {
        handles.push(scenario.start("storm", json!([number * 40])).await?);
    }
    let signals = futures_util::future::try_join_all(handles.iter().map(|handle| signals(scenario, handle)));
    tokio::try_join!(signals, kills(scenario))?;
    for handle in &handles {
        ensure_eq!(scenario.result(handle).await?, json!(4 * ROUNDS));
    }
    let status = worker::terminate(&mut process).await?;
    ensure!(status.success(), "the worker ended with {status}");
    for (number, handle) in handles.iter().enumerate() {
        check(scenario, handle, number).await?;
    }
    Ok(())
}

/// Sends a run the signals of one group after the other, in an order and with pauses of their own. None comes before
/// its group: this SDK sends no command for a condition that holds at once, and a condition uses up what wakes it.
async fn signals(scenario: &Scenario, handle: &WorkflowHandle) -> Check {
    for round in 1..=ROUNDS {
        opened(scenario, handle, round).await?;
        let mut names = vec!["go", "item", "item"];
        while !names.is_empty() {
            let draw = Uuid::new_v4();
            let name = names.swap_remove(usize::from(draw.as_bytes()[0]) % names.len());
            tokio::time::sleep(Duration::from_millis(2 * u64::from(draw.as_bytes()[1]))).await;
            send(handle, name, &draw.to_string()).await?;
        }
    }
    Ok(())
}

/// Sends a signal until it is surely there.
async fn send(handle: &WorkflowHandle, name: &str, request_id: &str) -> Check {
    loop {
        match handle.signal_with_request_id(name, json!([name]), request_id).await {
            Ok(_) => return Ok(()),
            Err(Error::Transport(_)) => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(other) => return Err(other.into()),
        }
    }
}

/// Waits until the run has opened the group of a round; reads anew when the server was killed meanwhile.
async fn opened(scenario: &Scenario, handle: &WorkflowHandle, round: usize) -> Check {
    let mut tries = 0;
    while let Err(error) = scenario.history(handle).until_count("ConditionWaitOpened", round).await {
        tries += 1;
        ensure!(tries < 100, "no round {round}: {error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn kills(scenario: &Scenario) -> Check {
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let mut server = scenario.server.lock().await;
        server.kill().await?;
        server.start().await?;
    }
    Ok(())
}

async fn check(scenario: &Scenario, handle: &WorkflowHandle, number: usize) -> Check {
    let events = scenario.replayed(handle, json!([number * 40])).await?;
    check_outcomes_once(&events)?;
    let counted = |kind| count(&events, kind);
    ensure_eq!(
        (counted("SignalReceived"), counted("SignalWaitOpened"), counted("SignalApplied")),
        (3 * ROUNDS, ROUNDS, ROUNDS)
    );
    ensure_eq!((counted("ActivityScheduled"), counted("ActivityCompleted")), (2 * ROUNDS, 2 * ROUNDS));
    ensure_eq!(
        (counted("SideEffectRecorded"), counted("TimerFired"), counted("WorkflowCompleted")),
        (ROUNDS, ROUNDS, 1)
    );
    ensure_eq!(events[..2].iter().map(|event| event.kind.as_str()).collect::<Vec<_>>(), START);
    Ok(())
}
