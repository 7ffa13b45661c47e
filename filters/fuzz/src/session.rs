//! A connection to PostgreSQL.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use fieldveil_engine::config;
use fieldveil_engine::database::{Client, Connection as _};
use fieldveil_engine::postgres::PostgresConnection;
use fieldveil_engine::worker::Worker;

use crate::connection::{self, Connection, FixedPorts, Protocol, plan_of};

const STARTUP: &[u8] = b"\0\0\0\x20\0\x03\0\0user\0app\0database\0shop\0\0";
const AUTHENTICATED: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x19client_encoding\0UTF8\0Z\0\0\0\x05I";

/// Its messages, beside those that every database has.
const CATALOG_ASKED: u8 = 0;
const READY: u8 = 3;

static PLAN: LazyLock<Vec<u8>> = LazyLock::new(|| plan_of("public.customer"));

pub(crate) fn session(bytes: &[u8]) {
    connection::run::<Postgres>(bytes);
}

pub(crate) struct Postgres {
    session: PostgresConnection,
}

impl Protocol for Postgres {
    const PROTOCOL: config::Protocol = config::Protocol::Postgres;

    type Session = PostgresConnection;

    fn session(&mut self) -> &mut PostgresConnection {
        &mut self.session
    }

    fn new(worker: Rc<RefCell<Worker>>, ports: Rc<RefCell<FixedPorts>>) -> Self {
        Self { session: PostgresConnection::new(worker, ports, Client::at("127.0.0.1")) }
    }

    fn plan() -> &'static [u8] {
        &PLAN
    }

    fn start(connection: &mut Connection<Self>) {
        connection.client(STARTUP);
        connection.message(connection::FETCHES_ANSWERED);
        connection.server(AUTHENTICATED);
        connection.client(b"Q\0\0\0\x0dSELECT 1\0");
        connection.message(CATALOG_ASKED);
        connection.server(b"C\0\0\0\x0dSELECT 0\0Z\0\0\0\x05I");
    }

    fn message(which: u8) -> Vec<Vec<u8>> {
        match which {
            CATALOG_ASKED => vec![catalog_answer()],
            READY => vec![b"Z\0\0\0\x05I".to_vec()],
            _ => vec![],
        }
    }
}

/// What the server answers to the question of a session that has just begun: who it is for, and the catalog, which is
/// `public.customer (id, name, ssn, notes)`.
fn catalog_answer() -> Vec<u8> {
    let mut answer = b"1\0\0\0\x042\0\0\0\x04".to_vec();
    for (number, column, oid) in
        [("1", "id", "20"), ("2", "name", "25"), ("3", "ssn", "25"), ("4", "notes", "25")]
    {
        let values = [
            "app", "", "", "", "16400", "public", "customer", "r", "t", number, column, oid, "f", "",
            "public", "customer", "t", "-1", "", "f",
        ];
        answer.extend(data_row(&values));
    }
    answer.extend_from_slice(b"C\0\0\0\x0dSELECT 4\x003\0\0\0\x043\0\0\0\x04Z\0\0\0\x05I");
    answer
}

pub(crate) fn data_row(values: &[&str]) -> Vec<u8> {
    let mut body = u16::try_from(values.len()).expect("few").to_be_bytes().to_vec();
    for value in values {
        body.extend(u32::try_from(value.len()).expect("short").to_be_bytes());
        body.extend(value.as_bytes());
    }
    let mut row = b"D".to_vec();
    row.extend((u32::try_from(body.len()).expect("short") + 4).to_be_bytes());
    row.extend(body);
    row
}
