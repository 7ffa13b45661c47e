//! Properties over made-up messages and made-up bytes.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::bodies::{Choice, command, connection, response, stream};
use crate::command::{ExecuteContext, Parameter, ParameterType, ParameterValue, Query, StmtExecute};
use crate::connection::{ConnectAttributes, HandshakeResponse41};
use crate::message::{peek_message, write_message};
use crate::response::{
    BinaryRow, BinaryRowWriter, BinaryValue, ColumnDefinition41, ColumnFlags, ErrPacket, OkPacket, TextRow,
    TextRowWriter,
};
use crate::testing::{check_truncations, payload_of};
use crate::{Capabilities, ColumnType, Sequence, Status};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..40), vec(any::<u8>(), 240..270)]
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    vec(1_u8.., 0..40)
}

/// A type with a value that it can have.
fn typed() -> impl Strategy<Value = (ColumnType, Option<Vec<u8>>)> {
    let value = |lengths: &'static [usize]| {
        proptest::sample::select(lengths).prop_flat_map(|length| vec(any::<u8>(), length))
    };
    prop_oneof![
        bytes().prop_map(|value| (ColumnType::VarString, Some(value))),
        value(&[8]).prop_map(|value| (ColumnType::LongLong, Some(value))),
        value(&[1]).prop_map(|value| (ColumnType::Tiny, Some(value))),
        value(&[0, 4, 7, 11]).prop_map(|value| (ColumnType::DateTime, Some(value))),
        value(&[0, 8, 12]).prop_map(|value| (ColumnType::Time, Some(value))),
        Just((ColumnType::Null, None)),
        Just((ColumnType::Blob, None)),
    ]
}

