//! Plans that say the same of a service.

use fieldveil_plan::{RoutePlan, ServicePlan};
use std::sync::Arc;

use super::*;

fn said(read: &str) -> ServicePlan {
    let mut field = field("response", "$.ssn", "ssn");
    field["read"] = json!({"treatment": read});
    let service = json!({"routes": [route("/a", &[field, super::field("query", "ssn", "tax_id")])]});
    let plan = json!({"revision": read, "ttl_seconds": 30, "fields": [], "service": service});
    let plan = Plan::from_json(json!({"result": plan}).to_string().as_bytes()).unwrap();
    plan.service.unwrap()
}

#[test]
fn plans_that_say_the_same_share_one_service_as_long_as_one_is_held() {
    let mut services = Services::default();
    let first = services.ready(said("reveal")).unwrap();
    assert!(Arc::ptr_eq(&first, &services.ready(said("reveal")).unwrap()));
    assert!(!Arc::ptr_eq(&first, &services.ready(said("null")).unwrap()));
    let known = Arc::downgrade(&first);
    drop(first);
    assert!(known.upgrade().is_none());
    assert!(services.ready(said("reveal")).is_ok());
}

#[test]
fn anything_that_is_said_differently_makes_another_service() {
    let service = Service::new(said("reveal")).unwrap();
    assert!(service.says(&said("reveal")));
    let differs = |change: &dyn Fn(&mut RoutePlan)| {
        let mut other = said("reveal");
        change(&mut other.routes[0]);
        !service.says(&other)
    };
    assert!(differs(&|route| route.path = "/b".to_owned()));
    assert!(differs(&|route| route.methods.push("GET".to_owned())));
    assert!(differs(&|route| route.except.push("GET".to_owned())));
    assert!(differs(&|route| route.graphql = true));
    assert!(differs(&|route| route.fields.truncate(1)));
    assert!(differs(&|route| route.fields.reverse()));
    assert!(differs(&|route| route.fields[0].label = "other".to_owned()));
    assert!(!service.says(&ServicePlan { refuses_unmatched: true, ..said("reveal") }));
    assert!(!service.says(&ServicePlan { routes: Vec::new(), ..said("reveal") }));
}
