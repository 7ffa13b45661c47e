//! The settings of the session by which its statements are read: what the client asked for when it connected, and what the
//! server reports since.

use fieldveil_postgres_wire::backend::ParameterStatus;

use crate::client_error::ClientError;
use crate::database::Core;

/// These settings.
pub struct Settings {
    /// Whether it is a connection for logical replication, which is allowed only under a plan without fields.
    pub replicates: bool,
    utf8: bool,
    standard_strings: bool,
    search_path: Vec<u8>,
}

impl Default for Settings {
    /// Returns the settings of a server that has reported nothing yet.
    fn default() -> Self {
        Self { replicates: false, utf8: true, standard_strings: true, search_path: Vec::new() }
    }
}

impl Settings {
    /// Takes over a setting that the server reports, and marks as out of date what depended on its old value.
    pub fn report(&mut self, status: &ParameterStatus<'_>, core: &mut Core) {
        match status.name {
            b"client_encoding" => {
                self.utf8 = status.value.eq_ignore_ascii_case(b"UTF8");
                core.catalog.current = None;
            }
            b"standard_conforming_strings" => self.standard_strings = status.value == b"on",
            b"application_name" if status.value != core.policy.input.session.application_name.as_bytes() => {
                core.identity.may_change();
            }
            b"session_authorization" => core.identity.may_change(),
            b"search_path" if status.value != self.search_path => {
                self.search_path = status.value.to_vec();
                core.catalog.current = None;
            }
            _ => {}
        }
    }

    /// Refuses statements that the filter would read in another way than the server.
    pub fn readable(&self) -> Result<(), ClientError> {
        let refuse = |what, remedy| Err(ClientError::unsupported(what, remedy));
        if !self.utf8 {
            return refuse(
                "statements cannot be read: client_encoding is not UTF8",
                "Set client_encoding to UTF8.",
            );
        }
        if !self.standard_strings {
            let what = "statements cannot be read: standard_conforming_strings is off";
            return refuse(what, "Set standard_conforming_strings to on.");
        }
        Ok(())
    }

    /// Returns the text if the server reads it as it would under the settings that [`Self::readable`] demands. ASCII is the
    /// same in each encoding, and without a backslash a string ends where it seems to.
    pub fn read_alike<'t>(&self, text: &'t [u8]) -> Result<&'t str, ClientError> {
        let alike = (self.utf8 || text.is_ascii()) && (self.standard_strings || !text.contains(&b'\\'));
        if !alike {
            self.readable()?;
        }
        std::str::from_utf8(text).map_err(|_| {
            ClientError::unsupported("the statement is not UTF-8 text", "Use client_encoding UTF8.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn a_text_is_read_if_encoding_and_backslashes_cannot_change_its_meaning() {
        let usual = Settings::default();
        assert!(usual.readable().is_ok());
        assert_eq!(usual.read_alike("sélect '\\'".as_bytes()).unwrap(), "sélect '\\'");
        assert!(usual.read_alike(b"\xff").is_err());

        let latin1 = Settings { utf8: false, ..Settings::default() };
        assert!(latin1.readable().is_err());
        assert!(latin1.read_alike(b"SELECT 1").is_ok());
        assert!(latin1.read_alike("sélect".as_bytes()).is_err());

        let backslashes = Settings { standard_strings: false, ..Settings::default() };
        assert!(backslashes.readable().is_err());
        assert!(backslashes.read_alike(b"SELECT 'a'").is_ok());
        assert!(backslashes.read_alike(b"SELECT '\\'").is_err());
    }
}
