//! Transactions of MySQL.

use serde_json::{Value, json};

use super::envoy::{Answers, Connection, Worker};
use super::{VALUES, agent, config, envelopes};

/// PROTOCOL_41, SECURE_CONNECTION, CONNECT_WITH_DB, PLUGIN_AUTH, MULTI_STATEMENTS, MULTI_RESULTS and DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x200 | 0x8000 | 8 | 0x8_0000 | 0x1_0000 | 0x2_0000 | 0x100_0000;
const UTF8MB4_BIN: u16 = 46;

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

/// Packets numbered from 1.
fn packets(payloads: &[Vec<u8>]) -> Vec<u8> {
    let numbered = (1..=u8::MAX).chain((0..=u8::MAX).cycle()).zip(payloads);
    numbered.flat_map(|(sequence, payload)| packet(sequence, payload)).collect()
}

fn string(text: &[u8]) -> Vec<u8> {
    [&[u8::try_from(text.len()).unwrap()], text].concat()
}

fn greeting() -> Vec<u8> {
    let capabilities = (CAPABILITIES | 0x800 | 0x20).to_le_bytes();
    let parts: [&[u8]; 8] = [
        b"\x0a8.0.36\0\x07\0\0\0abcdefgh\0",
        &capabilities[..2],
        b"\x2d\x02\0",
        &capabilities[2..],
        b"\x15",
        &[0; 10],
        b"ijklmnopqrst\0",
        b"caching_sha2_password\0",
    ];
    packet(0, &parts.concat())
}

fn handshake_response() -> Vec<u8> {
    let parts: [&[u8]; 4] =
        [&CAPABILITIES.to_le_bytes(), &[0, 0, 0, 1, 45], &[0; 23], b"app\0\0shop\0caching_sha2_password\0"];
    packet(1, &parts.concat())
}

/// A column of `shop.customer`, or of nothing.
fn definition(table: &str, name: &str) -> Vec<u8> {
    let (schema, column) = if table.is_empty() { ("", "") } else { ("shop", name) };
    let names = ["def", schema, table, table, name, column];
    let mut payload: Vec<u8> = names.iter().flat_map(|name| string(name.as_bytes())).collect();
    payload.push(0x0c);
    payload.extend(UTF8MB4_BIN.to_le_bytes());
    payload.extend(1020_u32.to_le_bytes());
    payload.extend([0xfd, 0, 0, 0, 0, 0]);
    payload
}

/// The packets of a result set.
fn results(table: &str, columns: &[&str], rows: Vec<Vec<u8>>) -> Vec<u8> {
    let mut payloads = vec![vec![u8::try_from(columns.len()).unwrap()]];
    payloads.extend(columns.iter().map(|column| definition(table, column)));
    payloads.extend(rows);
    payloads.push(vec![0xfe, 0, 0, 2, 0, 0, 0]);
    packets(&payloads)
}

fn text_row(values: &[Option<&str>]) -> Vec<u8> {
    values.iter().flat_map(|value| value.map_or(vec![0xfb], |value| string(value.as_bytes()))).collect()
}

fn binary_row(values: &[String]) -> Vec<u8> {
    let bitmap = vec![0; 1 + (values.len() + 9) / 8];
    [bitmap, values.iter().flat_map(|value| string(value.as_bytes())).collect()].concat()
}

fn ok() -> Vec<u8> {
    packet(1, &[0, 0, 0, 2, 0, 0, 0])
}

fn query(text: &str) -> Vec<u8> {
    packet(0, &[b"\x03", text.as_bytes()].concat())
}

/// COM_STMT_EXECUTE with strings as values.
fn execution(id: u32, values: &[&str]) -> Vec<u8> {
    let mut payload = [b"\x17".as_slice(), &id.to_le_bytes(), &[0, 1, 0, 0, 0], &[0], &[1]].concat();
    values.iter().for_each(|_| payload.extend([0xfd, 0]));
    values.iter().for_each(|value| payload.extend(string(value.as_bytes())));
    packet(0, &payload)
}

/// A session and what its statements bring.
pub struct Session {
    connection: Connection,
    sealed: Vec<String>,
}

const READ: u32 = 1;
const NAME: u32 = 2;
const INSERT: u32 = 3;
const COLUMNS: [&str; 3] = ["ssn", "notes", "email"];

impl Session {
    fn begin(worker: &Worker) -> Self {
        let connection = worker.connection(1);
        connection.server(&greeting());
        connection.client(&handshake_response());
        connection.server(&packet(2, &[0, 0, 0, 2, 0, 0, 0]));
        Self { connection, sealed: Vec::new() }
    }

    fn protected(worker: &Worker) -> Self {
        let mut session = Self::begin(worker);
        session.prepare(READ, "SELECT ssn, notes, email FROM customer WHERE id = ?", 1, &COLUMNS);
        session.prepare(NAME, "SELECT id, name FROM customer WHERE id = ?", 1, &["id", "name"]);
        session.prepare(INSERT, "INSERT INTO customer (ssn, notes, email) VALUES (?, ?, ?)", 3, &[]);
        session.sealed = envelopes(&session.connection.client(&execution(INSERT, &VALUES)));
        session.connection.server(&ok());
        session
    }

