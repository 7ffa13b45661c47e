//! The first byte of a command, and how each is answered.

/// How a server answers a command that it doesn't refuse; any of them may be answered by an ERR packet, unless
/// nothing is answered at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseKind {
    /// Nothing.
    None,
    /// The connection ends, sometimes after an OK packet.
    End,
    /// An OK packet.
    Ok,
    /// An EOF packet, which MariaDB's newer servers and MySQL replace by an OK packet with CLIENT_DEPRECATE_EOF.
    Eof,
    /// One result or several: each an OK packet, a result set, or a LOCAL INFILE request and then an OK packet.
    Results,
    /// A prepared statement's id, then the definitions of its parameters and of its columns.
    Prepared,
    /// Rows of a cursor, as in a result set after its definitions.
    Rows,
    /// Column definitions up to an EOF packet (or the OK packet in its place).
    Definitions,
    /// A text without a first byte of its own.
    Text,
    /// Authentication anew, as after the handshake response.
    Authentication,
    /// A stream that does not end before the connection does, or messages of their own.
    Special,
}

macro_rules! commands {
    ($($(#[$doc:meta])* $variant:ident = $byte:literal: $name:literal, $answer:ident;)+) => {
        /// The first byte of a command.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum CommandCode {
            $($(#[$doc])* $variant,)+
        }

        impl CommandCode {
            /// Every command with its byte.
            pub const ALL: &[(Self, u8)] = &[$((Self::$variant, $byte)),+];

            /// The command of this byte. Any other byte is no command.
            pub const fn from_byte(byte: u8) -> Option<Self> {
                match byte {
                    $($byte => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The command's byte.
            pub const fn byte(self) -> u8 {
                match self {
                    $(Self::$variant => $byte,)+
                }
            }

            /// The command's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// How it is answered.
            pub const fn answer(self) -> ResponseKind {
                match self {
                    $(Self::$variant => ResponseKind::$answer,)+
                }
            }
        }
    };
}

commands! {
    /// Of the server's own use; refused by it.
    Sleep = 0x00: "COM_SLEEP", Ok;
    /// The client ends the connection.
    Quit = 0x01: "COM_QUIT", End;
    /// USE.
    InitDb = 0x02: "COM_INIT_DB", Ok;
    /// Statements as text.
    Query = 0x03: "COM_QUERY", Results;
    /// The columns of a table.
    FieldList = 0x04: "COM_FIELD_LIST", Definitions;
    /// CREATE DATABASE; refused by the servers.
    CreateDb = 0x05: "COM_CREATE_DB", Ok;
    /// DROP DATABASE; refused by the servers.
    DropDb = 0x06: "COM_DROP_DB", Ok;
    /// FLUSH.
    Refresh = 0x07: "COM_REFRESH", Ok;
    /// SHUTDOWN.
    Shutdown = 0x08: "COM_SHUTDOWN", Eof;
    /// A line on the server's state.
    Statistics = 0x09: "COM_STATISTICS", Text;
    /// SHOW PROCESSLIST.
    ProcessInfo = 0x0a: "COM_PROCESS_INFO", Results;
    /// Of the server's own use; refused by it.
    Connect = 0x0b: "COM_CONNECT", Ok;
    /// KILL.
    ProcessKill = 0x0c: "COM_PROCESS_KILL", Ok;
    /// Has the server write of itself to its log.
    Debug = 0x0d: "COM_DEBUG", Eof;
    /// Is the server alive?
    Ping = 0x0e: "COM_PING", Ok;
    /// Of the server's own use; refused by it.
    Time = 0x0f: "COM_TIME", Ok;
    /// Of the server's own use; refused by it.
    DelayedInsert = 0x10: "COM_DELAYED_INSERT", Ok;
    /// Another user on the same connection.
    ChangeUser = 0x11: "COM_CHANGE_USER", Authentication;
    /// Replication.
    BinlogDump = 0x12: "COM_BINLOG_DUMP", Special;
    /// Replication of before 4.1; refused by the servers.
    TableDump = 0x13: "COM_TABLE_DUMP", Special;
    /// Of the server's own use; refused by it.
    ConnectOut = 0x14: "COM_CONNECT_OUT", Ok;
    /// Replication: a replica names itself.
    RegisterReplica = 0x15: "COM_REGISTER_SLAVE", Ok;
    /// Prepares a statement.
    StmtPrepare = 0x16: "COM_STMT_PREPARE", Prepared;
    /// Executes a prepared statement.
    StmtExecute = 0x17: "COM_STMT_EXECUTE", Results;
    /// A part of a parameter's value, ahead of the execution.
    StmtSendLongData = 0x18: "COM_STMT_SEND_LONG_DATA", None;
    /// Forgets a prepared statement.
    StmtClose = 0x19: "COM_STMT_CLOSE", None;
    /// Forgets the values sent ahead and closes the cursor.
    StmtReset = 0x1a: "COM_STMT_RESET", Ok;
    /// Several statements in one COM_QUERY on or off.
    SetOption = 0x1b: "COM_SET_OPTION", Eof;
    /// Rows of a cursor.
    StmtFetch = 0x1c: "COM_STMT_FETCH", Rows;
    /// Of the server's own use; refused by it.
    Daemon = 0x1d: "COM_DAEMON", Ok;
    /// Replication by GTID.
    BinlogDumpGtid = 0x1e: "COM_BINLOG_DUMP_GTID", Special;
    /// The session as it was after authentication.
    ResetConnection = 0x1f: "COM_RESET_CONNECTION", Ok;
    /// Copies the server (MySQL).
    Clone = 0x20: "COM_CLONE", Special;
    /// Replication within a group (MySQL).
    SubscribeGroupReplicationStream = 0x21: "COM_SUBSCRIBE_GROUP_REPLICATION_STREAM", Special;
    /// Executes a prepared statement for several rows of parameters (MariaDB).
    StmtBulkExecute = 0xfa: "COM_STMT_BULK_EXECUTE", Results;
    /// Of the server's own use; refused by it (MariaDB).
    ReplicaWorker = 0xfb: "COM_SLAVE_WORKER", Ok;
    /// Of the server's own use; refused by it (MariaDB).
    ReplicaIo = 0xfc: "COM_SLAVE_IO", Ok;
    /// Of the server's own use; refused by it (MariaDB).
    ReplicaSql = 0xfd: "COM_SLAVE_SQL", Ok;
    /// Several commands in one (MariaDB, in no release).
    Multi = 0xfe: "COM_MULTI", Special;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_but_a_command_is_known() {
        for byte in 0..=u8::MAX {
            let known = CommandCode::ALL.iter().filter(|(_, known)| *known == byte).count();
            assert_eq!(CommandCode::from_byte(byte).is_some(), known == 1);
            assert!(CommandCode::from_byte(byte).is_none_or(|code| code.byte() == byte));
        }
    }
}
