//! What real clients and real servers said to each other (`e2e/recorders/mysql_packets.py`): every packet is read, and
//! is written again as the same bytes.

use std::path::Path;

use crate::command::{
    ChangeUser, CommandCode, ExecuteContext, InitDb, ParameterType, Query, ResetConnection, ResponseKind,
    StmtClose, StmtExecute, StmtPrepare, StmtReset, StmtSendLongData,
};
use crate::connection::{AuthMoreData, AuthSwitchRequest, HandshakeResponse41, HandshakeV10};
use crate::limits::MAX_MESSAGE;
use crate::message::peek_message;
use crate::response::{
    BinaryRow, BinaryRowWriter, BinaryValue, ColumnCount, ColumnDefinition41, EofPacket, ErrPacket,
    FirstPacket, LocalInfileRequest, OkPacket, RowPacket, StmtPrepareOk, TextRow, TextRowWriter,
};
use crate::{Capabilities, ColumnType, Sequence, Status, WireError};

type Encoded = Result<(), WireError>;

/// One side's messages, and where its reader stands.
struct Side(Vec<u8>, usize);

impl Side {
    fn next(&mut self) -> Option<(Vec<u8>, u8)> {
        let message = peek_message(&self.0[self.1..], MAX_MESSAGE).unwrap()?;
        self.1 += message.total_len;
        Some((message.payload.into_owned(), message.sequence))
    }

    /// Whether the next message begins a command.
    fn is_command(&self) -> bool {
        self.0.get(self.1 + 3) == Some(&0)
    }

    /// The next message, which `encode` must give back.
    fn take<T>(&mut self, read: impl FnOnce(&[u8], &mut Sequence, &mut Vec<u8>) -> (T, Encoded)) -> T {
        let start = self.1;
        let (payload, sequence) = self.next().unwrap();
        let mut out = Vec::new();
        let (value, encoded) = read(&payload, &mut Sequence::starting_at(sequence), &mut out);
        encoded.unwrap();
        assert!(out == self.0[start..self.1], "{payload:?} is written as {out:?}");
        value
    }

    fn first_byte(&self) -> u8 {
        self.0[self.1 + 4]
    }
}

/// A prepared statement.
#[derive(Default)]
struct Prepared {
    parameters: u16,
    types: Vec<ParameterType>,
}

struct Walk {
    client: Side,
    server: Side,
    capabilities: Capabilities,
    /// By number; the statement of a bare connection count from 1.
    statements: Vec<Prepared>,
    rows: usize,
}

impl Walk {
    fn new(path: &Path) -> Self {
        let read = |extension| Side(std::fs::read(path.with_extension(extension)).unwrap(), 0);
        let (client, server) = (read("client"), read("server"));
        Self { client, server, capabilities: Capabilities::NONE, statements: Vec::new(), rows: 0 }
    }

    fn handshake(&mut self, is_mariadb: bool) {
        let offered = self.server.take(|payload, sequence, out| {
            let greeting = HandshakeV10::parse(payload).unwrap();
            assert_eq!(greeting.is_mariadb(), is_mariadb);
            (greeting.capabilities, greeting.encode(sequence, out))
        });
        self.capabilities = self.client.take(|payload, sequence, out| {
            let response = HandshakeResponse41::parse(payload).unwrap();
            (response.capabilities.and(offered), response.encode(sequence, out))
        });
        self.authentication();
    }

    fn authentication(&mut self) {
        loop {
            match self.server.first_byte() {
                0 => {
                    self.ok();
                    return;
                }
                AuthSwitchRequest::HEADER => self.server.take(|payload, sequence, out| {
                    ((), AuthSwitchRequest::parse(payload).unwrap().encode(sequence, out))
                }),
                _ => {
                    let last = self.server.take(|payload, sequence, out| {
                        let more = AuthMoreData::parse(payload).unwrap();
                        (more.data == AuthMoreData::FAST_AUTH_SUCCESS, more.encode(sequence, out))
                    });
                    if last {
                        continue;
                    }
                }
            }
            self.client.next();
        }
    }

    fn ok(&mut self) -> Status {
        let capabilities = self.capabilities;
        self.server.take(|payload, sequence, out| {
            let ok = OkPacket::parse(payload, capabilities).unwrap();
            (ok.status, ok.encode(capabilities, sequence, out))
        })
    }

    fn err(&mut self) {
        self.server
            .take(|payload, sequence, out| ((), ErrPacket::parse(payload).unwrap().encode(sequence, out)));
    }

    fn eof(&mut self) -> Status {
        if self.capabilities.has(Capabilities::DEPRECATE_EOF) {
            return self.ok();
        }
        self.server.take(|payload, sequence, out| {
            let eof = EofPacket::parse(payload).unwrap();
            (eof.status, eof.encode(sequence, out))
        })
    }

    fn definitions(&mut self, count: usize) -> Vec<ColumnType> {
        let capabilities = self.capabilities;
        let definition = |side: &mut Side| {
            side.take(|payload, sequence, out| {
                let definition = ColumnDefinition41::parse(payload, capabilities).unwrap();
                (definition.column_type, definition.encode(capabilities, sequence, out))
            })
        };
        let types = (0..count).map(|_| definition(&mut self.server)).collect();
        if count > 0 && !capabilities.has(Capabilities::DEPRECATE_EOF) {
            self.eof();
        }
        types
    }