    fn prepare(&self, id: u32, text: &str, parameters: u8, columns: &[&str]) {
        let mut sent = self.connection.client(&packet(0, &[b"\x16", text.as_bytes()].concat()));
        loop {
            let asks = |part: &str| sent.windows(part.len()).any(|window| window == part.as_bytes());
            let answer = if asks("SELECT CAST(CURRENT_USER()") {
                let modes = Some("STRICT_TRANS_TABLES");
                let charset = Some("utf8mb4");
                let who =
                    [Some("app@localhost"), None, Some("shop"), None, None, modes, charset, charset, charset];
                vec![text_row(&[who.as_slice(), &[Some("0"), Some("8.0.36")]].concat())]
            } else if asks("information_schema.COLUMNS") {
                let columns = [("1", "id"), ("2", "name"), ("3", "ssn"), ("4", "notes"), ("5", "email")];
                let row = |(number, name)| {
                    let row = ["shop", "customer", number, name, "varchar", "4000", "utf8mb4_bin"];
                    text_row(
                        &[row.as_slice(), &["0", "0", "0", "0", ""]]
                            .concat()
                            .into_iter()
                            .map(Some)
                            .collect::<Vec<_>>(),
                    )
                };
                columns.map(row).to_vec()
            } else {
                break;
            };
            let width = if answer.len() == 1 { 10 } else { 12 };
            self.connection.server(&results("", &vec!["x"; width], answer));
            sent = self.connection.sent_on();
        }
        let count = u8::try_from(columns.len()).unwrap();
        let [id, ..] = id.to_le_bytes();
        let mut payloads = vec![vec![0, id, 0, 0, 0, count, 0, parameters, 0, 0, 0, 0]];
        payloads.extend((0..parameters).map(|_| definition("", "?")));
        payloads.extend(columns.iter().map(|column| definition("customer", column)));
        self.connection.server(&packets(&payloads));
    }

    fn send(&self, command: &[u8]) {
        assert!(!self.connection.client(command).is_empty(), "the command is held");
    }

    /// Three protected columns of so many rows, by a statement that is prepared.
    pub fn read(&self, rows: usize) {
        self.send(&execution(READ, &["1"]));
        let rows = vec![binary_row(&self.sealed); rows];
        opened(&self.connection.server(&results("customer", &COLUMNS, rows)));
    }

    /// Two columns that nothing protects, of so many rows.
    pub fn pass(&self, rows: usize) {
        let command = execution(NAME, &["1"]);
        assert_eq!(self.connection.client(&command), command);
        let rows = vec![binary_row(&["1".to_owned(), "Ada".to_owned()]); rows];
        let answer = results("customer", &["id", "name"], rows);
        assert_eq!(self.connection.server(&answer), answer);
    }

    /// Three protected values.
    pub fn insert(&self) {
        let sent = self.connection.client(&execution(INSERT, &VALUES));
        assert_eq!(envelopes(&sent).len(), 3, "not sealed");
        self.connection.server(&ok());
    }

    /// As [`Self::read`] of one row, by a text.
    pub fn query(&self) {
        self.send(&query("SELECT ssn, notes, email FROM customer WHERE id = 1"));
        let values: Vec<_> = self.sealed.iter().map(|value| Some(value.as_str())).collect();
        opened(&self.connection.server(&results("customer", &COLUMNS, vec![text_row(&values)])));
    }
}

fn opened(shown: &[u8]) {
    for value in VALUES {
        assert!(shown.windows(value.len()).any(|window| window == value.as_bytes()), "{value} is not shown");
    }
}

fn field(column: &str, protection: &str) -> Value {
    json!({"relation": "shop.customer", "column": column, "label": format!("customer.{column}"), "keyset": "pii",
        "tenant": "", "protection": protection, "type": "varchar(64)", "read": {"treatment": "reveal"}, "write": "seal"})
}

fn plan(fields: &[Value]) -> Answers {
    let result = json!({"revision": "r", "subject": "app", "ttl_seconds": 30, "max_stale_seconds": 300,
        "fields": fields});
    Answers { plan: json!({ "result": result }).to_string().into_bytes(), keys: agent::keys() }
}

/// A session under a plan that protects three columns.
pub fn protected() -> Session {
    fieldveil_host::start_mysql();
    let fields = [field("ssn", "deterministic"), field("notes", "randomized"), field("email", "randomized")];
    Session::protected(&Worker::start(3, &config(&json!({})), plan(&fields)))
}

/// A session under a plan that protects nothing.
pub fn unprotected() -> Session {
    fieldveil_host::start_mysql();
    let session = Session::begin(&Worker::start(4, &config(&json!({})), plan(&[])));
    session.prepare(NAME, "SELECT id, name FROM customer WHERE id = ?", 1, &["id", "name"]);
    session
}
