//! Every limit on what a peer may claim, each with its reason.

/// Largest length word of a tagged message: the server's own bound (PQ_LARGE_MESSAGE_LIMIT, one gigabyte,
/// what it can allocate at once). What may be *held* is bounded tighter, by who holds it.
pub const MAX_MESSAGE_LENGTH: u32 = 0x3fff_ffff;

/// Largest first packet without its length word: the server's MAX_STARTUP_PACKET_LENGTH.
pub const MAX_STARTUP_PACKET: u32 = 10_000;

/// Longest secret key of a CancelRequest: the server's bound since protocol 3.2 (fixed at 4 bytes in 3.0).
pub const MAX_CANCEL_KEY: usize = 256;

/// Most mechanisms of an AuthenticationSASL: PostgreSQL 18 knows three (SCRAM-SHA-256, the same with channel
/// binding, OAUTHBEARER), IANA lists some fifty.
pub const MAX_SASL_MECHANISMS: usize = 64;

/// Most parameters of Parse, Bind and ParameterDescription: the count is 16 bits, which the server reads as
/// unsigned.
pub const MAX_PARAMETERS: usize = 65_535;

/// Most format codes in Bind: one per parameter or result column, and a 16-bit count again.
pub const MAX_FORMATS: usize = 65_535;

/// Most columns of RowDescription and DataRow: the server's MaxTupleAttributeNumber, above which it refuses a
/// target list.
pub const MAX_COLUMNS: usize = 1_664;

/// Longest name of a statement or portal. The server tells names apart by 63 bytes (see [`crate::name`]), so
/// no driver comes near; the limit bounds what is held while looking for a name's end.
pub const MAX_NAME: usize = 4_096;

/// Most fields of an ErrorResponse: the protocol defines 18, and a field costs 2 bytes on the wire and many
/// more in memory.
pub const MAX_ERROR_FIELDS: usize = 64;
