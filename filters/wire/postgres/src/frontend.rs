//! What a client sends.

mod tag;

mod bind;
mod close;
mod copy_fail;
mod describe;
mod execute;
mod flush;
mod function_call;
mod parse;
mod query;
mod sync;
mod target;
mod terminate;

pub use bind::{Bind, BindNames, BindOutline};
pub use close::Close;
pub use copy_fail::CopyFail;
pub use describe::Describe;
pub use execute::Execute;
pub use flush::Flush;
pub use function_call::FunctionCall;
pub use parse::Parse;
pub use query::Query;
pub use sync::Sync;
pub use tag::Tag;
pub use target::Target;
pub use terminate::Terminate;
