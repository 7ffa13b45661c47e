//! The audit of one connection, or of one principal over HTTP. It tells who saw how many values of which label, under which
//! plan, and what was refused.
//!
//! What happens is counted in **periods**: one for each principal and plan, within one interval. When the interval is over,
//! and when the connection ends, each period becomes one line of JSON. `docs/reference/audit.md` describes the line, and
//! `docs/schemas/audit.json` is its schema. Nothing here names a value, a statement or a token. The audit makes no host
//! call: the session hands the lines over.

mod line;
mod open;
mod pending;
mod period;
mod principals;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};

use fieldveil_plan::{ClientCertificate, PlanInput, Workload};

use self::line::Line;
pub use self::open::Audits;
use self::pending::Pending;
pub use self::period::{AuditedBudget, Code, Refusal, Who};
use self::period::{Period, cut};
pub use self::principals::{PrincipalAudits, SharedAudit};
use crate::compiled_plan::CompiledPlan;
use crate::locks::lock;
use crate::value_counts::{ValueCounts, ValueOutcome};

/// The most periods that are kept apart at once. A further one ends the interval early.
const MAX_PERIODS: usize = 16;
/// The most lines of one interval. What happens when so many were written is counted in one period, which says so.
const MAX_LINES: usize = 256;
/// The most plans whose principals are remembered: rows under one plan may still arrive when the next one is in use.
const MAX_KNOWN: usize = 64;

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client ended it, by a message or by closing the connection.
    Client,
    /// The server closed it.
    Server,
    /// The filter closed it, because of a refused session, a broken protocol or a limit.
    Filter,
    /// Neither side was seen to end it: Envoy stopped, or the connection broke.
    Proxy,
}

impl Ended {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Filter => "filter",
            Self::Proxy => "proxy",
        }
    }
}

struct Known {
    plan: Weak<CompiledPlan>,
    who: Arc<Who>,
}

/// The audit of one connection. Times are milliseconds since the Unix epoch.
///
/// Large: it holds the open period, what is known of the principal, and the lines that wait, all of one connection.
pub struct Audit {
    session: String,
    interval_ms: u64,
    listener: String,
    workload: Workload,
    source: String,
    client_certificate: Option<ClientCertificate>,
    user: String,
    database: String,
    authenticated: bool,
    /// The time of the first event of this interval, or None if there was none.
    since_ms: Option<u64>,
    current: Option<Arc<Who>>,
    known: VecDeque<Known>,
    periods: Vec<Period>,
    pending: Pending,
    /// What is counted for statistics.
    values: Arc<Mutex<ValueCounts>>,
    sequence: u64,
    /// How many lines this interval has so far.
    lines: usize,
    ready: Vec<String>,
    ended: bool,
}

impl Audit {
    /// Begins the audit of the connection with this random name. Lines are written after every interval in which something
    /// happened. The outcomes of values are also counted in `values`.
    pub fn new(session: String, interval_ms: u64, values: Arc<Mutex<ValueCounts>>) -> Self {
        Self {
            session,
            interval_ms,
            listener: String::new(),
            workload: Workload::default(),
            source: String::new(),
            client_certificate: None,
            user: String::new(),
            database: String::new(),
            authenticated: false,
            since_ms: None,
            current: None,
            known: VecDeque::new(),
            periods: Vec::new(),
            pending: Pending::default(),
            values,
            sequence: 0,
            lines: 0,
            ready: Vec::new(),
            ended: false,
        }
    }

    /// Returns true if nothing has happened since the last lines, so that no tick is needed.
    pub fn is_idle(&self) -> bool {
        self.since_ms.is_none()
    }

