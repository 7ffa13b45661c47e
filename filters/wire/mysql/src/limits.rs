//! Every limit on what a peer may claim, each with its reason.

/// Most bytes of a message over all its packets: the largest `max_allowed_packet` that a server takes (one
/// gigabyte). What may be *held* is bounded tighter, by who holds it.
pub const MAX_MESSAGE: usize = 0x4000_0000;

/// Most bytes of a message while a connection is set up: the servers keep at most 64 KiB of connection attributes,
/// authentication data is far smaller.
pub const MAX_HANDSHAKE: usize = 0x2_0000;

/// Most columns of a result set: the answer to COM_STMT_PREPARE counts them in 16 bits.
pub const MAX_COLUMNS: usize = 65_535;

/// Most parameters of a statement: the answer to COM_STMT_PREPARE counts them in 16 bits. Query attributes come on
/// top of them and are bounded alike.
pub const MAX_PARAMETERS: usize = 65_535;
