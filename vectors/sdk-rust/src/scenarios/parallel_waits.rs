use std::time::Duration;

use durable_workflow::{json, ConditionWaitOptions, ParallelOperation, ParallelResult, Result, Worker, WorkflowHandle};

use super::Entry;
use crate::ensure_eq;
use crate::harness::history::{check_outcomes_once, count};
use crate::harness::scenario::Scenario;
use crate::harness::Check;

pub const ENTRY: Entry = Entry {
    name: "parallel_waits",
    title: "a group of an activity, a signal wait and a condition wait",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("work", |_, args| async move {
        tokio::time::sleep(Duration::from_millis(args[0].as_u64().unwrap_or(0))).await;
        Ok(json!("worked"))
    });
    worker.register_workflow("parallel-waits", |ctx, args| async move {
        let seen = ctx.clone();
        let options = ConditionWaitOptions::new("two items", format!("sha256:{:064}", 2));
        let results = ctx.parallel(vec![
            ParallelOperation::activity("work", json!([args[0]])),
            ParallelOperation::signal("go"),
            ParallelOperation::condition(options, move || Ok(seen.signals("item")?.len() >= 2)),
        ]);
        let values = results.await?.into_iter().map(|result| match result {
            ParallelResult::Activity(value) => value,
            ParallelResult::Signal(arguments) => json!(arguments),
            ParallelResult::Condition(result) => json!(result),
            _ => json!("?"),
        });
        Ok(json!([values.collect::<Vec<_>>(), ctx.signals("item")?.len()]))
    });
    worker.declare_workflow_signals("parallel-waits", &["go", "item"])?;
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let wanted = json!([["worked", ["now"], "satisfied"], 2]);
    for (milliseconds, signals) in
        [(0, ["go", "item", "item"]), (900, ["item", "go", "item"]), (300, ["item", "item", "go"])]
    {
        let handle = scenario.start("parallel-waits", json!([milliseconds])).await?;
        scenario.history(&handle).until_count("ConditionWaitOpened", 1).await?;
        for name in signals {
            handle.signal(name, json!(["now"])).await?;
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        ensure_eq!(scenario.result(&handle).await?, wanted);
        check(scenario, &handle, milliseconds).await?;
    }
    worker.stop().await
}

async fn check(scenario: &Scenario, handle: &WorkflowHandle, milliseconds: u64) -> Check {
    let events = scenario.replayed(handle, json!([milliseconds])).await?;
    check_outcomes_once(&events)?;
    ensure_eq!((count(&events, "SignalWaitOpened"), count(&events, "ActivityScheduled")), (1, 1));
    Ok(())
}
