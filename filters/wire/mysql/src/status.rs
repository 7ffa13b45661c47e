//! What OK and EOF packets say of the session.

use crate::flags::flags;

flags! {
    /// Server status flags.
    Status: u16;
    /// A transaction is open.
    IN_TRANS = 0: "SERVER_STATUS_IN_TRANS";
    /// Autocommit is on.
    AUTOCOMMIT = 1: "SERVER_STATUS_AUTOCOMMIT";
    /// Another result follows.
    MORE_RESULTS_EXISTS = 3: "SERVER_MORE_RESULTS_EXISTS";
    /// The query used no good index.
    NO_GOOD_INDEX_USED = 4: "SERVER_QUERY_NO_GOOD_INDEX_USED";
    /// The query used no index.
    NO_INDEX_USED = 5: "SERVER_QUERY_NO_INDEX_USED";
    /// A cursor was opened: rows come by COM_STMT_FETCH.
    CURSOR_EXISTS = 6: "SERVER_STATUS_CURSOR_EXISTS";
    /// The cursor's last row has been sent.
    LAST_ROW_SENT = 7: "SERVER_STATUS_LAST_ROW_SENT";
    /// The database in use was dropped.
    DB_DROPPED = 8: "SERVER_STATUS_DB_DROPPED";
    /// A backslash is no escape in string literals.
    NO_BACKSLASH_ESCAPES = 9: "SERVER_STATUS_NO_BACKSLASH_ESCAPES";
    /// The statement was prepared anew and its result has other columns.
    METADATA_CHANGED = 10: "SERVER_STATUS_METADATA_CHANGED";
    /// The query was slow.
    QUERY_WAS_SLOW = 11: "SERVER_QUERY_WAS_SLOW";
    /// The result set holds the output parameters of a routine.
    PS_OUT_PARAMS = 12: "SERVER_PS_OUT_PARAMS";
    /// The open transaction is read-only.
    IN_TRANS_READONLY = 13: "SERVER_STATUS_IN_TRANS_READONLY";
    /// The packet tells what changed in the session.
    SESSION_STATE_CHANGED = 14: "SERVER_SESSION_STATE_CHANGED";
    /// Double quotes are identifiers' (MariaDB).
    ANSI_QUOTES = 15: "SERVER_STATUS_ANSI_QUOTES";
}
