//! The tags of what a client sends, protocol 3.0 and 3.2.

use crate::tag_table::tag_table;

tag_table! {
    /// Bind values to a statement's parameters, making a portal.
    BIND = b'B': "Bind";
    /// Close a statement or portal.
    CLOSE = b'C': "Close";
    /// A piece of a COPY.
    COPY_DATA = b'd': "CopyData";
    /// The COPY is complete.
    COPY_DONE = b'c': "CopyDone";
    /// The COPY failed at the client.
    COPY_FAIL = b'f': "CopyFail";
    /// Describe a statement or portal.
    DESCRIBE = b'D': "Describe";
    /// Run a portal.
    EXECUTE = b'E': "Execute";
    /// Send what is pending.
    FLUSH = b'H': "Flush";
    /// Call a function by its OID.
    FUNCTION_CALL = b'F': "FunctionCall";
    /// An answer in authentication; which one, the server's question tells.
    PASSWORD = b'p': "PasswordMessage", "SASLInitialResponse", "SASLResponse", "GSSResponse";
    /// Prepare a statement.
    PARSE = b'P': "Parse";
    /// Run SQL text at once.
    QUERY = b'Q': "Query";
    /// End of a group of extended-protocol messages.
    SYNC = b'S': "Sync";
    /// The session ends.
    TERMINATE = b'X': "Terminate";
}
