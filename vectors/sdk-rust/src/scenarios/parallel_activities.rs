use std::time::Duration;

use durable_workflow::{json, ParallelOperation, ParallelResult, Result, Value, Worker};

use super::Entry;
use crate::harness::history::{check_outcomes_once, count, kinds, members, START};
use crate::harness::scenario::Scenario;
use crate::harness::Check;
use crate::{ensure, ensure_eq};

pub const ENTRY: Entry = Entry {
    name: "parallel_activities",
    title: "a parallel group, nested, with a timer; and a wide one",
    program,
    run: |scenario| Box::pin(run(scenario)),
};

fn work(what: impl Into<Value>, milliseconds: u64) -> ParallelOperation {
    ParallelOperation::activity("work", json!([what.into(), milliseconds]))
}

fn values(results: Vec<ParallelResult>) -> Value {
    let value = |result| match result {
        ParallelResult::Activity(value) => value,
        ParallelResult::Group(members) => values(members),
        _ => json!("timer"),
    };
    results.into_iter().map(value).collect()
}

fn program(mut worker: Worker, _: &str) -> Result<Worker> {
    worker.register_activity("work", |_, args| async move {
        tokio::time::sleep(Duration::from_millis(args[1].as_u64().unwrap_or(0))).await;
        Ok(args[0].clone())
    });
    worker.register_workflow("nested", |ctx, _| async move {
        let inner = ParallelOperation::group(vec![ParallelOperation::timer(Duration::from_secs(1)), work("b", 0)]);
        let first = ctx.join(vec![work("a", 600), inner, work("c", 200)]).await?;
        let second = ctx.parallel(vec![work("d", 0), work("e", 0)]).await?;
        Ok(json!([values(first), values(second)]))
    });
    worker.register_workflow("wide", |ctx, args| async move {
        let members = (0..args[0].as_u64().unwrap_or(0)).map(|number| work(number, number % 7)).collect();
        Ok(values(ctx.parallel(members).await?))
    });
    Ok(worker)
}

async fn run(scenario: &Scenario) -> Check {
    let worker = scenario.worker()?;
    let nested = scenario.start("nested", json!([])).await?;
    let wide = scenario.start("wide", json!([60])).await?;
    ensure_eq!(scenario.result(&nested).await?, json!([["a", ["timer", "b"], "c"], ["d", "e"]]));
    ensure_eq!(scenario.result(&wide).await?, (0..60).map(Value::from).collect::<Value>());
    worker.stop().await?;

    let events = scenario.replayed(&nested, json!([])).await?;
    let scheduled = ["ActivityScheduled", "TimerScheduled", "ActivityScheduled", "ActivityScheduled"];
    ensure_eq!(kinds(&events)[..6], [START, &scheduled].concat());
    ensure_eq!(members(&events, "ActivityScheduled", "sequence"), [1, 3, 4, 5, 6].map(Value::from));
    let groups = members(&events, "ActivityScheduled", "parallel_group_id");
    ensure_eq!(groups[..3], ["parallel-calls:1:4", "parallel-calls:2:2", "parallel-calls:1:4"].map(Value::from));
    // The second group begins when the first has ended, and not before.
    let ends = events.iter().position(|event| event.kind == "TimerFired").ok_or("no TimerFired")?;
    ensure!(count(&events[..ends], "ActivityScheduled") == 3, "{:?}", kinds(&events));
    check_outcomes_once(&events)?;

    let events = scenario.replayed(&wide, json!([60])).await?;
    ensure_eq!(kinds(&events)[..62], [START, &["ActivityScheduled"; 60]].concat());
    ensure_eq!((count(&events, "ActivityStarted"), count(&events, "ActivityCompleted"), events.len()), (60, 60, 183));
    check_outcomes_once(&events)
}
