//! The first packets: requests for encryption, CancelRequests, and the StartupMessage.

use fieldveil_plan::SessionInput;
use fieldveil_postgres_wire::startup::{FirstPacket, StartupMessage};
use fieldveil_sql::MAX_NAME_BYTES;

use super::Phase;
use super::awaiting_policy::AwaitingPolicy;
use super::encryption::EncryptionRequests;
use super::refused_login::RefusedLogin;
use crate::client_error::ClientError;
use crate::database::{CallbackOutput, Core, Step};
use crate::postgres::end_user::identify_startup;
use crate::postgres::settings::replication_refused;

fn cut_name() -> ClientError {
    ClientError::unsupported(
        "the name of the user or of the database is longer than the 63 bytes that the server reads of it",
        "Log in by the name as the server has it.",
    )
}

/// A connection whose client has not sent its StartupMessage.
#[derive(Default)]
pub struct Startup {
    pub encryption: EncryptionRequests,
}

impl Startup {
    /// Reads the client's next packet.
    pub fn read_client(mut self, rest: &[u8], core: &mut Core, out: &mut CallbackOutput) -> (Phase, Step) {
        let (packet, taken) = match FirstPacket::parse(rest) {
            Ok(Some(found)) => found,
            Ok(None) => return (Phase::Startup(self), Step::More),
            Err(error) => {
                let error = ClientError::protocol(&error.to_string());
                let refused = RefusedLogin::before_startup(self.encryption, error, core, out);
                return (refused, Step::Took(rest.len()));
            }
        };
        let bytes = rest.get(..taken).unwrap_or_default();
        let phase = match packet {
            FirstPacket::SslRequest | FirstPacket::GssEncRequest => {
                out.to_server.extend_from_slice(bytes);
                self.encryption.note();
                Phase::Startup(self)
            }
            FirstPacket::CancelRequest => {
                out.to_server.extend_from_slice(bytes);
                Phase::Passing
            }
            FirstPacket::Startup(startup) => self.introduce(startup, bytes, core, out),
        };
        (phase, Step::Took(taken))
    }

    /// Takes over from the StartupMessage who the client is.
    fn introduce(
        self,
        mut startup: StartupMessage,
        bytes: &[u8],
        core: &mut Core,
        out: &mut CallbackOutput,
    ) -> Phase {
        let parameter = |name| startup.parameter(name).unwrap_or_default().to_owned();
        let user = parameter("user");
        let database = startup.parameter("database").filter(|d| !d.is_empty()).unwrap_or(&user).to_owned();
        let application_name = parameter("application_name");
        let session =
            SessionInput { role: user.clone(), user, database, application_name, ..SessionInput::default() };
        // The server cuts longer names: another user, or another database, would be meant than the policy is asked about.
        let is_cut = [&session.user, &session.database].into_iter().any(|name| name.len() > MAX_NAME_BYTES);
        core.policy.introduce("postgres", session, &mut core.audit);
        let accepted = if is_cut { Err(cut_name()) } else { accept(&mut startup, bytes, core) };
        match accepted {
            Ok((message, replicates)) => {
                Box::new(AwaitingPolicy::new(self.encryption, message, replicates)).admit(core, out)
            }
            Err(error) => RefusedLogin::before_startup(self.encryption, error, core, out),
        }
    }
}

/// Returns the StartupMessage as the server is to get it, and whether it asks for logical replication.
fn accept(
    startup: &mut StartupMessage,
    bytes: &[u8],
    core: &mut Core,
) -> Result<(Vec<u8>, bool), ClientError> {
    let replaced = identify_startup(core, startup)?;
    let replicates = match Replication::of(startup) {
        Replication::No => false,
        Replication::Logical => true,
        // Physical replication copies the whole server, which no plan covers.
        Replication::Physical => return Err(replication_refused(PHYSICAL)),
    };
    Ok((replaced.unwrap_or_else(|| bytes.to_vec()), replicates))
}

/// The kind of replication that a StartupMessage asks for.
enum Replication {
    No,
    /// Logical replication, of the database that it names.
    Logical,
    /// Physical replication, of the whole server.
    Physical,
}

impl Replication {
    /// Reads the parameter as the server does: as a boolean in any spelling, or `database`. The server would refuse anything
    /// else too.
    fn of(startup: &StartupMessage) -> Self {
        let Some(mode) = startup.parameter("replication") else { return Self::No };
        let word = mode.to_ascii_lowercase();
        let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
        if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0" {
            Self::No
        } else if mode == "database" {
            Self::Logical
        } else {
            Self::Physical
        }
    }
}

const PHYSICAL: &str =
    "physical replication copies the whole server past the field policy and is not supported";
