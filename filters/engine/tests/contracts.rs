//! Holds the engine to the contract files: it can carry out every plan in them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;

use fieldveil_engine::field::CompiledPlan;
use fieldveil_plan::Plan;
use serde_json::{Value, json};

#[test]
fn every_plan_of_the_contracts_can_be_carried_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/contract");
    for case in std::fs::read_dir(folder).unwrap() {
        let case = case.unwrap().path();
        let contract: Value =
            serde_json::from_slice(&std::fs::read(case.join("data.json")).unwrap()).unwrap();
        let plan = Plan::from_json(json!({"result": contract["plan"]}).to_string().as_bytes()).unwrap();
        let compiled =
            CompiledPlan::new(plan.clone()).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
        assert!(compiled.says(&plan), "{}", case.display());
        assert_eq!(compiled.fields.len(), plan.fields.len(), "{}", case.display());
    }
}
