//! SQLSTATE classes that Fieldveil answers with, by the names of the PostgreSQL manual (appendix A).

/// Denied by policy.
pub const INSUFFICIENT_PRIVILEGE: &str = "42501";
/// A token that is not valid.
pub const INVALID_AUTHORIZATION: &str = "28000";
/// Cannot be done on a sealed column.
pub const FEATURE_NOT_SUPPORTED: &str = "0A000";
/// Bytes that are no text in the encoding that they come in.
pub const CHARACTER_NOT_IN_REPERTOIRE: &str = "22021";
/// A character that the client's encoding lacks.
pub const UNTRANSLATABLE_CHARACTER: &str = "22P05";
/// A value that is not of the declared type.
pub const INVALID_TEXT_REPRESENTATION: &str = "22P02";
/// A prepared statement whose name is taken.
pub const DUPLICATE_PREPARED_STATEMENT: &str = "42P05";
/// A prepared statement that is not there.
pub const INVALID_SQL_STATEMENT_NAME: &str = "26000";
/// A cursor or portal that is not there.
pub const INVALID_CURSOR_NAME: &str = "34000";
/// The data of a COPY that is not as it must be.
pub const BAD_COPY_FILE_FORMAT: &str = "22P04";
/// A stored value that is not what it must be.
pub const DATA_CORRUPTED: &str = "XX001";
/// Policy, keys or catalog are not there (yet).
pub const CANNOT_CONNECT_NOW: &str = "57P03";
/// The peer broke the protocol.
pub const PROTOCOL_VIOLATION: &str = "08P01";
/// A budget of the policy is spent.
pub const CONFIGURATION_LIMIT_EXCEEDED: &str = "53400";
/// More is kept than there is memory for.
pub const OUT_OF_MEMORY: &str = "53200";
/// A limit of Fieldveil.
pub const PROGRAM_LIMIT_EXCEEDED: &str = "54000";
/// A statement that would take more work or more stack to analyze than it may.
pub const STATEMENT_TOO_COMPLEX: &str = "54001";
/// A text that is no statement.
pub const SYNTAX_ERROR: &str = "42601";
/// A statement in a transaction that has failed.
pub const IN_FAILED_TRANSACTION: &str = "25P02";
