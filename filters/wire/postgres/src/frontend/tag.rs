//! The tags of what a client sends, protocol 3.0 and 3.2.

use crate::tag_table::tag_table;

tag_table! {
    /// Bind values to a statement's parameters, making a portal.
    Bind = b'B': "Bind";
    /// Close a statement or portal.
    Close = b'C': "Close";
    /// A piece of a COPY.
    CopyData = b'd': "CopyData";
    /// The COPY is complete.
    CopyDone = b'c': "CopyDone";
    /// The COPY failed at the client.
    CopyFail = b'f': "CopyFail";
    /// Describe a statement or portal.
    Describe = b'D': "Describe";
    /// Run a portal.
    Execute = b'E': "Execute";
    /// Send what is pending.
    Flush = b'H': "Flush";
    /// Call a function by its OID.
    FunctionCall = b'F': "FunctionCall";
    /// An answer in authentication; which one, the server's question tells.
    Password = b'p': "PasswordMessage", "SASLInitialResponse", "SASLResponse", "GSSResponse";
    /// Prepare a statement.
    Parse = b'P': "Parse";
    /// Run SQL text at once.
    Query = b'Q': "Query";
    /// End of a group of extended-protocol messages.
    Sync = b'S': "Sync";
    /// The session ends.
    Terminate = b'X': "Terminate";
}
