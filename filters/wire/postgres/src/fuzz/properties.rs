//! Properties over made-up messages and made-up bytes.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::bodies::{ANSWERS, REQUESTS, body, first_packet, peeks, stream};
use crate::Format;
use crate::backend::{
    DataRow, DataRowWriter, ErrorResponse, FieldDescription, ParameterDescription, RowDescription,
};
use crate::frontend::{Bind, Execute, Parse, Query};
use crate::startup::{FirstPacket, ProtocolVersion, StartupMessage};
use crate::testing::{body_of, check_truncations};

fn string() -> impl Strategy<Value = Vec<u8>> {
    vec(1_u8.., 0..40)
}

fn values() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    vec(option::of(vec(any::<u8>(), 0..40)), 0..12)
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Text), Just(Format::Binary)]
}

proptest! {
    #[test]
    fn query_and_parse_round_trip(name in string(), text in string(), parameter_types in vec(any::<u32>(), 0..9)) {
        let query = Query { text: &text };
        let bytes = body_of(b'Q', |out| query.encode(out));
        prop_assert_eq!(Query::parse(&bytes), Ok(query));
        let parse = Parse { name: &name, text: &text, parameter_types };
        let bytes = body_of(b'P', |out| parse.encode(out));
        check_truncations(&bytes, |body| Parse::parse(body).map(drop));
        prop_assert_eq!(Parse::parse(&bytes), Ok(parse));
    }

    #[test]
    fn bind_round_trips(
        portal in string(),
        statement in string(),
        given in values(),
        formats in 0_usize..3,
        result_formats in vec(format(), 0..5),
    ) {
        let bind = Bind {
            portal: &portal,
            statement: &statement,
            parameter_formats: vec![Format::Binary; [0, 1, given.len()][formats]],
            values: given.iter().map(|value| value.as_deref().map(Cow::Borrowed)).collect(),
            result_formats,
        };
        let bytes = body_of(b'B', |out| bind.encode(out));
        check_truncations(&bytes, |body| Bind::parse(body).map(drop));
        prop_assert_eq!(Bind::peek_names(&bytes), Ok(Some((&portal[..], &statement[..]))));
        prop_assert_eq!(Bind::parse(&bytes), Ok(bind));
    }

    #[test]
    fn execute_round_trips(portal in string(), max_rows: i32) {
        let execute = Execute { portal: &portal, max_rows };
        let bytes = body_of(b'E', |out| execute.encode(out));
        prop_assert_eq!(Execute::parse(&bytes), Ok(execute));
    }

    #[test]
    fn row_round_trips(given in values()) {
        let bytes = body_of(b'D', |out| {
            let mut writer = DataRowWriter::new(out, u16::try_from(given.len()).unwrap());
            given.iter().try_for_each(|value| writer.push(value.as_deref()))?;
            writer.finish()
        });
        check_truncations(&bytes, |body| DataRow::parse(body).map(drop));
        let row = DataRow::parse(&bytes).unwrap();
        let read: Vec<_> = row.values().map(|value| value.map(<[u8]>::to_vec)).collect();
        prop_assert_eq!(read, given);
    }

    #[test]
    fn descriptions_round_trip(
        name in string(),
        numbers: (u32, i16, u32, i16, i32),
        format in format(),
        times in 0_usize..4,
    ) {
        let (table_oid, column, type_oid, type_size, type_modifier) = numbers;
        let field =
            FieldDescription { name: &name, table_oid, column, type_oid, type_size, type_modifier, format };
        let rows = RowDescription { fields: vec![field; times] };
        let bytes = body_of(b'T', |out| rows.encode(out));
        check_truncations(&bytes, |body| RowDescription::parse(body).map(drop));
        prop_assert_eq!(RowDescription::parse(&bytes), Ok(rows));
        let parameters = ParameterDescription { types: vec![type_oid; times] };
        let bytes = body_of(b't', |out| parameters.encode(out));
        prop_assert_eq!(ParameterDescription::parse(&bytes), Ok(parameters));
    }

    #[test]
    fn error_round_trips(fields in vec((1_u8.., string()), 0..20)) {
        let error = ErrorResponse { fields: fields.iter().map(|(kind, text)| (*kind, text.into())).collect() };
        let bytes = body_of(b'E', |out| error.encode(out));
        check_truncations(&bytes, |body| ErrorResponse::parse(body).map(drop));
        prop_assert_eq!(ErrorResponse::parse(&bytes), Ok(error));
    }

    #[test]
    fn startup_round_trips_and_waits_at_every_split(
        minor: u16,
        parameters in vec(("[a-z_.é]{1,12}", "[^\0]{0,12}"), 0..6),
    ) {
        let message = StartupMessage { version: ProtocolVersion { major: 3, minor }, parameters };
        let mut bytes = Vec::new();
        message.encode(&mut bytes).unwrap();
        for have in 0..bytes.len() {
            prop_assert_eq!(FirstPacket::parse(&bytes[..have]), Ok(None));
        }
        let length = bytes.len();
        bytes.extend_from_slice(b"more");
        prop_assert_eq!(FirstPacket::parse(&bytes), Ok(Some((FirstPacket::Startup(message), length))));
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..300)) {
        for table in [REQUESTS, ANSWERS] {
            for (tag, _) in table {
                body(table, *tag, &bytes);
            }
            stream(&bytes, table);
        }
        first_packet(&bytes);
        peeks(&bytes);
    }

    /// Small numbers and zeros pass more checks than bytes drawn evenly do.
    #[test]
    fn bytes_like_a_message_do_no_harm(bytes in vec(prop_oneof![Just(0_u8), 0_u8..6, Just(0xff), Just(b'S')], 0..60)) {
        for table in [REQUESTS, ANSWERS] {
            for (tag, _) in table {
                body(table, *tag, &bytes);
            }
        }
        let length = u32::try_from(bytes.len() + 8).unwrap().to_be_bytes();
        first_packet(&[&length[..], b"\0\x03\0\0", &bytes].concat());
        peeks(&bytes);
    }
}