    /// Notes that this principal asks from now on, under this plan. Without a plan all that it asks is refused. The first
    /// call names the connection.
    pub fn principal(&mut self, input: &PlanInput, plan: Option<&Arc<CompiledPlan>>, now_ms: u64) {
        let before = self.current.clone();
        let who = self.asks(input, plan);
        let is_another = before.is_none_or(|before| !Arc::ptr_eq(&before, &who));
        if is_another && plan.is_some() {
            self.record(&who, now_ms, |_| {});
        }
    }

    /// Notes the same without a line of its own.
    pub fn asks(&mut self, input: &PlanInput, plan: Option<&Arc<CompiledPlan>>) -> Arc<Who> {
        // The SPIFFE ID of the workload may arrive later, and may change.
        if self.workload != input.workload {
            self.workload.clone_from(&input.workload);
        }
        if self.current.is_none() {
            self.listener.clone_from(&input.listener);
            self.source.clone_from(&input.session.source);
            self.client_certificate.clone_from(&input.client_certificate);
            self.user = cut(&input.session.user);
            self.database = cut(&input.session.database);
        }
        let known = plan.and_then(|plan| self.who_of(plan));
        let who = known.unwrap_or_else(|| self.get_to_know(Who::new(input, plan.map(Arc::as_ref)), plan));
        self.current = Some(Arc::clone(&who));
        who
    }

    /// Notes that the server has let the client in.
    pub fn authenticated(&mut self) {
        self.authenticated = true;
    }

    /// Counts a value of the label, with its outcome under this plan.
    pub fn count(&mut self, plan: &Arc<CompiledPlan>, outcome: ValueOutcome, label: &Arc<str>, now_ms: u64) {
        self.count_values(plan, (outcome, 1), label, now_ms);
    }

    /// Counts so many values of the label, with their outcome under this plan.
    pub fn count_values(
        &mut self,
        plan: &Arc<CompiledPlan>,
        counted: (ValueOutcome, u64),
        label: &Arc<str>,
        now_ms: u64,
    ) {
        if !self.pending.add(plan, label, counted, now_ms) {
            let who = self.who_under(plan);
            self.record(&who, now_ms, |_| {});
            self.pending.begin(plan);
            self.pending.add(plan, label, counted, now_ms);
        }
    }

    /// Enters the values that were only counted so far in the statistics, and in the period that they belong to.
    pub fn settle(&mut self) {
        let Some((plan, at_ms, counts)) = self.pending.take() else { return };
        let who = self.who_under(&plan);
        let values = Arc::clone(&self.values);
        self.record(&who, at_ms, |period| {
            for (label, outcome, count) in counts.iter() {
                lock(&values).add(label, outcome, count);
                period.count(outcome, label, count);
            }
        });
        self.pending.reuse(counts);
    }

    /// Notes a row in which the label was not revealed, because the budget was spent.
    pub fn budget(&mut self, plan: &Arc<CompiledPlan>, label: &str, budget: AuditedBudget, now_ms: u64) {
        let who = self.who_under(plan);
        self.record(&who, now_ms, |period| period.budget(label, budget));
    }

    /// Notes that the present principal was refused a statement or the session.
    pub fn refusal(&mut self, refusal: impl Into<Refusal>, now_ms: u64) {
        // If the connection never named its principal, there is nobody to write a line of.
        let Some(who) = self.current.clone() else { return };
        self.record(&who, now_ms, |period| period.refusal(refusal.into()));
    }

    /// Notes that a response under this plan was ended, because a value could not be given.
    pub fn unreadable(&mut self, plan: &Arc<CompiledPlan>, refusal: impl Into<Refusal>, now_ms: u64) {
        let who = self.who_under(plan);
        self.record(&who, now_ms, |period| period.refusal(refusal.into()));
    }

    /// Makes the lines ready if the interval is over.
    pub fn tick(&mut self, now_ms: u64) {
        let over = |since: u64| now_ms.saturating_sub(since) >= self.interval_ms;
        if self.since_ms.is_some_and(over) {
            self.flush(None);
            self.lines = 0;
            self.since_ms = None;
        }
    }

