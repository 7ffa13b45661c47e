//! The principal, its plan and the keys. Without them no statement goes on that may concern something protected.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use fieldveil_plan::{CommentInput, PlanInput, SessionInput};
use fieldveil_sql::identity::Comment;

use super::SessionAudit;
use super::client::Client;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::fetch::{Fetch, PrincipalKey};
use crate::keyring::Keyring;
use crate::plans::Holder;
use crate::worker::Worker;

/// Why a statement cannot be checked now.
pub(crate) enum Unready {
    /// Plan or keys must be fetched first.
    Fetch(Vec<Fetch>),
    /// Plan or keys were asked for, and could not be fetched.
    Refuse(ClientError),
}

/// The plan and the keys for a statement, before the session uses them.
pub(crate) struct Policy {
    pub plan: Arc<CompiledPlan>,
    keyring: Arc<Keyring>,
    /// The session's principal, if the plan is its plan and the session is authenticated.
    of: Option<PrincipalKey>,
}

/// How the plan that the session uses now differs from the one before.
pub(crate) enum PlanChange {
    /// It is the same plan.
    No,
    /// It stores the same fields in the same way, so that the results of checks and the catalog stay valid.
    SameStorage,
    /// It differs in what is stored, so that nothing that was found under the plan before stays valid.
    Other,
}

/// What changed when the session took up plan and keys.
pub(crate) struct Renewed {
    pub plan: PlanChange,
    pub keys: bool,
}

/// Decides under which plan and with which keys the session's statements are examined.
///
/// Large: the principal, its plan, its keys and what could not be fetched change together.
pub(crate) struct PolicyGate {
    worker: Rc<RefCell<Worker>>,
    /// Who asks.
    pub input: PlanInput,
    principal: Option<PrincipalKey>,
    /// The principal whose plan and keys this callback has taken up. They do not change within a callback, nor does the clock.
    settled: Option<PrincipalKey>,
    /// Keeps the principal's plan with the worker.
    holder: Holder,
    pub plan: Option<Arc<CompiledPlan>>,
    /// The keys that the last statement was checked with. Only the worker keeps them alive, so that keys which the agent no longer
    /// has are gone here too, even if the session is silent.
    keyring: Weak<Keyring>,
    /// Whether the keysets of a new plan's tenants were asked for. They are asked for once.
    asked_for_tenants: bool,
    /// Why the last fetch of the plan and that of the keys failed.
    failures: BTreeMap<&'static str, String>,
}

impl PolicyGate {
    /// Makes that of a new connection of this client.
    pub fn new(worker: &Rc<RefCell<Worker>>, client: Client) -> Self {
        let session = SessionInput { source: client.source, ..SessionInput::default() };
        Self {
            worker: Rc::clone(worker),
            input: PlanInput { session, client_certificate: client.certificate, ..PlanInput::default() },
            principal: None,
            settled: None,
            holder: Holder::default(),
            plan: None,
            keyring: Weak::new(),
            asked_for_tenants: false,
            failures: BTreeMap::new(),
        }
    }

    /// Begins a callback.
    pub fn begin_callback(&mut self) {
        self.settled = None;
    }

    /// Whether anything is protected in this session.
    pub fn protects(&self) -> bool {
        self.plan.as_ref().is_none_or(|plan| !plan.fields.is_empty())
    }

    /// Returns the keyring that the last statement was checked with, or the one that replaced it.
    pub fn keyring(&self) -> Option<Arc<Keyring>> {
        self.keyring.upgrade().or_else(|| self.worker.borrow().latest_keyring())
    }

    /// Notes why a fetch failed.
    pub fn note_failure(&mut self, fetch: &Fetch, reason: String) {
        let part = match fetch {
            Fetch::Plan(_) => "plan",
            Fetch::Keys(_) => "keys",
        };
        self.failures.insert(part, reason);
    }

    /// Takes over who asks from now on, as the server has it.
    pub fn change_input(&mut self, input: PlanInput) {
        if input != self.input {
            self.principal = Some(PrincipalKey::new(&input));
            self.input = input;
        }
    }

