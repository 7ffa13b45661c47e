//! What a client is told, in MySQL's terms: an error number, an SQLSTATE and one message.

use fieldveil_mysql_wire::message::write_message;
use fieldveil_mysql_wire::packet::Sequence;

use crate::client_error::{ClientError, sqlstate};
use crate::database::Core;
use crate::ports::Level;

/// What the servers' own message texts are held to.
const MAX_MESSAGE: usize = 1_024;

/// An error number with its SQLSTATE, as the servers' lists have them.
type Code = (u16, &'static str);

const TABLEACCESS_DENIED: Code = (1142, "42000");
const COLUMNACCESS_DENIED: Code = (1143, "42000");
const PARSE_ERROR: Code = (1064, "42000");
const ACCESS_DENIED: Code = (1045, "28000");
const NOT_SUPPORTED_YET: Code = (1235, "42000");
const TRUNCATED_WRONG_VALUE_FOR_FIELD: Code = (1366, "22007");
const TRUNCATED_WRONG_VALUE: Code = (1292, "22007");
const DATA_TOO_LONG: Code = (1406, "22001");
const UNKNOWN_STMT_HANDLER: Code = (1243, "HY000");
const USER_LIMIT_REACHED: Code = (1226, "42000");
const NET_PACKET_TOO_LARGE: Code = (1153, "08S01");
const MALFORMED_PACKET: Code = (1835, "HY000");
/// A statement is too complex: the number by which the servers themselves refuse one that their stack does not hold.
const STACK_OVERRUN_NEED_MORE: Code = (1436, "HY000");
/// What is stored does not open: no other number says that a client need not try again.
const INTERNAL_ERROR: Code = (1815, "HY000");
const OUT_OF_RESOURCES: Code = (1041, "HY000");
const UNKNOWN_ERROR: Code = (1105, "HY000");

/// The number and SQLSTATE of an error.
pub fn code(error: &ClientError) -> Code {
    match error.code {
        sqlstate::INSUFFICIENT_PRIVILEGE if error.label.is_some() => COLUMNACCESS_DENIED,
        sqlstate::INSUFFICIENT_PRIVILEGE => TABLEACCESS_DENIED,
        sqlstate::INVALID_AUTHORIZATION => ACCESS_DENIED,
        sqlstate::FEATURE_NOT_SUPPORTED if error.not_understood => PARSE_ERROR,
        sqlstate::FEATURE_NOT_SUPPORTED => NOT_SUPPORTED_YET,
        sqlstate::INVALID_TEXT_REPRESENTATION => TRUNCATED_WRONG_VALUE_FOR_FIELD,
        sqlstate::INVALID_SQL_STATEMENT_NAME => UNKNOWN_STMT_HANDLER,
        sqlstate::OUT_OF_MEMORY => OUT_OF_RESOURCES,
        sqlstate::CONFIGURATION_LIMIT_EXCEEDED => USER_LIMIT_REACHED,
        // A value is too long for its label.
        sqlstate::PROGRAM_LIMIT_EXCEEDED if error.label.is_some() => DATA_TOO_LONG,
        sqlstate::PROGRAM_LIMIT_EXCEEDED => NET_PACKET_TOO_LARGE,
        sqlstate::STATEMENT_TOO_COMPLEX => STACK_OVERRUN_NEED_MORE,
        sqlstate::PROTOCOL_VIOLATION => MALFORMED_PACKET,
        sqlstate::BAD_COPY_FILE_FORMAT => TRUNCATED_WRONG_VALUE,
        sqlstate::DATA_CORRUPTED => INTERNAL_ERROR,
        _ => UNKNOWN_ERROR,
    }
}

/// Message and hint in one, for the protocol has one place.
pub fn message(error: &ClientError) -> String {
    let mut message = error.message.clone();
    if !error.hint.is_empty() {
        message.push_str(". HINT: ");
        message.push_str(&error.hint);
    }
    let end = (0..=MAX_MESSAGE).rev().find(|end| message.is_char_boundary(*end)).unwrap_or_default();
    message.truncate(end);
    message
}

/// Writes an error to the client, as the packet with this number.
pub fn write_error(core: &Core, error: &ClientError, number: u8, to_client: &mut Vec<u8>) {
    if !write(error, &mut Sequence::starting_at(number), to_client) {
        core.log(Level::Error, "an error message could not be written");
    }
}

/// Writes the packet.
fn write(error: &ClientError, sequence: &mut Sequence, to_client: &mut Vec<u8>) -> bool {
    let (number, state) = code(error);
    write_message(to_client, sequence, |out| {
        out.push(0xff);
        out.extend_from_slice(&number.to_le_bytes());
        out.push(b'#');
        out.extend_from_slice(state.as_bytes());
        out.extend_from_slice(message(error).as_bytes());
    })
    .is_ok()
}