proptest! {
    #[test]
    fn text_rows_round_trip(given in vec(option::of(bytes()), 0..12)) {
        let payload = payload_of(|sequence, out| {
            let mut writer = TextRowWriter::new(out, sequence, given.len());
            given.iter().try_for_each(|value| writer.push(value.as_deref()))?;
            writer.finish()
        });
        check_truncations(&payload, |payload| TextRow::parse(payload, given.len()).map(drop));
        let row = TextRow::parse(&payload, given.len()).unwrap();
        let read: Vec<_> = row.values().map(|value| value.map(<[u8]>::to_vec)).collect();
        prop_assert_eq!(read, given);
    }

    #[test]
    fn binary_rows_round_trip(given in vec(typed(), 0..12)) {
        let types: Vec<_> = given.iter().map(|(column_type, _)| *column_type).collect();
        let payload = payload_of(|sequence, out| {
            let mut writer = BinaryRowWriter::new(out, sequence, given.len());
            given.iter().try_for_each(|(column_type, value)| writer.push(*column_type, value.as_deref()))?;
            writer.finish()
        });
        check_truncations(&payload, |payload| BinaryRow::parse(payload, &types).map(drop));
        let row = BinaryRow::parse(&payload, &types).unwrap();
        let read: Vec<_> = row.values().map(|value| value.map(|value| value.bytes().to_vec())).collect();
        prop_assert!(given.iter().map(|(_, value)| value).eq(read.iter()));
        let copied = payload_of(|sequence, out| {
            let mut writer = BinaryRowWriter::new(out, sequence, given.len());
            row.values().try_for_each(|value| writer.push_raw(value.map(BinaryValue::as_it_stands)))?;
            writer.finish()
        });
        prop_assert_eq!(copied, payload);
    }

    #[test]
    fn executions_round_trip(
        statement: u32,
        given in vec(typed(), 0..20),
        attribute in option::of(string()),
        sends_types: bool,
    ) {
        let mut parameters: Vec<_> = given
            .iter()
            .map(|(column_type, value)| Parameter {
                parameter_type: ParameterType { column_type: *column_type, unsigned: false },
                name: b"",
                value: value.as_deref().map_or(ParameterValue::Null, |value| ParameterValue::Value(value.into())),
            })
            .collect();
        let types: Vec<_> = parameters.iter().map(|parameter| parameter.parameter_type).collect();
        let mut capabilities = Capabilities::NONE;
        if let Some(name) = &attribute {
            capabilities = Capabilities::QUERY_ATTRIBUTES;
            let value = ParameterValue::Value(b"value"[..].into());
            parameters.push(Parameter { parameter_type: ParameterType::STRING, name, value });
        }
        let sends_types = !parameters.is_empty() && (sends_types || attribute.is_some());
        let flags = if attribute.is_some() { StmtExecute::PARAMETER_COUNT_AVAILABLE } else { 0 };
        let command = StmtExecute { statement, flags, iterations: 1, sends_types, parameters };
        let payload = payload_of(|sequence, out| command.encode(capabilities, sequence, out));
        let parameters = u16::try_from(types.len()).unwrap();
        let context = ExecuteContext { capabilities, parameters, types: &types, has_long_data: &|_| false };
        check_truncations(&payload, |payload| StmtExecute::parse(payload, &context).map(drop));
        prop_assert_eq!(StmtExecute::parse(&payload, &context), Ok(command));
    }

    #[test]
    fn queries_round_trip(text in bytes(), attributes: bool) {
        let (capabilities, attributes) = match attributes {
            true => (Capabilities::QUERY_ATTRIBUTES, Some(crate::command::NO_ATTRIBUTES)),
            false => (Capabilities::NONE, None),
        };
        let query = Query { attributes, text: &text };
        let payload = payload_of(|sequence, out| query.encode(capabilities, sequence, out));
        prop_assert_eq!(Query::parse(&payload, capabilities), Ok(query));
    }

    #[test]
    fn definitions_round_trip(names in proptest::array::uniform6(bytes()), numbers: (u16, u32, u16, u8), default in option::of(option::of(bytes()))) {
        let [catalog, schema, table, org_table, name, org_name] = &names;
        let (charset, length, flags, decimals) = numbers;
        let definition = ColumnDefinition41 {
            catalog, schema, table, org_table, name, org_name,
            extended: None,
            charset,
            length,
            column_type: ColumnType::VarString,
            flags: ColumnFlags::from_bits(flags),
            decimals,
            default: default.as_ref().map(|value| value.as_deref()),
        };
        let payload = payload_of(|sequence, out| definition.encode(Capabilities::NONE, sequence, out));
        let read = match default {
            Some(_) => ColumnDefinition41::parse_field_list(&payload, Capabilities::NONE),
            None => ColumnDefinition41::parse(&payload, Capabilities::NONE),
        };
        prop_assert_eq!(read, Ok(definition));
    }

    #[test]
    fn ok_and_err_round_trip(numbers: (u64, u64, u16, u16), info in bytes(), sql_state in option::of(Just(*b"42000"))) {
        let (affected_rows, last_insert_id, status, warnings) = numbers;
        let info = Some(&info[..]).filter(|info| !info.is_empty());
        let ok = OkPacket {
            ends_result_set: false, affected_rows, last_insert_id,
            status: Status::from_bits(status), warnings, info, session_state: None,
        };
        for capabilities in [Capabilities::NONE, Capabilities::SESSION_TRACK] {
            let payload = payload_of(|sequence, out| ok.encode(capabilities, sequence, out));
            prop_assert_eq!(OkPacket::parse(&payload, capabilities), Ok(ok));
        }
        let text = [b"text ", info.unwrap_or_default()].concat();
        let error = ErrPacket { code: warnings, sql_state: sql_state.filter(|_| warnings != ErrPacket::PROGRESS), text: text.into() };
        let payload = payload_of(|sequence, out| error.encode(sequence, out));
        prop_assert_eq!(ErrPacket::parse(&payload), Ok(error));
    }

    #[test]
    fn handshake_responses_round_trip(user in string(), auth_response in string(), database in option::of(string()), lenenc: bool) {
        let mut capabilities = Capabilities::PROTOCOL_41.with(Capabilities::PLUGIN_AUTH).with(Capabilities::CONNECT_ATTRS);
        if database.is_some() {
            capabilities = capabilities.with(Capabilities::CONNECT_WITH_DB);
        }
        capabilities = capabilities.with(match lenenc {
            true => Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA,
            false => Capabilities::SECURE_CONNECTION,
        });
        let response = HandshakeResponse41 {
            capabilities, max_packet_size: 1 << 24, charset: 45, user: &user, auth_response: &auth_response,
            database: database.as_deref(), auth_plugin: Some(b"caching_sha2_password"),
            attributes: Some(ConnectAttributes::default()), zstd_level: None,
        };
        let payload = payload_of(|sequence, out| response.encode(sequence, out));
        prop_assert_eq!(HandshakeResponse41::parse(&payload), Ok(response));
    }

    /// Wherever a stream is cut, its messages are found as they were written, and only once they are whole.
    #[test]
    fn messages_are_found_at_every_split(payloads in vec(string(), 1..5), first: u8) {
        let (mut out, mut sequence) = (Vec::new(), Sequence::starting_at(first));
        let mut ends = Vec::new();
        for payload in &payloads {
            write_message(&mut out, &mut sequence, |out| out.extend_from_slice(payload)).unwrap();
            ends.push(out.len());
        }
        for have in 0..=out.len() {
            let (mut at, mut found) = (0, 0);
            while let Some(message) = peek_message(&out[at..have], 1 << 20).unwrap() {
                prop_assert_eq!(&message.payload[..], &payloads[found][..]);
                at += message.total_len;
                found += 1;
            }
            prop_assert_eq!(found, ends.iter().filter(|end| **end <= have).count());
        }
    }

    #[test]
    fn any_bytes_do_no_harm(flags: u8, number: u8, code: u8, bytes in vec(any::<u8>(), 0..300)) {
        let choice = Choice::of(flags, number);
        connection(&bytes);
        response(&bytes, choice);
        command(&[&[code][..], &bytes].concat(), choice);
        stream(&bytes, |payload| { connection(payload); });
    }

    /// Small numbers and zeros pass more checks than bytes drawn evenly do.
    #[test]
    fn bytes_like_a_message_do_no_harm(
        flags: u8,
        number: u8,
        code in 0_u8..0x20,
        bytes in vec(prop_oneof![Just(0_u8), 0_u8..6, Just(0xfb), Just(0xfe), Just(0xfd), Just(b'S')], 0..60),
    ) {
        let choice = Choice::of(flags, number);
        connection(&bytes);
        response(&bytes, choice);
        command(&[&[code][..], &bytes].concat(), choice);
        stream(&bytes, |payload| { response(payload, choice); });
    }
}
