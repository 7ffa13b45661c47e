//! FunctionCall: a function of the server's is called without a statement.

use crate::WireError;
use crate::read::Reader;

const MESSAGE: &str = "FunctionCall";

/// FunctionCall, without its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCall {
    /// The OID of the function.
    pub function: u32,
}

impl FunctionCall {
    /// Reads the begin of a body.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        Ok(Self { function: Reader::new(MESSAGE, body).u32("function")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_is_read_and_its_arguments_are_not() {
        assert_eq!(FunctionCall::parse(b"\0\0\x03\xb8\0\0"), Ok(FunctionCall { function: 952 }));
        assert!(FunctionCall::parse(b"\0\0\x03").is_err());
    }
}
