//! What one principal did under one plan, within one interval.

use std::collections::BTreeMap;
use std::sync::Arc;

use fieldveil_plan::PlanInput;
use serde::Serialize;

use crate::budgets::Allowance;
use crate::client_error::ClientError;
use crate::compiled_plan::CompiledPlan;
use crate::field;
use crate::value_counts::ValueOutcome;

/// Labels that one period tells apart, and so its kinds of refusals and of budgets; the rest goes under [`OTHERS`].
const MAX_LABELS: usize = 256;
/// No label is named so.
const OTHERS: &str = "*";
/// Characters of a text that the client chose.
const MAX_TEXT: usize = 256;
/// Break-glass rules that are named.
const MAX_RULES: usize = 64;

/// The beginning of a text that the client chose.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// Who asked, and what answer policy gave. Equal ones are one principal under one plan.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Who {
    role: String,
    application_name: String,
    purpose: String,
    subject: String,
    plan: String,
    bundle: String,
    break_glass: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    denied: Option<String>,
}

impl Who {
    pub(super) fn new(input: &PlanInput, plan: Option<&CompiledPlan>) -> Self {
        let session = &input.session;
        let comment = &input.comment.purpose;
        let purpose = if comment.is_empty() { &session.purpose } else { comment };
        let rules = plan.map(|plan| plan.break_glass.as_slice()).unwrap_or_default();
        Self {
            role: cut(&session.role),
            application_name: cut(&session.application_name),
            purpose: cut(purpose),
            // Not cut: one that is could be somebody else. Plans bound it.
            subject: plan.map(|plan| plan.subject.to_string()).unwrap_or_default(),
            plan: plan.map(|plan| cut(&plan.revision)).unwrap_or_default(),
            bundle: plan.map(|plan| cut(&plan.bundle)).unwrap_or_default(),
            break_glass: rules.iter().take(MAX_RULES).map(|rule| cut(rule)).collect(),
            denied: plan.and_then(|plan| plan.denied.as_deref()).map(cut),
        }
    }
}

/// A budget of reading, and what a value gets beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AuditedBudget {
    /// Rows of a label that the principal is shown.
    pub rows: u32,
    /// In so many seconds.
    pub per_seconds: u32,
    /// The treatment beyond it.
    pub then: &'static str,
}

/// What a refusal was answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// PostgreSQL's, of five characters.
    Sqlstate(&'static str),
    /// The name of a problem of HTTP.
    Problem(&'static str),
}

/// Something that was refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Refusal {
    /// What was answered.
    #[serde(flatten)]
    pub code: Code,
    /// The label that it is about; empty where it is about none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
}

impl From<&ClientError> for Refusal {
    fn from(error: &ClientError) -> Self {
        Self { code: Code::Sqlstate(error.code), label: error.label.clone().unwrap_or_default() }
    }
}

impl From<&field::Budget> for AuditedBudget {
    fn from(budget: &field::Budget) -> Self {
        let Allowance { rows, per_seconds } = budget.allowance;
        Self { rows, per_seconds, then: budget.then.policy_name() }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Exceeded {
    label: String,
    #[serde(flatten)]
    budget: AuditedBudget,
}

/// Kinds of events, with how many there were of each: as a list of objects with a `count`.
struct CountedEvents<K>(BTreeMap<K, u64>);

impl<K: Serialize> Serialize for CountedEvents<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct CountedEvent<'a, K> {
            #[serde(flatten)]
            kind: &'a K,
            count: u64,
        }
        serializer.collect_seq(self.0.iter().map(|(kind, count)| CountedEvent { kind, count: *count }))
    }
}

impl<K: Ord> CountedEvents<K> {
    fn add(&mut self, kind: K, others: K) {
        let kind = if self.0.len() < MAX_LABELS || self.0.contains_key(&kind) { kind } else { others };
        let count = self.0.entry(kind).or_default();
        *count = count.saturating_add(1);
    }
}

/// One period.
#[derive(Serialize)]
pub(super) struct Period {
    #[serde(serialize_with = "super::line::time")]
    from: u64,
    #[serde(serialize_with = "super::line::time")]
    pub(super) to: u64,
    #[serde(skip)]
    pub(super) who: Arc<Who>,
    /// Whether it is of several principals or plans, for there were too many to tell apart.
    pub(super) merged: bool,
    labels: BTreeMap<String, BTreeMap<ValueOutcome, u64>>,
    refusals: CountedEvents<Refusal>,
    budgets: CountedEvents<Exceeded>,
}

impl Period {
    pub(super) fn new(who: Arc<Who>, now_ms: u64) -> Self {
        Self {
            from: now_ms,
            to: now_ms,
            who,
            merged: false,
            labels: BTreeMap::new(),
            refusals: CountedEvents(BTreeMap::new()),
            budgets: CountedEvents(BTreeMap::new()),
        }
    }

    pub(super) fn merged(now_ms: u64) -> Self {
        Self { merged: true, ..Self::new(Arc::default(), now_ms) }
    }

    pub(super) fn count(&mut self, outcome: ValueOutcome, label: &str, by: u64) {
        // No text is made for a label that is there already: this runs in each callback.
        if !self.labels.contains_key(label) {
            let name = if self.labels.len() < MAX_LABELS { label } else { OTHERS };
            let counts = self.labels.entry(name.to_owned()).or_default();
            return raise(counts, outcome, by);
        }
        if let Some(counts) = self.labels.get_mut(label) {
            raise(counts, outcome, by);
        }
    }

    pub(super) fn refusal(&mut self, refusal: Refusal) {
        let others = Refusal { code: refusal.code, label: OTHERS.to_owned() };
        self.refusals.add(refusal, others);
    }

    pub(super) fn budget(&mut self, label: &str, budget: AuditedBudget) {
        let others = Exceeded { label: OTHERS.to_owned(), budget };
        self.budgets.add(Exceeded { label: label.to_owned(), budget }, others);
    }
}

fn raise(counts: &mut BTreeMap<ValueOutcome, u64>, outcome: ValueOutcome, by: u64) {
    let count = counts.entry(outcome).or_default();
    *count = count.saturating_add(by);
}
