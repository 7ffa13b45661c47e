//! The principal, its plan and the keys. No statement is examined without them.

use std::rc::Rc;

use fieldveil_plan::{CommentInput, PlanInput, SessionInput};
use fieldveil_sql::identity::Comment;

use super::Core;
use crate::client_error::ClientError;
use crate::fetch::{Fetch, PrincipalKey};
use crate::field::CompiledPlan;
use crate::keyring::Keyring;

/// Why a statement cannot be checked now.
pub(crate) enum Unready {
    /// Plan or keys must be fetched first.
    Fetch(Vec<Fetch>),
    /// Plan or keys were asked for, and could not be fetched.
    Refuse(ClientError),
}

/// The plan and the keys for a statement, before the session uses them.
pub(crate) struct Policy {
    pub plan: Rc<CompiledPlan>,
    keyring: Rc<Keyring>,
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

impl Core {
    /// Takes over who asks, as the client says when it logs in.
    pub fn introduce(&mut self, protocol: &str, session: SessionInput) {
        let session = SessionInput { source: self.source.clone(), ..session };
        self.input = {
            let worker = self.worker.borrow();
            PlanInput {
                protocol: protocol.into(),
                listener: worker.config.listener.clone(),
                workload: worker.config.workload.clone(),
                session,
                ..PlanInput::default()
            }
        };
        // What it does not know yet, it asks for first.
        let _ = self.worker.borrow().identify(&mut self.input.workload);
        self.principal = Some(PrincipalKey::new(&self.input));
        self.audit_principal(None, None);
    }

    /// Gets plan and keys from the worker: for the session's principal or, where its plan reads comments, for the end user that
    /// the statement's comment names. What is missing must be fetched, unless a fetch just failed. The worker keeps a plan only
    /// for a client that has logged in.
    pub fn policy(&mut self, comment: &Comment, logged_in: bool) -> Result<Policy, Unready> {
        if let Some(policy) = self.settled_policy(comment) {
            return Ok(policy);
        }
        self.settled = None;
        let failures = std::mem::take(&mut self.fetch_failures);
        self.identify_workload(failures.get("keys"))?;
        let Some(mut principal) = self.principal.clone() else {
            return Err(Unready::Refuse(ClientError::protocol("a statement before the session is up")));
        };
        let in_vain = failures.contains_key("plan");
        let mut plan = self.worker_plan(&principal, logged_in, in_vain);
        let mut by_comment = None;
        if let Some(without) = &plan {
            by_comment = self.principal_by(comment, without).map_err(Unready::Refuse)?;
        }
        if let Some(input) = &by_comment {
            principal = PrincipalKey::new(input);
            plan = self.worker.borrow_mut().plan_in_passing(&principal, &self.holder, in_vain, self.now_ms);
        }
        let keyring = self.worker.borrow().keyring(self.now_ms);
        let (plan, keyring) = match (plan, keyring) {
            (Some(plan), Some(keyring)) => (plan, keyring),
            (plan, keyring) => {
                if let (None, Some(reason)) = (&plan, failures.get("plan")) {
                    self.audit_principal(by_comment.as_ref(), None);
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
                    fetches.push(self.worker.borrow_mut().fetch_keys(self.now_ms));
                }
                return Err(Unready::Fetch(fetches));
            }
        };
        self.audit_principal(by_comment.as_ref(), Some(&plan));
        if self.is_other(&plan) || !self.has_taken_up(&keyring) {
            if let Some(missing) = plan.missing_keys(&keyring) {
                return Err(Unready::Refuse(ClientError::no_keyset(&missing)));
            }
            if self.is_other(&plan) && !self.asked_for_tenants && plan.lacks_tenant_keys(&keyring) {
                self.asked_for_tenants = true;
                return Err(Unready::Fetch(vec![self.worker.borrow_mut().fetch_keys(self.now_ms)]));
            }
        }
        self.asked_for_tenants = false;
        let of = if logged_in && by_comment.is_none() { Some(principal) } else { None };
        Ok(Policy { plan, keyring, of })
    }

    /// Returns plan and keys if this callback took them up already, for the session's present principal.
    fn settled_policy(&self, comment: &Comment) -> Option<Policy> {
        let of = self.settled.as_ref()?;
        let says_nothing = matches!(comment, Comment::Nothing) && self.fetch_failures.is_empty();
        if !says_nothing || !self.principal.as_ref()?.is_copy_of(of) {
            return None;
        }
        Some(Policy { plan: self.plan.clone()?, keyring: self.keyring.upgrade()?, of: Some(of.clone()) })
    }

    /// Whether the keys are those that the last statement was checked with.
    fn has_taken_up(&self, keyring: &Rc<Keyring>) -> bool {
        std::ptr::eq(self.keyring.as_ptr(), Rc::as_ptr(keyring))
    }

    /// Uses this plan and these keys for the statements from now on.
    pub fn take_up(&mut self, Policy { plan, keyring, of }: Policy) -> Renewed {
        self.settled = of;
        let held = std::mem::replace(&mut self.keyring, Rc::downgrade(&keyring));
        let keys = !held.ptr_eq(&self.keyring);
        let change = match &self.plan {
            _ if !self.is_other(&plan) => PlanChange::No,
            Some(held) if held.stores_as(&plan) => PlanChange::SameStorage,
            _ => PlanChange::Other,
        };
        self.plan = Some(plan);
        Renewed { plan: change, keys }
    }

    /// Has the worker keep the plan from now on, because the server has let the session in.
    pub fn hold_plan(&mut self) {
        if let Some(principal) = &self.principal {
            let mut worker = self.worker.borrow_mut();
            worker.plan(principal, &mut self.holder, true, self.now_ms);
            self.account.belongs_to(worker.user(&format!("user {}", self.input.session.user)));
        }
    }

    fn is_other(&self, plan: &Rc<CompiledPlan>) -> bool {
        self.plan.as_ref().is_none_or(|held| !Rc::ptr_eq(held, plan))
    }

    /// Brings the workload's own identity up to date, before anything is asked in its name.
    fn identify_workload(&mut self, failure: Option<&String>) -> Result<(), Unready> {
        let mut worker = self.worker.borrow_mut();
        match (worker.identify(&mut self.input.workload), failure) {
            (Some(is_another), _) => {
                if is_another && self.principal.is_some() {
                    self.principal = Some(PrincipalKey::new(&self.input));
                }
                Ok(())
            }
            (None, Some(reason)) => Err(no_keys(reason)),
            (None, None) => Err(Unready::Fetch(vec![worker.fetch_keys(self.now_ms)])),
        }
    }

    /// Gets the plan of the session's principal from the worker.
    fn worker_plan(
        &mut self,
        principal: &PrincipalKey,
        logged_in: bool,
        in_vain: bool,
    ) -> Option<Rc<CompiledPlan>> {
        let mut worker = self.worker.borrow_mut();
        match logged_in {
            false => worker.plan_in_passing(principal, &self.holder, in_vain, self.now_ms),
            true => worker.plan(principal, &mut self.holder, in_vain, self.now_ms),
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
