//! The StartupMessage waits for plan and keys.

use fieldveil_sql::identity::Comment;

use super::Phase;
use super::authenticating::Authenticating;
use super::encryption::EncryptionRequests;
use super::refused_login::RefusedLogin;
use crate::database::{CallbackOutput, Core, Unready};
use crate::postgres::settings::Settings;

/// A login whose StartupMessage is held.
pub struct AwaitingPolicy {
    pub encryption: EncryptionRequests,
    /// The StartupMessage, as the server is to get it.
    message: Vec<u8>,
    settings: Settings,
}

impl AwaitingPolicy {
    /// Holds the StartupMessage.
    pub fn new(encryption: EncryptionRequests, message: Vec<u8>, replicates: bool) -> Self {
        Self { encryption, message, settings: Settings::new(replicates) }
    }

    /// Forwards the StartupMessage if plan and keys are known. If not, they are fetched once; after that the session is refused.
    pub fn admit(self: Box<Self>, core: &mut Core, out: &mut CallbackOutput) -> Phase {
        match self.take_up_policy(core) {
            Ok(()) => {
                out.to_server.extend_from_slice(&self.message);
                let Self { encryption, settings, .. } = *self;
                Phase::Authenticating(Box::new(Authenticating::new(encryption, settings)))
            }
            Err(Unready::Fetch(fetches)) => {
                core.wait_for(fetches, out);
                Phase::AwaitingPolicy(self)
            }
            Err(Unready::Refuse(error)) => RefusedLogin::before_startup(self.encryption, error, core, out),
        }
    }

    /// Uses the plan and the keys of now. The error says what is missing.
    fn take_up_policy(&self, core: &mut Core) -> Result<(), Unready> {
        let policy = core.policy.find(&Comment::Nothing, false, core.now_ms, &mut core.audit)?;
        self.settings.check_replication(&policy.plan).map_err(Unready::Refuse)?;
        core.policy.take_up(policy);
        Ok(())
    }

    /// Counts the bytes of the StartupMessage.
    pub fn held(&self) -> usize {
        self.message.len()
    }
}
