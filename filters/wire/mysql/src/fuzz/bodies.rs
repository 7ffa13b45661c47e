//! What must hold for any bytes at all. These functions panic where it does not.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::fmt::Debug;

use crate::column_type::ColumnType;
use crate::command::{
    ChangeUser, CommandCode, ExecuteContext, FieldList, InitDb, ParameterType, Query, ResetConnection,
    SetOption, StmtBulkExecute, StmtClose, StmtExecute, StmtFetch, StmtPrepare, StmtReset, StmtSendLongData,
};
use crate::connection::{
    AuthMoreData, AuthNextFactor, AuthSwitchRequest, ClientGreeting, HandshakeResponse41, HandshakeV10,
    SslRequest,
};
use crate::limits::MAX_HANDSHAKE;
use crate::message::peek_message;
use crate::packet::{peek_packet, restamp};
use crate::response::{
    BinaryRow, BinaryRowWriter, BinaryValue, ColumnCount, ColumnDefinition41, EofPacket, ErrPacket,
    FirstPacket, LocalInfileRequest, OkPacket, RowPacket, StmtPrepareOk, TextRow, TextRowWriter,
};
use crate::{Capabilities, Sequence, WireError};

/// What a message is read with, chosen by two bytes.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The connection's capabilities.
    pub capabilities: Capabilities,
    /// Parameters or columns, and types to begin with.
    pub number: u8,
}

impl Choice {
    /// The choice of two bytes, each of whose bits says one thing.
    pub fn of(flags: u8, number: u8) -> Self {
        const FLAGS: [Capabilities; 8] = [
            Capabilities::SESSION_TRACK,
            Capabilities::DEPRECATE_EOF,
            Capabilities::QUERY_ATTRIBUTES,
            Capabilities::PLUGIN_AUTH,
            Capabilities::CONNECT_ATTRS,
            Capabilities::SECURE_CONNECTION,
            Capabilities::MARIADB_EXTENDED_METADATA,
            Capabilities::OPTIONAL_RESULTSET_METADATA,
        ];
        let chosen = FLAGS.iter().enumerate().filter(|(bit, _)| flags & 1 << bit != 0);
        let capabilities = chosen.fold(Capabilities::NONE, |all, (_, flag)| all.with(*flag));
        Self { capabilities, number }
    }

    /// What the first two bytes choose, and the rest.
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let ([flags, number], rest) = bytes.split_first_chunk()?;
        Some((Self::of(*flags, *number), rest))
    }

    fn columns(self) -> usize {
        usize::from(self.number & 7)
    }

    fn types(self) -> Vec<ColumnType> {
        let all = ColumnType::ALL.iter().map(|(column_type, ..)| *column_type);
        all.cycle().skip(self.number.into()).take(self.columns()).collect()
    }
}

/// One packet's payload, or several packets' joined.
fn payload(packets: &[u8]) -> Vec<u8> {
    let message = peek_message(packets, usize::MAX).unwrap().unwrap();
    assert_eq!(message.total_len, packets.len());
    message.payload.into_owned()
}

/// What was read is written, and read again as the same. Tells whether it was read.
fn recode<T: Debug + PartialEq>(
    read: Result<T, WireError>,
    encode: impl FnOnce(&T, &mut Sequence, &mut Vec<u8>) -> Result<(), WireError>,
    check: impl FnOnce(&T, &[u8]),
) -> bool {
    let Ok(message) = read else { return false };
    assert!(!format!("{message:?}").contains("canary"));
    let mut out = Vec::new();
    encode(&message, &mut Sequence::default(), &mut out).unwrap();
    check(&message, &payload(&out));
    true
}

macro_rules! plain {
    ($message:ident, $payload:expr) => {
        recode($message::parse($payload), $message::encode, |message, written| {
            assert_eq!($message::parse(written).as_ref(), Ok(message));
        })
    };
}

macro_rules! by_capabilities {
    ($message:ident, $payload:expr, $capabilities:expr) => {
        recode(
            $message::parse($payload, $capabilities),
            |message, sequence, out| message.encode($capabilities, sequence, out),
            |message, written| assert_eq!($message::parse(written, $capabilities).as_ref(), Ok(message)),
        )
    };
}

/// A packet of before the first command, from either side. Tells as how many messages it was read.
pub fn connection(bytes: &[u8]) -> usize {
    if let Ok(before) = HandshakeV10::parse(bytes) {
        let mut greeting = bytes.to_vec();
        let cleared = Capabilities::SSL.with(Capabilities::COMPRESS);
        let left = HandshakeV10::clear_capabilities(&mut greeting, cleared).unwrap();
        assert_eq!(left, before.capabilities.without(cleared));
        let after = HandshakeV10::parse(&greeting).unwrap();
        assert_eq!(after, HandshakeV10 { capabilities: left, ..before });
    }
    let greeting = ClientGreeting::parse(bytes);
    assert!(greeting.is_ok() || HandshakeResponse41::parse(bytes).is_err());
    [
        plain!(HandshakeV10, bytes),
        plain!(SslRequest, bytes),
        plain!(HandshakeResponse41, bytes),
        plain!(AuthSwitchRequest, bytes),
        plain!(AuthMoreData, bytes),
        plain!(AuthNextFactor, bytes),
        plain!(ErrPacket, bytes),
    ]
    .into_iter()
    .filter(|read| *read)
    .count()
}

