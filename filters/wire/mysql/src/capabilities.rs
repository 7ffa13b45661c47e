//! What client and server agree on while the connection is set up.

use crate::flags::flags;

flags! {
    /// Capability flags. The lower 32 bits are those of the protocol, the upper 32 MariaDB's extended ones, which
    /// travel in a field of their own while [`Capabilities::LONG_PASSWORD`] is unset.
    Capabilities: u64;
    /// Long passwords. In MariaDB CLIENT_MYSQL: unset by a peer that knows the extended capabilities.
    LONG_PASSWORD = 0: "CLIENT_LONG_PASSWORD";
    /// Affected rows count the rows found, not those changed.
    FOUND_ROWS = 1: "CLIENT_FOUND_ROWS";
    /// Longer flags in column definitions.
    LONG_FLAG = 2: "CLIENT_LONG_FLAG";
    /// The handshake response names a database.
    CONNECT_WITH_DB = 3: "CLIENT_CONNECT_WITH_DB";
    /// `database.table.column` is not permitted.
    NO_SCHEMA = 4: "CLIENT_NO_SCHEMA";
    /// Compression by zlib.
    COMPRESS = 5: "CLIENT_COMPRESS";
    /// ODBC behaviour; of no effect.
    ODBC = 6: "CLIENT_ODBC";
    /// LOAD DATA LOCAL.
    LOCAL_FILES = 7: "CLIENT_LOCAL_FILES";
    /// The parser ignores spaces before `(`.
    IGNORE_SPACE = 8: "CLIENT_IGNORE_SPACE";
    /// The protocol of 4.1, the only one that is read here.
    PROTOCOL_41 = 9: "CLIENT_PROTOCOL_41";
    /// wait_timeout is interactive_timeout.
    INTERACTIVE = 10: "CLIENT_INTERACTIVE";
    /// TLS after an SSLRequest.
    SSL = 11: "CLIENT_SSL";
    /// The client library takes no SIGPIPE; of no effect.
    IGNORE_SIGPIPE = 12: "CLIENT_IGNORE_SIGPIPE";
    /// Status flags tell of transactions.
    TRANSACTIONS = 13: "CLIENT_TRANSACTIONS";
    /// Unused.
    RESERVED = 14: "CLIENT_RESERVED";
    /// Authentication data of 4.1 (CLIENT_RESERVED2 in MySQL 8).
    SECURE_CONNECTION = 15: "CLIENT_SECURE_CONNECTION";
    /// Several statements in one COM_QUERY.
    MULTI_STATEMENTS = 16: "CLIENT_MULTI_STATEMENTS";
    /// Several result sets in answer to COM_QUERY.
    MULTI_RESULTS = 17: "CLIENT_MULTI_RESULTS";
    /// Several result sets in answer to COM_STMT_EXECUTE.
    PS_MULTI_RESULTS = 18: "CLIENT_PS_MULTI_RESULTS";
    /// Authentication plugins.
    PLUGIN_AUTH = 19: "CLIENT_PLUGIN_AUTH";
    /// Connection attributes in the handshake response.
    CONNECT_ATTRS = 20: "CLIENT_CONNECT_ATTRS";
    /// Authentication data of the handshake response is a length-encoded string.
    PLUGIN_AUTH_LENENC_CLIENT_DATA = 21: "CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA";
    /// The client can have its expired password changed.
    CAN_HANDLE_EXPIRED_PASSWORDS = 22: "CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS";
    /// OK packets tell what changed in the session.
    SESSION_TRACK = 23: "CLIENT_SESSION_TRACK";
    /// OK packets end result sets, not EOF packets.
    DEPRECATE_EOF = 24: "CLIENT_DEPRECATE_EOF";
    /// Result sets may come without column definitions.
    OPTIONAL_RESULTSET_METADATA = 25: "CLIENT_OPTIONAL_RESULTSET_METADATA";
    /// Compression by zstd.
    ZSTD_COMPRESSION_ALGORITHM = 26: "CLIENT_ZSTD_COMPRESSION_ALGORITHM";
    /// Commands carry query attributes.
    QUERY_ATTRIBUTES = 27: "CLIENT_QUERY_ATTRIBUTES";
    /// Several authentication factors.
    MULTI_FACTOR_AUTHENTICATION = 28: "MULTI_FACTOR_AUTHENTICATION";
    /// Room for more capabilities (MySQL); an obsolete form of progress reports (MariaDB).
    CAPABILITY_EXTENSION = 29: "CLIENT_CAPABILITY_EXTENSION";
    /// The client library checks the server's certificate; of no effect on the wire.
    SSL_VERIFY_SERVER_CERT = 30: "CLIENT_SSL_VERIFY_SERVER_CERT";
    /// The client library keeps its options; of no effect on the wire.
    REMEMBER_OPTIONS = 31: "CLIENT_REMEMBER_OPTIONS";
    /// Progress reports in ERR packets of code 0xFFFF.
    MARIADB_PROGRESS = 32: "MARIADB_CLIENT_PROGRESS";
    /// COM_MULTI, which no released server offers.
    MARIADB_COM_MULTI = 33: "MARIADB_CLIENT_COM_MULTI";
    /// COM_STMT_BULK_EXECUTE.
    MARIADB_STMT_BULK_OPERATIONS = 34: "MARIADB_CLIENT_STMT_BULK_OPERATIONS";
    /// Column definitions carry type and format names.
    MARIADB_EXTENDED_METADATA = 35: "MARIADB_CLIENT_EXTENDED_METADATA";
    /// Result sets of prepared statements may come without column definitions.
    MARIADB_CACHE_METADATA = 36: "MARIADB_CLIENT_CACHE_METADATA";
    /// COM_STMT_BULK_EXECUTE is answered by a result for each of its rows.
    MARIADB_BULK_UNIT_RESULTS = 37: "MARIADB_CLIENT_BULK_UNIT_RESULTS";
}

impl Capabilities {
    /// The flags of the protocol's own 32 bits and of MariaDB's extended 32.
    pub const fn from_words(low: u32, extended: u32) -> Self {
        Self::from_bits(low as u64 | (extended as u64) << 32)
    }

    /// The protocol's own 32 bits.
    pub const fn low(self) -> u32 {
        // The cut is what is asked for.
        self.bits() as u32
    }

    /// MariaDB's extended 32 bits.
    pub const fn extended(self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Whether MariaDB's extended capabilities have their place in the handshake.
    pub const fn has_extended_field(self) -> bool {
        !self.has(Self::LONG_PASSWORD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_one_bit_of_its_own() {
        let mut seen = Capabilities::NONE;
        for (flag, name) in Capabilities::ALL {
            assert_eq!(flag.bits().count_ones(), 1, "{name}");
            assert!(!seen.has_any(*flag), "{name}");
            seen = seen.with(*flag);
        }
    }

    #[test]
    fn words_come_back() {
        let flags = Capabilities::from_words(0x8000_0001, 0x4);
        assert_eq!((flags.low(), flags.extended()), (0x8000_0001, 4));
        assert!(flags.has(Capabilities::MARIADB_STMT_BULK_OPERATIONS) && !flags.has_extended_field());
    }
}