    /// Takes over who asks, as the client says when it logs in.
    pub fn introduce(&mut self, protocol: &str, session: SessionInput, audit: &mut SessionAudit) {
        let source = std::mem::take(&mut self.input.session.source);
        let session = SessionInput { source, ..session };
        let client_certificate = self.input.client_certificate.take();
        self.input = {
            let worker = self.worker.borrow();
            PlanInput {
                protocol: protocol.into(),
                listener: worker.config().listener.clone(),
                workload: worker.config().workload.clone(),
                session,
                client_certificate,
                ..PlanInput::default()
            }
        };
        // What it does not know yet, it asks for first.
        let _ = self.worker.borrow().identify(&mut self.input.workload);
        self.principal = Some(PrincipalKey::new(&self.input));
        audit.principal(&self.input, None);
    }

    /// Gets plan and keys from the worker: for the session's principal or, where its plan reads comments, for the end user that
    /// the statement's comment names. What is missing must be fetched, unless a fetch just failed. The worker keeps a plan only
    /// for a client that has logged in.
    pub fn find(
        &mut self,
        comment: &Comment,
        logged_in: bool,
        now_ms: u64,
        audit: &mut SessionAudit,
    ) -> Result<Policy, Unready> {
        if let Some(policy) = self.settled_policy(comment) {
            return Ok(policy);
        }
        self.settled = None;
        let failures = std::mem::take(&mut self.failures);
        self.identify_workload(failures.get("keys"), now_ms)?;
        let Some(mut principal) = self.principal.clone() else {
            return Err(Unready::Refuse(ClientError::protocol("a statement before the session is up")));
        };
        let in_vain = failures.contains_key("plan");
        let mut plan = self.worker_plan(&principal, (logged_in, in_vain), now_ms);
        let mut by_comment = None;
        if let Some(without) = &plan {
            by_comment = self.principal_by(comment, without).map_err(Unready::Refuse)?;
        }
        if let Some(input) = &by_comment {
            principal = PrincipalKey::new(input);
            plan = self.worker.borrow_mut().plan_in_passing(&principal, &self.holder, in_vain, now_ms);
        }
        let keyring = self.worker.borrow().keyring(now_ms);
        let (plan, keyring) = match (plan, keyring) {
            (Some(plan), Some(keyring)) => (plan, keyring),
            (plan, keyring) => {
                if let (None, Some(reason)) = (&plan, failures.get("plan")) {
                    audit.principal(by_comment.as_ref().unwrap_or(&self.input), None);
                    return Err(Unready::Refuse(ClientError::unavailable(
                        "the policy (OPA)",
                        reason,
                        "Start OPA or mend the policy it serves, then connect again; the sidecar need not restart.",
                    )));
                }
                if let (None, Some(reason)) = (&keyring, failures.get("keys")) {
                    return Err(no_keys(reason));
                }
                let mut fetches = Vec::new();
                if plan.is_none() {
                    fetches.push(Fetch::Plan(principal));
                }
                if keyring.is_none() {
                    fetches.push(self.worker.borrow_mut().fetch_keys(now_ms));
                }
                return Err(Unready::Fetch(fetches));
            }
        };
        audit.principal(by_comment.as_ref().unwrap_or(&self.input), Some(&plan));
        if self.is_other(&plan) || !self.has_taken_up(&keyring) {
            if let Some(missing) = plan.missing_keys(&keyring) {
                return Err(Unready::Refuse(ClientError::no_keyset(&missing)));
            }
            if self.is_other(&plan) && !self.asked_for_tenants && plan.lacks_tenant_keys(&keyring) {
                self.asked_for_tenants = true;
                return Err(Unready::Fetch(vec![self.worker.borrow_mut().fetch_keys(now_ms)]));
            }
        }
        self.asked_for_tenants = false;
        let of = if logged_in && by_comment.is_none() { Some(principal) } else { None };
        Ok(Policy { plan, keyring, of })
    }

