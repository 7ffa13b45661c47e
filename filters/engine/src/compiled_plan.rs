//! A whole plan, ready for use.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use fieldveil_plan::Plan;

use crate::field::{CompiledField, UnusablePlan};
use crate::keyring::Keyring;
use crate::routes::{MakeReady, Service, Services};

/// A plan, ready for use.
///
/// Large: it has the members of the plan.
#[derive(Debug)]
pub struct CompiledPlan {
    /// Changes whenever the plan does.
    pub revision: String,
    /// Revisions of the bundles that it was made of; empty for none.
    pub bundle: String,
    /// Who it is for budgets and audit.
    pub subject: Arc<str>,
    /// Unix seconds from which on it must not be used.
    pub expires_at: Option<u64>,
    /// Why everything is refused, to be told to the client.
    pub denied: Option<String>,
    /// Break-glass rules in use.
    pub break_glass: Vec<String>,
    /// Whether a comment of a statement may say purpose or token.
    pub reads_comments: bool,
    /// What is protected of a database, in the plan's order; SQL analysis refers to them by index.
    pub fields: Vec<CompiledField>,
    /// What is protected of a service; None where the policy speaks of none.
    pub service: Option<Arc<Service>>,
    /// The tenants' keysets that the fields name, each once.
    pub tenant_keysets: BTreeSet<Arc<str>>,
    /// Milliseconds after which the plan is asked for anew.
    pub ttl_ms: u64,
    /// Milliseconds after which the plan is not used any more.
    pub max_stale_ms: u64,
}

/// What a field takes beside itself: its names, its label's prefixes and what was looked up for it.
const FIELD: usize = 512;

impl CompiledPlan {
    /// About how many bytes of memory the part of a database takes.
    pub fn bytes(&self) -> usize {
        let field = size_of::<CompiledField>().saturating_add(FIELD);
        self.fields.len().saturating_mul(field).saturating_add(size_of::<Self>())
    }

    /// Checks what only the engine can check: types, masks, protections that it can do.
    pub fn new(plan: Plan) -> Result<Self, UnusablePlan> {
        Self::with(plan, &mut Services::serving())
    }

    /// The same, with a service as `ready` makes it.
    pub fn with(plan: Plan, ready: &mut MakeReady) -> Result<Self, UnusablePlan> {
        let fields = plan.fields.into_iter().enumerate();
        let fields = fields.map(|(index, spec)| UnusablePlan::field(&format!("fields[{index}]"), spec));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        check_labels(&fields)?;
        let service = plan.service.map(ready).transpose()?.flatten();
        let named = needing_keys(&fields, service.as_ref()).filter(|field| field.spec.has_tenant_keyset());
        let tenant_keysets = named.map(|field| Arc::from(field.spec.keyset.as_str())).collect();
        let ms = |seconds: u32| u64::from(seconds).saturating_mul(1000);
        Ok(Self {
            revision: plan.revision,
            bundle: plan.bundle,
            subject: Arc::from(plan.subject),
            expires_at: plan.expires_at,
            denied: plan.denied,
            break_glass: plan.break_glass,
            reads_comments: plan.reads_comments,
            fields,
            service,
            tenant_keysets,
            ttl_ms: ms(plan.ttl_seconds),
            max_stale_ms: ms(plan.max_stale_seconds),
        })
    }

    /// Whether it was made of an answer that says the same as `plan`.
    pub fn says(&self, plan: &Plan) -> bool {
        self.revision == plan.revision
            && self.bundle == plan.bundle
            && *self.subject == *plan.subject
            && self.expires_at == plan.expires_at
            && self.denied == plan.denied
            && self.break_glass == plan.break_glass
            && self.reads_comments == plan.reads_comments
    }

    /// Whether it must not be used any more, at this time in milliseconds.
    pub fn has_expired(&self, now_ms: u64) -> bool {
        self.expires_at.is_some_and(|seconds| now_ms >= seconds.saturating_mul(1000))
    }

