//! The tags of what a server sends, protocol 3.0 and 3.2.

use crate::tag_table::tag_table;

tag_table! {
    /// A question, or the end, of authentication.
    AUTHENTICATION = b'R': "Authentication";
    /// What a CancelRequest must show.
    BACKEND_KEY_DATA = b'K': "BackendKeyData";
    /// Bind done.
    BIND_COMPLETE = b'2': "BindComplete";
    /// Close done.
    CLOSE_COMPLETE = b'3': "CloseComplete";
    /// A statement is done.
    COMMAND_COMPLETE = b'C': "CommandComplete";
    /// A piece of a COPY.
    COPY_DATA = b'd': "CopyData";
    /// The COPY is complete.
    COPY_DONE = b'c': "CopyDone";
    /// The server waits for COPY data.
    COPY_IN_RESPONSE = b'G': "CopyInResponse";
    /// COPY data follows.
    COPY_OUT_RESPONSE = b'H': "CopyOutResponse";
    /// COPY both ways (replication).
    COPY_BOTH_RESPONSE = b'W': "CopyBothResponse";
    /// One row.
    DATA_ROW = b'D': "DataRow";
    /// The text held no statement.
    EMPTY_QUERY_RESPONSE = b'I': "EmptyQueryResponse";
    /// Something failed.
    ERROR_RESPONSE = b'E': "ErrorResponse";
    /// The result of a FunctionCall.
    FUNCTION_CALL_RESPONSE = b'V': "FunctionCallResponse";
    /// The server speaks a lower minor version than asked for.
    NEGOTIATE_PROTOCOL_VERSION = b'v': "NegotiateProtocolVersion";
    /// What was described gives no rows.
    NO_DATA = b'n': "NoData";
    /// A warning or note.
    NOTICE_RESPONSE = b'N': "NoticeResponse";
    /// A NOTIFY of another session.
    NOTIFICATION_RESPONSE = b'A': "NotificationResponse";
    /// The parameters' types.
    PARAMETER_DESCRIPTION = b't': "ParameterDescription";
    /// A setting's value now.
    PARAMETER_STATUS = b'S': "ParameterStatus";
    /// Parse done.
    PARSE_COMPLETE = b'1': "ParseComplete";
    /// Execute stopped at its row limit.
    PORTAL_SUSPENDED = b's': "PortalSuspended";
    /// The server waits for the next request.
    READY_FOR_QUERY = b'Z': "ReadyForQuery";
    /// The columns of the rows to come.
    ROW_DESCRIPTION = b'T': "RowDescription";
}
