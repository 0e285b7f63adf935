//! The scenarios, one a file: `program` gives a worker its workflows and activities, `run` plays and asserts.

use std::future::Future;
use std::pin::Pin;

use durable_workflow::Worker;

use crate::harness::scenario::Scenario;
use crate::harness::Check;

mod activity_heartbeat;
mod activity_retry;
mod activity_timeouts;
mod blocked_replay;
mod cancel_and_terminate;
mod condition_wait;
mod continue_as_new;
mod deadlines;
mod five_activities;
mod history_pages;
mod large_payloads;
mod local_activities;
mod local_activity_lease;
mod non_retryable_failure;
mod parallel_activities;
mod parallel_failure;
mod parallel_waits;
mod quickstart;
mod repeats;
mod role_tokens;
mod server_killed;
mod side_effect;
mod signal_wait;
mod storm;
mod timer;
mod two_workers;
mod version_marker;
mod worker_restarted;

/// A scenario under way.
pub type Played<'a> = Pin<Box<dyn Future<Output = Check> + Send + 'a>>;

/// One scenario. Worker processes ask for a variant of its program, all others for "default".
pub struct Entry {
    pub name: &'static str,
    pub title: &'static str,
    pub program: fn(Worker, &str) -> durable_workflow::Result<Worker>,
    pub run: for<'a> fn(&'a Scenario) -> Played<'a>,
}

impl Entry {
    pub fn named(name: &str) -> Option<&'static Entry> {
        ALL.iter().copied().find(|entry| entry.name == name)
    }
}

pub const ALL: &[&Entry] = &[
    &quickstart::ENTRY,
    &five_activities::ENTRY,
    &activity_retry::ENTRY,
    &non_retryable_failure::ENTRY,
    &activity_heartbeat::ENTRY,
    &activity_timeouts::ENTRY,
    &timer::ENTRY,
    &signal_wait::ENTRY,
    &condition_wait::ENTRY,
    &side_effect::ENTRY,
    &version_marker::ENTRY,
    &parallel_activities::ENTRY,
    &parallel_failure::ENTRY,
    &parallel_waits::ENTRY,
    &continue_as_new::ENTRY,
    &cancel_and_terminate::ENTRY,
    &local_activities::ENTRY,
    &local_activity_lease::ENTRY,
    &deadlines::ENTRY,
    &repeats::ENTRY,
    &history_pages::ENTRY,
    &large_payloads::ENTRY,
    &blocked_replay::ENTRY,
    &role_tokens::ENTRY,
    &worker_restarted::ENTRY,
    &two_workers::ENTRY,
    &server_killed::ENTRY,
    &storm::ENTRY,
];