    /// Whether both store the same fields in the same way, in the same order: then what was read of the server's catalog,
    /// and what was said of statements, stays true, and only who gets what may differ.
    pub fn stores_as(&self, other: &Self) -> bool {
        self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(one, other)| one.storage() == other.storage())
    }

    /// The first keyset or purpose that the plan needs and `keyring` lacks, as a sentence. Tenants' own keysets aside:
    /// where one is gone, the fields of the others go on.
    pub fn missing_keys(&self, keyring: &Keyring) -> Option<String> {
        let needed = needing_keys(&self.fields, self.service.as_ref());
        let needed = needed.filter(|field| !field.spec.has_tenant_keyset());
        needed.filter_map(|field| field.check_keys(keyring).err()).next()
    }

    /// Whether values of the field's label may be written, be it to another column of the label: what is stored in one
    /// can be compared with what is stored in the other.
    pub fn may_write(&self, field: &CompiledField) -> bool {
        self.fields.iter().any(|other| other.writable() && other.label == field.label)
    }

    /// Whether `keyring` lacks a tenant's keyset that the plan needs.
    pub fn lacks_tenant_keys(&self, keyring: &Keyring) -> bool {
        self.tenant_keysets.iter().any(|name| keyring.named(name).is_none())
    }
}

/// Returns the fields that need keys. Of a service's fields that need the same keys, only one is returned.
fn needing_keys<'p>(
    fields: &'p [CompiledField],
    service: Option<&'p Arc<Service>>,
) -> impl Iterator<Item = &'p CompiledField> {
    let of_service = service.into_iter().flat_map(|service| service.needing_keys());
    fields.iter().filter(|field| field.needs_keys()).chain(of_service)
}

/// Columns of one label can come back in one result column (UNION), so they are read alike.
fn check_labels(fields: &[CompiledField]) -> Result<(), UnusablePlan> {
    let mut first: HashMap<&str, &CompiledField> = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        let known = first.entry(&field.spec.label).or_insert(field);
        if (&known.read, &known.budget) != (&field.read, &field.budget) {
            let reason = format!(
                "label {} is read in another way before; give this field a label of its own",
                field.spec.label
            );
            return Err(UnusablePlan::new(format!("fields[{index}]"), reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn compiled(routes: Value) -> CompiledPlan {
        let service = json!({"unmatched": "refuse", "routes": routes});
        let plan = json!({"revision": "r", "subject": "user:app", "ttl_seconds": 30, "fields": [], "service": service});
        let plan = Plan::from_json(json!({"result": plan}).to_string().as_bytes()).unwrap();
        CompiledPlan::new(plan).unwrap()
    }

    #[test]
    fn keys_that_routes_need_are_asked_for() {
        let with = |keyset: &str, tenant: &str, read: &str, write: &str| {
            json!({"in": "response", "at": "$.a", "label": keyset, "keyset": keyset, "tenant": tenant,
                "protection": "randomized", "type": "text", "read": {"treatment": read}, "write": write})
        };
        let keyring = Keyring::from_json(b"{\"revision\": \"r\", \"keysets\": {}}", None).unwrap();
        let of =
            |field: Value| compiled(json!(["/", "/a"].map(|path| json!({"path": path, "fields": [&field]}))));
        let plan = of(with("pii", "", "reveal", "refuse"));
        assert!(plan.missing_keys(&keyring).unwrap().contains("pii"));
        assert!(plan.tenant_keysets.is_empty() && !plan.lacks_tenant_keys(&keyring));
        let plan = of(with("pii/acme", "acme", "conceal", "seal"));
        assert_eq!(plan.missing_keys(&keyring), None);
        assert!(plan.tenant_keysets.iter().map(AsRef::as_ref).eq(["pii/acme"]));
        assert!(plan.lacks_tenant_keys(&keyring));
        // Who neither reads nor writes needs no keys.
        let plan = of(with("pii/acme", "acme", "conceal", "refuse"));
        assert!(plan.missing_keys(&keyring).is_none() && !plan.lacks_tenant_keys(&keyring));
    }
}
