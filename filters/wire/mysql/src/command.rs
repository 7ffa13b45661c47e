//! What a client sends once it is connected: one command, then the server's answer.

mod change_user;
mod code;
mod field_list;
mod init_db;
mod parameter;
mod query;
mod reset_connection;
mod set_option;
mod stmt_bulk_execute;
mod stmt_close;
mod stmt_execute;
mod stmt_fetch;
mod stmt_prepare;
mod stmt_reset;
mod stmt_send_long_data;

pub use change_user::ChangeUser;
pub use code::{CommandCode, ResponseKind};
pub use field_list::FieldList;
pub use init_db::InitDb;
pub use parameter::{Parameter, ParameterType, ParameterValue};
pub use query::{NO_ATTRIBUTES, Query};
pub use reset_connection::ResetConnection;
pub use set_option::SetOption;
pub use stmt_bulk_execute::StmtBulkExecute;
pub use stmt_close::StmtClose;
pub use stmt_execute::{ExecuteContext, StmtExecute};
pub use stmt_fetch::StmtFetch;
pub use stmt_prepare::StmtPrepare;
pub use stmt_reset::StmtReset;
pub use stmt_send_long_data::StmtSendLongData;

/// The number that stands for the statement prepared last (MariaDB): a client sends it before it knows the number.
pub const LAST_STATEMENT: u32 = u32::MAX;