/// A command. Tells whether it was read.
pub fn command(bytes: &[u8], choice: Choice) -> bool {
    let capabilities = choice.capabilities;
    let Some(code) = bytes.first().and_then(|byte| CommandCode::from_byte(*byte)) else { return false };
    match code {
        CommandCode::Query => by_capabilities!(Query, bytes, capabilities),
        CommandCode::ChangeUser => by_capabilities!(ChangeUser, bytes, capabilities),
        CommandCode::InitDb => plain!(InitDb, bytes),
        CommandCode::FieldList => plain!(FieldList, bytes),
        CommandCode::StmtPrepare => plain!(StmtPrepare, bytes),
        CommandCode::StmtClose => plain!(StmtClose, bytes),
        CommandCode::StmtReset => plain!(StmtReset, bytes),
        CommandCode::StmtFetch => plain!(StmtFetch, bytes),
        CommandCode::StmtSendLongData => plain!(StmtSendLongData, bytes),
        CommandCode::SetOption => plain!(SetOption, bytes),
        CommandCode::ResetConnection => plain!(ResetConnection, bytes),
        CommandCode::StmtBulkExecute => StmtBulkExecute::peek(bytes).is_ok(),
        CommandCode::StmtExecute => execution(bytes, choice),
        _ => false,
    }
}

fn execution(bytes: &[u8], choice: Choice) -> bool {
    let types = [ParameterType::STRING; 8];
    let context = ExecuteContext {
        capabilities: choice.capabilities,
        parameters: (choice.number & 7).into(),
        types: &types,
        has_long_data: &|index| choice.number & 8 != 0 && index == 0,
    };
    let read = StmtExecute::parse(bytes, &context);
    if let Ok(command) = &read {
        assert_eq!(StmtExecute::peek_statement(bytes), Ok(command.statement));
    }
    recode(
        read,
        |command, sequence, out| command.encode(choice.capabilities, sequence, out),
        |command, written| assert_eq!(StmtExecute::parse(written, &context).as_ref(), Ok(command)),
    )
}

/// A packet of an answer. Tells as how many messages it was read.
pub fn response(bytes: &[u8], choice: Choice) -> usize {
    let capabilities = choice.capabilities;
    let _ = (FirstPacket::of(bytes), RowPacket::of_payload(bytes, capabilities));
    [
        by_capabilities!(OkPacket, bytes, capabilities),
        plain!(ErrPacket, bytes),
        plain!(EofPacket, bytes),
        plain!(LocalInfileRequest, bytes),
        by_capabilities!(ColumnCount, bytes, capabilities),
        by_capabilities!(ColumnDefinition41, bytes, capabilities),
        recode(
            ColumnDefinition41::parse_field_list(bytes, capabilities),
            |definition, sequence, out| definition.encode(capabilities, sequence, out),
            |definition, written| {
                assert_eq!(
                    ColumnDefinition41::parse_field_list(written, capabilities).as_ref(),
                    Ok(definition)
                );
            },
        ),
        recode(StmtPrepareOk::parse(bytes, capabilities), StmtPrepareOk::encode, |ok, written| {
            assert_eq!(StmtPrepareOk::parse(written, capabilities).as_ref(), Ok(ok))
        }),
        text_row(bytes, choice.columns()),
        binary_row(bytes, &choice.types()),
    ]
    .into_iter()
    .filter(|read| *read)
    .count()
}

fn text_row(bytes: &[u8], columns: usize) -> bool {
    let values = |row: &TextRow<'_>| row.values().map(|value| value.map(<[u8]>::to_vec)).collect::<Vec<_>>();
    recode(
        TextRow::parse(bytes, columns),
        |row, sequence, out| {
            assert_eq!(row.values().count(), columns);
            let mut writer = TextRowWriter::new(out, sequence, columns);
            row.values().try_for_each(|value| writer.push(value))?;
            writer.finish()
        },
        |row, written| assert_eq!(values(&TextRow::parse(written, columns).unwrap()), values(row)),
    )
}

fn binary_row(bytes: &[u8], types: &[ColumnType]) -> bool {
    recode(
        BinaryRow::parse(bytes, types),
        |row, sequence, out| {
            assert_eq!(row.values().count(), types.len());
            let mut writer = BinaryRowWriter::new(out, sequence, types.len());
            for (column_type, value) in types.iter().zip(row.values()) {
                match value {
                    Some(value) if value.bytes().len() % 2 == 0 => {
                        writer.push_encoded(*column_type, value.as_it_stands())
                    }
                    value => writer.push(*column_type, value.map(BinaryValue::bytes)),
                }?;
            }
            writer.finish()
        },
        |row, written| {
            let again = BinaryRow::parse(written, types).unwrap();
            let bytes = |value: Option<BinaryValue<'_>>| value.map(|value| value.bytes().to_vec());
            assert!(row.values().map(bytes).eq(again.values().map(bytes)));
        },
    )
}

/// A stream of packets: each message is found where the one before ended. Gives each payload to `read`, and tells how
/// many there were.
pub fn stream(mut bytes: &[u8], mut read: impl FnMut(&[u8])) -> usize {
    let mut messages = 0;
    while let Ok(Some(message)) = peek_message(bytes, MAX_HANDSHAKE) {
        let (header, _) = peek_packet(bytes).unwrap();
        assert_eq!(header.total_len(), message.total_len);
        let mut packet = bytes[..message.total_len].to_vec();
        restamp(&mut packet, &mut Sequence::starting_at(header.sequence)).unwrap();
        assert_eq!(packet, bytes[..message.total_len]);
        read(&message.payload);
        messages += 1;
        bytes = &bytes[message.total_len..];
    }
    messages
}
