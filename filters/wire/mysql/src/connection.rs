//! What passes before the first command: greeting, answer, authentication.

mod auth_more_data;
mod auth_next_factor;
mod auth_switch_request;
mod connect_attributes;
mod handshake_response;
mod handshake_v10;
mod ssl_request;

pub use auth_more_data::AuthMoreData;
pub use auth_next_factor::AuthNextFactor;
pub use auth_switch_request::AuthSwitchRequest;
pub use connect_attributes::ConnectAttributes;
pub use handshake_response::{AuthForm, ClientGreeting, HandshakeResponse41};
pub use handshake_v10::HandshakeV10;
pub use ssl_request::SslRequest;
