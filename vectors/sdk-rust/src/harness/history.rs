//! Histories as the control plane serves them, read without the SDK, and what scenarios demand of them.

use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::Check;
use crate::ensure;

/// One event of a run.
#[derive(Clone, Debug)]
pub struct Event {
    pub sequence: u64,
    pub kind: String,
    pub payload: Value,
}

/// How every root run begins, and what one activity adds when nothing goes wrong.
pub const START: &[&str] = &["StartAccepted", "WorkflowStarted"];
pub const ACTIVITY: &[&str] = &["ActivityScheduled", "ActivityStarted", "ActivityCompleted"];
/// What a signal adds that is applied to a signal wait, from the completion that sees it on.
pub const APPLIED: &[&str] = &["MessageCursorAdvanced", "SignalApplied"];

const PATIENCE: Duration = Duration::from_secs(30);

/// Reads the history of one run over HTTP.
pub struct History {
    url: String,
    http: reqwest::Client,
    token: Option<String>,
}

impl History {
    pub fn new(server: &str, workflow_id: &str, run_id: &str, token: Option<&str>) -> Self {
        Self {
            url: format!("{server}/api/workflows/{workflow_id}/runs/{run_id}/history"),
            http: reqwest::Client::new(),
            token: token.map(str::to_owned),
        }
    }

    /// All events, from the first, in pages small enough that there are several.
    pub async fn read(&self) -> Check<Vec<Event>> {
        let events = self.documents().await?.iter().map(event).collect::<Check<Vec<_>>>()?;
        for (index, event) in events.iter().enumerate() {
            ensure!(event.sequence == index as u64 + 1, "event {index} has sequence {}", event.sequence);
        }
        Ok(events)
    }

    /// All events as they were served.
    pub async fn documents(&self) -> Check<Vec<Value>> {
        let (mut all, mut token) = (Vec::new(), None);
        loop {
            let mut page = self.page(&[("page_size", "70")], token.as_deref()).await?;
            all.append(page["events"].as_array_mut().ok_or("a page without events")?);
            match page["next_page_token"].as_str() {
                Some(next) => token = Some(next.to_owned()),
                None => return Ok(all),
            }
        }
    }

    /// Follows the run until its events satisfy `done`; the server holds each request until there is news.
    pub async fn until(&self, what: &str, done: impl Fn(&[Event]) -> bool) -> Check<Vec<Event>> {
        let began = Instant::now();
        let (mut events, mut token) = (Vec::new(), None);
        while !done(&events) {
            ensure!(began.elapsed() < PATIENCE, "no {what} within {PATIENCE:?}: {:?}", kinds(&events));
            let query = [("page_size", "1000"), ("wait_new_event", "1")];
            let page = self.page(&query, token.as_deref()).await?;
            for document in page["events"].as_array().ok_or("a page without events")? {
                events.push(event(document)?);
            }
            token = page["next_page_token"].as_str().map(str::to_owned);
            ensure!(token.is_some() || done(&events), "the run ended without {what}: {:?}", kinds(&events));
        }
        Ok(events)
    }

    /// Follows the run until it has as many events of a kind.
    pub async fn until_count(&self, kind: &str, count: usize) -> Check<Vec<Event>> {
        self.until(&format!("{count} {kind}"), |events| self::count(events, kind) >= count).await
    }

    async fn page(&self, query: &[(&str, &str)], token: Option<&str>) -> Check<Value> {
        let mut request = self.http.get(&self.url).query(query).timeout(Duration::from_secs(60));
        request = request.header("X-Durable-Workflow-Control-Plane-Version", "2");
        if let Some(token) = token {
            request = request.query(&[("next_page_token", token)]);
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        Ok(request.send().await?.error_for_status()?.json().await?)
    }
}

fn event(document: &Value) -> Check<Event> {
    Ok(Event {
        sequence: document["sequence"].as_u64().ok_or("an event without sequence")?,
        kind: document["event_type"].as_str().ok_or("an event without a type")?.to_owned(),
        payload: document["payload"].clone(),
    })
}

pub fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

pub fn count(events: &[Event], kind: &str) -> usize {
    events.iter().filter(|event| event.kind == kind).count()
}

/// The payloads of the events of a kind.
pub fn payloads<'a>(events: &'a [Event], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event.kind == kind).map(|event| &event.payload).collect()
}

/// One member of the payloads of a kind.
pub fn members(events: &[Event], kind: &str, name: &str) -> Vec<Value> {
    payloads(events, kind).iter().map(|payload| payload.get(name).cloned().unwrap_or(json!(null))).collect()
}

/// The event types, all of them and in order.
pub fn check_kinds(events: &[Event], wanted: &[&[&str]]) -> Check {
    let (found, wanted) = (kinds(events), wanted.concat());
    ensure!(found == wanted, "\n  wanted {wanted:?}\n  found  {found:?}");
    Ok(())
}

/// No step has two outcomes.
pub fn check_outcomes_once(events: &[Event]) -> Check {
    let outcomes = ["ActivityCompleted", "ActivityFailed", "ActivityTimedOut", "ActivityCancelled", "TimerFired"];
    let mut seen = Vec::new();
    for event in events.iter().filter(|event| outcomes.contains(&event.kind.as_str())) {
        let step = &event.payload["sequence"];
        ensure!(!seen.contains(&step), "step {step} has two outcomes: {:?}", kinds(events));
        seen.push(step);
    }
    Ok(())
}
