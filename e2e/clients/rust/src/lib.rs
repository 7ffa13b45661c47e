//! What the Rust clients share: the values, the order of the steps, and one line of JSON for each.

pub mod row;

use std::fmt::Debug;
use std::future::Future;
use std::io::Write;
use std::time::Duration;

/// How long one step may take: a hang is a failure with a name.
const LIMIT: Duration = Duration::from_secs(30);

/// The user that the environment names.
pub const USER: &str = "app";
/// The SQLSTATE of what can't be done on ciphertext.
pub const REFUSED: &str = "0A000";

/// In this order.
const STEPS: [&str; 14] = [
    "connect",
    "write",
    "read",
    "search",
    "update",
    "upsert",
    "batch",
    "prepared",
    "binary",
    "transaction",
    "null",
    "refusal",
    "copy_in",
    "copy_out",
];

/// Why a step did not work.
#[derive(Debug)]
pub enum Failure {
    /// The driver has no such thing.
    Absent(&'static str),
    /// A value came back, and not the one that was to.
    Wrong(String),
    /// The driver's error, with its SQLSTATE if the server gave one.
    Driver { code: String, text: String },
}

pub type Outcome = Result<(), Failure>;

/// One driver.
pub trait Client: Sized {
    const NAME: &'static str;
    /// With what the environment says.
    fn connect() -> impl Future<Output = Result<Self, Failure>>;
    fn step(&mut self, name: &str) -> impl Future<Output = Outcome>;
}

/// Equal, and written alike: a decimal's trailing zeros count.
pub fn expect<T: PartialEq + Debug>(what: &str, got: &T, wanted: &T) -> Outcome {
    if got == wanted && format!("{got:?}") == format!("{wanted:?}") {
        return Ok(());
    }
    Err(Failure::Wrong(format!("{what}: {got:?} instead of {wanted:?}")))
}

/// The ids of a step that writes many.
pub fn batch() -> std::ops::Range<i64> {
    100..120
}

/// The ids that are written by one prepared statement.
pub fn prepared() -> std::ops::Range<i64> {
    200..210
}

/// Runs all steps, each with a connection that the ones before left usable.
pub async fn run<C: Client>() {
    let mut connection: Option<C> = None;
    for name in STEPS {
        let outcome = match tokio::time::timeout(LIMIT, one(&mut connection, name)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Driver { code: String::new(), text: "no end within the limit".into() }),
        };
        let (ok, code, detail) = match outcome {
            Ok(()) => (Some(true), String::new(), String::new()),
            Err(Failure::Absent(why)) => (None, String::new(), why.to_owned()),
            Err(Failure::Wrong(what)) => {
                connection = None;
                (Some(false), String::new(), format!("wrong {what}"))
            }
            Err(Failure::Driver { code, text }) => {
                connection = None;
                (Some(false), code, text)
            }
        };
        let said = serde_json::json!({
            "client": C::NAME, "step": name, "ok": ok, "code": code, "detail": detail.lines().next().unwrap_or(""),
        });
        writeln!(std::io::stdout(), "{said}").expect("standard output is open");
    }
}

async fn one<C: Client>(connection: &mut Option<C>, name: &str) -> Outcome {
    let client = match connection {
        Some(client) => client,
        None => connection.insert(C::connect().await?),
    };
    client.step(name).await
}
