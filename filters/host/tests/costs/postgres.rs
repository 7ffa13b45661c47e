//! Transactions of PostgreSQL.

use serde_json::{Value, json};

use super::envoy::{Answers, Connection, Worker};
use super::{VALUES, agent, config, envelopes};

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[tag], length.as_slice(), body].concat()
}

fn text(tag: u8, text: &str) -> Vec<u8> {
    message(tag, &[text.as_bytes(), b"\0"].concat())
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn parse(name: &str, statement: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{statement}\0\0\0").as_bytes())
}

fn counted<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
    let mut out = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        out.extend(u32::try_from(value.as_ref().len()).unwrap().to_be_bytes());
        out.extend(value.as_ref());
    }
    out
}

/// Bind, Execute and Sync in one piece, as drivers send them.
fn execution(name: &str, values: &[&str]) -> Vec<u8> {
    let bind = [format!("\0{name}\0").as_bytes(), b"\0\0", counted(values).as_slice(), b"\0\0"].concat();
    [message(b'B', &bind), message(b'E', b"\0\0\0\0\0"), sync()].concat()
}

fn row<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
    message(b'D', &counted(values))
}

/// Of columns of `public.customer` by their numbers.
fn description(columns: &[(&str, i16)]) -> Vec<u8> {
    let mut body = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
    for (name, number) in columns {
        body.extend([name.as_bytes(), b"\0", &16400_u32.to_be_bytes(), &number.to_be_bytes()].concat());
        body.extend([25_u32.to_be_bytes().as_slice(), &[0xff; 6], &[0; 2]].concat());
    }
    message(b'T', &body)
}

fn field(column: &str, protection: &str) -> Value {
    json!({"relation": "public.customer", "column": column, "label": format!("customer.{column}"), "keyset": "pii",
        "tenant": "", "protection": protection, "type": "text", "read": {"treatment": "reveal"}, "write": "seal"})
}

/// The server's answer to who the session is for, or to that and the catalog.
fn answers(question: &[u8]) -> Vec<u8> {
    let asks = |part: &str| question.windows(part.len()).any(|window| window == part.as_bytes());
    let columns = ["id:20", "name:25", "ssn:25", "notes:25", "email:25"];
    let catalog: Vec<_> = (1..)
        .zip(columns)
        .map(|(number, column): (u16, _)| {
            let (name, oid) = column.split_once(':').unwrap();
            let number = number.to_string();
            let column =
                ["app", "", "", "", "16400", "public", "customer", "r", "t", &number, name, oid, "f", ""];
            row(&[column.as_slice(), &["public", "customer", "t", "-1", "", "f"]].concat())
        })
        .collect();
    let rows = if asks("WITH RECURSIVE named") {
        catalog.concat()
    } else if asks("SELECT current_user::") {
        row(&["app", "", "", ""])
    } else {
        return Vec::new();
    };
    [
        message(b'1', b""),
        message(b'2', b""),
        rows,
        text(b'C', "SELECT 1"),
        message(b'3', b""),
        message(b'3', b""),
    ]
    .concat()
}

/// A session and what its statements bring.
pub struct Session {
    connection: Connection,
    sealed: Vec<String>,
}

impl Session {
    /// One that is up.
    fn begin(worker: &Worker) -> Self {
        let connection = worker.connection(1);
        let startup = b"\0\x03\0\0user\0app\0database\0shop\0\0";
        let length = u32::try_from(startup.len() + 4).unwrap().to_be_bytes();
        connection.client(&[&length, startup.as_slice()].concat());
        let login = [message(b'R', &[0; 4]), message(b'S', b"client_encoding\0UTF8\0"), ready()].concat();
        connection.server(&login);
        Self { connection, sealed: Vec::new() }
    }

