//! What a server answers a command with.

mod binary_row;
mod column_count;
mod column_definition;
mod eof;
mod err;
mod kind;
mod local_infile;
mod ok;
mod prepare_ok;
mod session_state;
mod text_row;

pub use binary_row::{BinaryRow, BinaryRowWriter, BinaryValue, BinaryValues};
pub use column_count::ColumnCount;
pub use column_definition::{ColumnDefinition41, ColumnFlags, ExtendedMetadata};
pub use eof::EofPacket;
pub use err::ErrPacket;
pub use kind::{FirstPacket, RowPacket};
pub use local_infile::LocalInfileRequest;
pub use ok::OkPacket;
pub use prepare_ok::StmtPrepareOk;
pub use session_state::{SessionChange, SessionState};
pub use text_row::{TextRow, TextRowWriter, TextValues};
