//! The tags of what a server sends, protocol 3.0 and 3.2.

use crate::tag_table::tag_table;

tag_table! {
    /// A question, or the end, of authentication.
    Authentication = b'R': "Authentication";
    /// What a CancelRequest must show.
    BackendKeyData = b'K': "BackendKeyData";
    /// Bind done.
    BindComplete = b'2': "BindComplete";
    /// Close done.
    CloseComplete = b'3': "CloseComplete";
    /// A statement is done.
    CommandComplete = b'C': "CommandComplete";
    /// A piece of a COPY.
    CopyData = b'd': "CopyData";
    /// The COPY is complete.
    CopyDone = b'c': "CopyDone";
    /// The server waits for COPY data.
    CopyInResponse = b'G': "CopyInResponse";
    /// COPY data follows.
    CopyOutResponse = b'H': "CopyOutResponse";
    /// COPY both ways (replication).
    CopyBothResponse = b'W': "CopyBothResponse";
    /// One row.
    DataRow = b'D': "DataRow";
    /// The text held no statement.
    EmptyQueryResponse = b'I': "EmptyQueryResponse";
    /// Something failed.
    ErrorResponse = b'E': "ErrorResponse";
    /// The result of a FunctionCall.
    FunctionCallResponse = b'V': "FunctionCallResponse";
    /// The server speaks a lower minor version than asked for.
    NegotiateProtocolVersion = b'v': "NegotiateProtocolVersion";
    /// What was described gives no rows.
    NoData = b'n': "NoData";
    /// A warning or note.
    NoticeResponse = b'N': "NoticeResponse";
    /// A NOTIFY of another session.
    NotificationResponse = b'A': "NotificationResponse";
    /// The parameters' types.
    ParameterDescription = b't': "ParameterDescription";
    /// A setting's value now.
    ParameterStatus = b'S': "ParameterStatus";
    /// Parse done.
    ParseComplete = b'1': "ParseComplete";
    /// Execute stopped at its row limit.
    PortalSuspended = b's': "PortalSuspended";
    /// The server waits for the next request.
    ReadyForQuery = b'Z': "ReadyForQuery";
    /// The columns of the rows to come.
    RowDescription = b'T': "RowDescription";
}