    /// One that is up under a plan with fields, and has prepared what the transactions execute.
    fn protected(worker: &Worker) -> Self {
        let mut session = Self::begin(worker);
        for (name, statement) in [
            ("read", "SELECT ssn, notes, email FROM customer WHERE id = $1"),
            ("name", "SELECT id, name FROM customer WHERE id = $1"),
            ("insert", "INSERT INTO customer (ssn, notes, email) VALUES ($1, $2, $3)"),
        ] {
            session.prepare(name, statement);
        }
        session.sealed = envelopes(&session.connection.client(&execution("insert", &VALUES)));
        session.connection.server(&[message(b'2', b""), text(b'C', "INSERT 0 1"), ready()].concat());
        session
    }

    fn prepare(&self, name: &str, statement: &str) {
        let mut sent = self.connection.client(&[parse(name, statement), sync()].concat());
        let question = answers(&sent);
        if !question.is_empty() {
            self.connection.server(&[question, ready()].concat());
            sent = self.connection.sent_on();
        }
        let mut answer = message(b'1', b"");
        if sent.windows(6).any(|window| window == b"Sread\0") {
            answer.extend([message(b't', b"\0\x01\0\0\0\x14"), columns()].concat());
        }
        self.connection.server(&[answer, ready()].concat());
    }

    /// Three protected columns of so many rows, by a statement that is prepared.
    pub fn read(&self, rows: usize) {
        let sent = self.connection.client(&execution("read", &["1"]));
        assert!(!sent.is_empty(), "the statement is held");
        let rows = row(&self.sealed).repeat(rows);
        let answer = [message(b'2', b""), rows, text(b'C', "SELECT 1"), ready()].concat();
        opened(&self.connection.server(&answer));
    }

    /// Two columns that nothing protects, of so many rows.
    pub fn pass(&self, rows: usize) {
        let statement = execution("name", &["1"]);
        assert_eq!(self.connection.client(&statement), statement);
        let rows = row(&["1", "Ada"]).repeat(rows);
        let answer = [message(b'2', b""), rows, text(b'C', "SELECT 1"), ready()].concat();
        assert_eq!(self.connection.server(&answer), answer);
    }

    /// Three protected values.
    pub fn insert(&self) {
        let sent = self.connection.client(&execution("insert", &VALUES));
        assert_eq!(envelopes(&sent).len(), 3, "not sealed");
        self.connection.server(&[message(b'2', b""), text(b'C', "INSERT 0 1"), ready()].concat());
    }

    /// As [`Self::read`] of one row, by the simple protocol.
    pub fn query(&self) {
        let statement = "SELECT ssn, notes, email FROM customer WHERE id = 1";
        let sent = self.connection.client(&text(b'Q', statement));
        assert!(!sent.is_empty(), "the statement is held");
        let answer = [columns(), row(&self.sealed), text(b'C', "SELECT 1"), ready()].concat();
        opened(&self.connection.server(&answer));
    }
}

fn columns() -> Vec<u8> {
    description(&[("ssn", 3), ("notes", 4), ("email", 5)])
}

fn opened(shown: &[u8]) {
    for value in VALUES {
        assert!(shown.windows(value.len()).any(|window| window == value.as_bytes()), "{value} is not shown");
    }
}

fn plan(fields: &[Value]) -> Answers {
    let result = json!({"revision": "r", "subject": "app", "ttl_seconds": 30, "max_stale_seconds": 300,
        "fields": fields});
    Answers { plan: json!({ "result": result }).to_string().into_bytes(), keys: agent::keys() }
}

/// A worker with a session under a plan that protects three columns.
pub fn protected() -> (Worker, Session) {
    fieldveil_host::start_postgres();
    let fields = [field("ssn", "deterministic"), field("notes", "randomized"), field("email", "randomized")];
    let worker = Worker::start(1, &config(&json!({})), plan(&fields));
    let session = Session::protected(&worker);
    (worker, session)
}

/// A session under a plan that protects nothing.
pub fn unprotected() -> Session {
    fieldveil_host::start_postgres();
    let session = Session::begin(&Worker::start(2, &config(&json!({})), plan(&[])));
    session.prepare("name", "SELECT id, name FROM customer WHERE id = $1");
    session
}
