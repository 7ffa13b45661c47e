//! Values of one field as an exchange of HTTP treats them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use fieldveil_engine::compiled_plan::CompiledPlan;
use fieldveil_engine::fetch::PrincipalKey;
use fieldveil_engine::field::{self, CompiledField, FieldError, ReadTreatment, Scratch, StoredForm};
use fieldveil_engine::http::audits::Handle;
use fieldveil_engine::http::problem::Problem;
use fieldveil_engine::http::treat::{self, Context};
use fieldveil_engine::keyring::Keyring;
use fieldveil_engine::ports::Ports;
use fieldveil_json_stream::{Found, Kind, Replacement};
use fieldveil_plan::{Plan, PlanInput};
use fieldveil_values::ValueUse;
use serde_json::Value;

use super::*;

/// What an exchange is treated under, and the ports behind it.
pub struct Treated {
    pub ctx: Context,
    pub ports: Rc<RefCell<TestPorts>>,
    pub input: PlanInput,
    pub fields: Vec<Value>,
}

/// A field `customer.value` of this protection and type, revealed and written.
pub fn value_of(protection: &str, type_name: &str) -> Value {
    field("value", protection, type_name, json!({"treatment": "reveal"}), "seal")
}

/// The keysets of the tests, with a PRF.
pub fn keys_with_prf() -> Vec<u8> {
    let prf: Value = {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../crypto/tink/testdata/prf.json");
        let frozen: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        frozen["keysets"]["hmac-sha256"].clone()
    };
    let mut answer: Value = serde_json::from_slice(&keys()).unwrap();
    answer["keysets"]["pii"]["prf"] = prf;
    answer.to_string().into_bytes()
}

impl Treated {
    pub fn under(fields: &[Value]) -> Self {
        Self::under_keys(fields, &keys_with_prf())
    }

    pub fn under_keys(fields: &[Value], keys: &[u8]) -> Self {
        let dialogue = Dialogue::new();
        let plan = Arc::new(CompiledPlan::new(Plan::from_json(&plan(fields)).unwrap()).unwrap());
        let (worker, ports) = (Rc::clone(&dialogue.worker), Rc::clone(&dialogue.ports));
        let input = PlanInput { protocol: "http".into(), listener: "l".into(), ..PlanInput::default() };
        let keyring = Arc::new(Keyring::from_json(keys, None).unwrap());
        let mut treated = Self {
            ctx: Context {
                audit: Handle::of(
                    &worker,
                    &as_ports(&ports),
                    &PrincipalKey::new(&input),
                    &input,
                    Some(&plan),
                ),
                worker,
                ports: as_ports(&ports),
                plan,
                keyring,
                now_ms: 1_000_000,
            },
            ports,
            input,
            fields: fields.to_vec(),
        };
        treated.ctx.now_ms = treated.ports.borrow().now_ms;
        treated
    }

    pub fn field(&self) -> &CompiledField {
        &self.ctx.plan.fields[0]
    }

    /// What a request's value becomes; None if it stays.
    pub fn seal(&self, json: &str) -> Result<Option<String>, Problem> {
        treat::seal(&self.ctx, self.field(), found(json)).map(replaced)
    }

    /// What a response's value becomes; None if it stays.
    pub fn open(&self, json: &str) -> Result<Option<String>, Problem> {
        treat::open(&self.ctx, self.field(), found(json)).map(replaced)
    }

    /// What the database filter stores for a text.
    pub fn stored(&self, text: &str, how: StoredForm) -> Vec<u8> {
        let (ports, value) =
            (&mut *self.ports.borrow_mut(), field::FieldValue { bytes: text.as_bytes(), how });
        let (scratch, mut sealed) = (&mut Scratch::default(), Vec::new());
        let keyring = &self.ctx.keyring;
        self.field()
            .seal_into(keyring, ports, ValueUse::Store, value, usize::MAX, scratch, &mut sealed)
            .unwrap();
        sealed
    }

    /// What the database filter opens a stored value to, as canonical text.
    pub fn opened(&self, stored: &[u8], how: StoredForm) -> Result<Vec<u8>, FieldError> {
        let (stored, plaintext) = (field::FieldValue { bytes: stored, how }, || panic!("it is an envelope"));
        let (scratch, mut text) = (&mut Scratch::default(), Vec::new());
        self.field().read_text(
            &ReadTreatment::Reveal,
            &self.ctx.keyring,
            stored,
            plaintext,
            scratch,
            &mut text,
        )?;
        Ok(text)
    }

    /// The counts since the last time.
    pub fn counts(&self) -> std::collections::BTreeMap<String, u64> {
        self.ctx.worker.borrow_mut().take_counts()
    }

    /// The audit's lines when the interval is over.
    pub fn lines(&self) -> Vec<Value> {
        let lines = self.ctx.worker.borrow_mut().audit_lines(self.ctx.now_ms + 60_000);
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub fn as_ports(ports: &Rc<RefCell<TestPorts>>) -> Rc<RefCell<dyn Ports>> {
    Rc::clone(ports) as Rc<RefCell<dyn Ports>>
}

pub fn found(json: &str) -> Found<'_> {
    let kind = match json.as_bytes()[0] {
        b'"' => Kind::String,
        b't' => Kind::True,
        b'f' => Kind::False,
        b'n' => Kind::Null,
        b'{' => Kind::Object,
        b'[' => Kind::Array,
        _ => Kind::Number,
    };
    Found { field: 0, kind, json: json.as_bytes() }
}

fn replaced(replacement: Replacement) -> Option<String> {
    match replacement {
        Replacement::Keep => None,
        Replacement::Json(json) => Some(String::from_utf8(json).unwrap()),
    }
}

/// A problem as a client sees it.
pub fn told(problem: &Problem) -> Value {
    let mut told: Value = serde_json::from_slice(&problem.reply().body).unwrap();
    assert_eq!(told["status"], problem.status());
    told.as_object_mut().unwrap().remove("title").unwrap();
    told
}