    fn results(&mut self, binary: bool) {
        loop {
            let (payload, _) = Side(self.server.0[self.server.1..].to_vec(), 0).next().unwrap();
            let status = match FirstPacket::of(&payload).unwrap() {
                FirstPacket::Ok => self.ok(),
                FirstPacket::Err => return self.err(),
                FirstPacket::LocalInfile => {
                    self.server.take(|payload, sequence, out| {
                        ((), LocalInfileRequest::parse(payload).unwrap().encode(sequence, out))
                    });
                    while !self.client.next().unwrap().0.is_empty() {}
                    continue;
                }
                FirstPacket::ColumnCount => self.result_set(binary),
            };
            if !status.has(Status::MORE_RESULTS_EXISTS) {
                return;
            }
        }
    }

    fn result_set(&mut self, binary: bool) -> Status {
        let capabilities = self.capabilities;
        let columns = self.server.take(|payload, sequence, out| {
            let count = ColumnCount::parse(payload, capabilities).unwrap();
            (count.columns, count.encode(capabilities, sequence, out))
        });
        let types = self.definitions(columns);
        loop {
            let (payload, _) = Side(self.server.0[self.server.1..].to_vec(), 0).next().unwrap();
            if RowPacket::of_payload(&payload, capabilities).unwrap() != RowPacket::Row {
                return self.eof();
            }
            self.rows += 1;
            self.server.take(|payload, sequence, out| match binary {
                true => {
                    let row = BinaryRow::parse(payload, &types).unwrap();
                    let mut writer = BinaryRowWriter::new(out, sequence, types.len());
                    for (column_type, value) in types.iter().zip(row.values()) {
                        writer.push(*column_type, value.map(BinaryValue::bytes)).unwrap();
                    }
                    ((), writer.finish())
                }
                false => {
                    let row = TextRow::parse(payload, columns).unwrap();
                    let mut writer = TextRowWriter::new(out, sequence, columns);
                    row.values().try_for_each(|value| writer.push(value)).unwrap();
                    ((), writer.finish())
                }
            });
        }
    }

    fn prepared(&mut self) {
        if self.server.first_byte() == ErrPacket::HEADER {
            return self.err();
        }
        let capabilities = self.capabilities;
        let ok = self.server.take(|payload, sequence, out| {
            let ok = StmtPrepareOk::parse(payload, capabilities).unwrap();
            (ok, ok.encode(sequence, out))
        });
        self.definitions(ok.parameters.into());
        self.definitions(ok.columns.into());
        self.statements.resize_with(ok.statement as usize + 1, Prepared::default);
        self.statements[ok.statement as usize].parameters = ok.parameters;
    }

    /// A command and its answer; `false` at the end.
    fn command(&mut self) -> bool {
        assert!(self.client.is_command());
        let code = CommandCode::from_byte(self.client.first_byte()).unwrap();
        let (capabilities, statements) = (self.capabilities, &mut self.statements);
        self.client.take(|payload, sequence, out| {
            let encoded = match code {
                CommandCode::Query => {
                    Query::parse(payload, capabilities).unwrap().encode(capabilities, sequence, out)
                }
                CommandCode::InitDb => InitDb::parse(payload).unwrap().encode(sequence, out),
                CommandCode::ChangeUser => {
                    ChangeUser::parse(payload, capabilities).unwrap().encode(capabilities, sequence, out)
                }
                CommandCode::ResetConnection => {
                    ResetConnection::parse(payload).unwrap().encode(sequence, out)
                }
                CommandCode::StmtPrepare => StmtPrepare::parse(payload).unwrap().encode(sequence, out),
                CommandCode::StmtClose => StmtClose::parse(payload).unwrap().encode(sequence, out),
                CommandCode::StmtReset => StmtReset::parse(payload).unwrap().encode(sequence, out),
                CommandCode::StmtSendLongData => {
                    StmtSendLongData::parse(payload).unwrap().encode(sequence, out)
                }
                CommandCode::StmtExecute => {
                    let statement = &mut statements[StmtExecute::peek_statement(payload).unwrap() as usize];
                    let parameters = statement.parameters;
                    let types = std::mem::take(&mut statement.types);
                    let context =
                        ExecuteContext { capabilities, parameters, types: &types, has_long_data: &|_| false };
                    let execute = StmtExecute::parse(payload, &context).unwrap();
                    statement.types = execute.types(parameters).collect();
                    execute.encode(capabilities, sequence, out)
                }
                _ => {
                    out.extend_from_slice(&[1, 0, 0, sequence.take(), code.byte()]);
                    Ok(())
                }
            };
            ((), encoded)
        });
        match code.answer() {
            ResponseKind::None => {}
            ResponseKind::End => return false,
            ResponseKind::Results => self.results(code == CommandCode::StmtExecute),
            ResponseKind::Prepared => self.prepared(),
            ResponseKind::Authentication => self.authentication(),
            ResponseKind::Ok if self.server.first_byte() == ErrPacket::HEADER => self.err(),
            ResponseKind::Ok => {
                self.ok();
            }
            answer => panic!("{code:?} is answered by {answer:?}"),
        }
        true
    }
}

#[test]
fn recorded_packets_are_read_and_written_as_the_same_bytes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut connections = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "client")) {
        let mut walk = Walk::new(&path);
        walk.handshake(path.file_name().unwrap().to_str().unwrap().starts_with("mariadb"));
        while walk.command() {}
        assert!(walk.client.1 == walk.client.0.len(), "{path:?}: the client said more");
        assert!(walk.rows > 0, "{path:?}: no rows were read");
        connections += 1;
    }
    assert!(connections >= 6);
}
