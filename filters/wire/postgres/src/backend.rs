//! What a server sends.

mod tag;

mod authentication;
mod authentication_sasl;
mod command_complete;
mod copy_in_response;
mod data_row;
mod error_response;
mod parameter_description;
mod parameter_status;
mod ready_for_query;
mod row_description;

pub use authentication::Authentication;
pub use authentication_sasl::AuthenticationSasl;
pub use command_complete::CommandComplete;
pub use copy_in_response::CopyInResponse;
pub use data_row::{DataRow, DataRowWriter, Values};
pub use error_response::ErrorResponse;
pub use parameter_description::ParameterDescription;
pub use parameter_status::ParameterStatus;
pub use ready_for_query::{ReadyForQuery, TransactionStatus};
pub use row_description::{FieldDescription, RowDescription};
pub use tag::Tag;
