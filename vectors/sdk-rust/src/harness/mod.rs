//! What the scenarios share: the server process, workers, histories, and the record of the wire.

pub mod history;
pub mod report;
pub mod scenario;
pub mod server;
pub mod wire;
pub mod worker;

/// The error of a scenario: what was wrong, as text.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The outcome of a check.
pub type Check<T = ()> = Result<T, Failure>;

/// An error as a line of text. The SDK's errors have whole answers in them.
pub fn shortened(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    match text.char_indices().nth(1200) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

/// Fails the scenario with the given text unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+).into());
        }
    };
}

/// Fails the scenario unless both sides are equal.
#[macro_export]
macro_rules! ensure_eq {
    ($found:expr, $wanted:expr) => {{
        match (&$found, &$wanted) {
            (found, wanted) if found == wanted => {}
            (found, wanted) => return Err(format!("line {}:\n  wanted {wanted:?}\n  found  {found:?}", line!()).into()),
        }
    }};
}