    /// Returns plan and keys if this callback took them up already, for the session's present principal.
    fn settled_policy(&self, comment: &Comment) -> Option<Policy> {
        let of = self.settled.as_ref()?;
        let says_nothing = matches!(comment, Comment::Nothing) && self.failures.is_empty();
        if !says_nothing || !self.principal.as_ref()?.is_copy_of(of) {
            return None;
        }
        Some(Policy { plan: self.plan.clone()?, keyring: self.keyring.upgrade()?, of: Some(of.clone()) })
    }

    /// Whether the keys are those that the last statement was checked with.
    fn has_taken_up(&self, keyring: &Arc<Keyring>) -> bool {
        std::ptr::eq(self.keyring.as_ptr(), Arc::as_ptr(keyring))
    }

    /// Uses this plan and these keys for the statements from now on.
    pub fn take_up(&mut self, Policy { plan, keyring, of }: Policy) -> Renewed {
        self.settled = of;
        let held = std::mem::replace(&mut self.keyring, Arc::downgrade(&keyring));
        let keys = !held.ptr_eq(&self.keyring);
        let change = match &self.plan {
            _ if !self.is_other(&plan) => PlanChange::No,
            Some(held) if held.stores_as(&plan) => PlanChange::SameStorage,
            _ => PlanChange::Other,
        };
        self.plan = Some(plan);
        Renewed { plan: change, keys }
    }

    /// Has the worker keep the plan from now on, because the server has let the session in. Returns false if nobody has
    /// introduced himself.
    pub fn hold_plan(&mut self, now_ms: u64) -> bool {
        let Some(principal) = &self.principal else { return false };
        self.worker.borrow_mut().plan(principal, &mut self.holder, true, now_ms);
        true
    }

    fn is_other(&self, plan: &Arc<CompiledPlan>) -> bool {
        self.plan.as_ref().is_none_or(|held| !Arc::ptr_eq(held, plan))
    }

    /// Brings the workload's own identity up to date, before anything is asked in its name.
    fn identify_workload(&mut self, failure: Option<&String>, now_ms: u64) -> Result<(), Unready> {
        let worker = self.worker.borrow_mut();
        match (worker.identify(&mut self.input.workload), failure) {
            (Some(is_another), _) => {
                if is_another && self.principal.is_some() {
                    self.principal = Some(PrincipalKey::new(&self.input));
                }
                Ok(())
            }
            (None, Some(reason)) => Err(no_keys(reason)),
            (None, None) => Err(Unready::Fetch(vec![worker.fetch_keys(now_ms)])),
        }
    }

    /// Gets the plan of the session's principal from the worker.
    fn worker_plan(
        &mut self,
        principal: &PrincipalKey,
        (logged_in, in_vain): (bool, bool),
        now_ms: u64,
    ) -> Option<Arc<CompiledPlan>> {
        let mut worker = self.worker.borrow_mut();
        match logged_in {
            false => worker.plan_in_passing(principal, &self.holder, in_vain, now_ms),
            true => worker.plan(principal, &mut self.holder, in_vain, now_ms),
        }
    }

    /// Finds the end user that a statement's comment names, where the session's plan reads comments. None stands for the
    /// session's principal.
    fn principal_by(&self, comment: &Comment, plan: &CompiledPlan) -> Result<Option<PlanInput>, ClientError> {
        if !plan.reads_comments {
            return Ok(None);
        }
        match comment {
            Comment::Nothing => Ok(None),
            Comment::Says { purpose, token } => {
                let comment = CommentInput { purpose: purpose.clone(), token: token.to_string() };
                Ok(Some(PlanInput { comment, ..self.input.clone() }))
            }
            Comment::Malformed => Err(ClientError::unsupported(
                "a comment speaks of fieldveil.purpose or fieldveil.token, and is not understood",
                "Write /*fieldveil.purpose='…',fieldveil.token='…'*/ once a statement, each value URL-encoded.",
            )),
        }
    }
}

fn no_keys(reason: &str) -> Unready {
    Unready::Refuse(ClientError::unavailable(
        "the key agent",
        reason,
        "Start the key agent or mend its keysets, then connect again; the sidecar need not restart.",
    ))
}