    /// Makes the lines of all that has happened ready before the interval is over, because the audit is given up.
    pub fn close(&mut self) {
        self.flush(None);
        self.since_ms = None;
    }

    /// Makes the last lines ready. There is at least one, if the connection has named its principal.
    pub fn end(&mut self, how: Ended, now_ms: u64) {
        let Some(who) = self.current.clone().filter(|_| !self.ended) else { return };
        self.ended = true;
        self.record(&who, now_ms, |_| {});
        // The line of the principal that asked last is the last one.
        if let Some(at) = self.periods.iter().position(|period| Arc::ptr_eq(&period.who, &who)) {
            let last = self.periods.remove(at);
            self.periods.push(last);
        }
        self.flush(Some(how));
        self.since_ms = None;
    }

    /// Hands over the lines that are ready.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ready)
    }

    fn who_of(&self, plan: &Arc<CompiledPlan>) -> Option<Arc<Who>> {
        let of_plan = |known: &&Known| std::ptr::eq(known.plan.as_ptr(), Arc::as_ptr(plan));
        self.known.iter().rev().find(of_plan).map(|known| Arc::clone(&known.who))
    }

    /// Returns the principal of the plan. If it was forgotten, it is one of whom only the plan is known.
    fn who_under(&mut self, plan: &Arc<CompiledPlan>) -> Arc<Who> {
        self.who_of(plan).unwrap_or_else(|| {
            let who = Who::new(&PlanInput::default(), Some(plan));
            self.get_to_know(who, Some(plan))
        })
    }

    fn get_to_know(&mut self, who: Who, plan: Option<&Arc<CompiledPlan>>) -> Arc<Who> {
        let known = self.known.iter().map(|known| &known.who).chain(&self.current);
        let same = known.chain(self.periods.iter().map(|period| &period.who)).find(|known| ***known == who);
        let who = same.cloned().unwrap_or_else(|| Arc::new(who));
        if let Some(plan) = plan {
            if self.known.len() >= MAX_KNOWN {
                self.known.pop_front();
            }
            self.known.push_back(Known { plan: Arc::downgrade(plan), who: Arc::clone(&who) });
        }
        who
    }

    fn record(&mut self, who: &Arc<Who>, now_ms: u64, what: impl FnOnce(&mut Period)) {
        self.settle();
        self.since_ms.get_or_insert(now_ms);
        let is_theirs = |period: &&mut Period| Arc::ptr_eq(&period.who, who);
        if let Some(period) = self.periods.iter_mut().find(is_theirs) {
            period.to = now_ms;
            return what(period);
        }
        if self.periods.len() >= MAX_PERIODS && self.lines < MAX_LINES {
            self.flush(None);
        }
        let mut period = if self.lines < MAX_LINES {
            Period::new(Arc::clone(who), now_ms)
        } else {
            let merged = self.periods.iter().position(|period| period.merged);
            merged.map_or_else(|| Period::merged(now_ms), |at| self.periods.remove(at))
        };
        period.to = now_ms;
        what(&mut period);
        self.periods.push(period);
    }

    fn flush(&mut self, ended: Option<Ended>) {
        self.settle();
        let count = self.periods.len();
        for (index, period) in std::mem::take(&mut self.periods).into_iter().enumerate() {
            let is_last = index.saturating_add(1) == count;
            let line = Line {
                version: 1,
                session: &self.session,
                sequence: self.sequence,
                listener: &self.listener,
                workload: &self.workload,
                source: &self.source,
                client_certificate: self.client_certificate.as_ref(),
                user: &self.user,
                database: &self.database,
                authenticated: self.authenticated,
                ended: ended.filter(|_| is_last).map(Ended::name),
                who: &period.who,
                period: &period,
            };
            self.ready.push(line.to_json());
            self.sequence = self.sequence.saturating_add(1);
            self.lines = self.lines.saturating_add(1);
        }
    }
}
