//! What a plan says of a service that speaks JSON over HTTP: its routes, each with its fields.

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::wrong;
use crate::{MAX_FIELDS, MAX_ROUTES, PlanError, PlanField, field};

/// What is protected of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServicePlan {
    /// Whether a request that fits no route is refused.
    pub refuses_unmatched: bool,
    /// All routes; every one that fits a request counts.
    pub routes: Vec<RoutePlan>,
}

/// What is protected of the requests to a path, and of what is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutePlan {
    /// Literal segments and `{parameters}`; the last segment may be `**`, any number of segments.
    pub path: String,
    /// The methods; empty for all that are not in [`Self::except`].
    pub methods: Vec<String>,
    /// Methods that it is not for; empty where methods are named.
    pub except: Vec<String>,
    /// Whether the body is GraphQL over HTTP.
    pub graphql: bool,
    /// What is protected; no place twice.
    pub fields: Vec<PlanField>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum Unmatched {
    #[default]
    Pass,
    Refuse,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawService {
    #[serde(default)]
    unmatched: Unmatched,
    #[serde(default)]
    routes: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRoute {
    path: String,
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    graphql: bool,
    #[serde(default)]
    fields: Vec<Value>,
}

impl ServicePlan {
    /// The fields of all routes, each with its place in the plan.
    pub fn fields(&self) -> impl Iterator<Item = (String, &PlanField)> {
        self.routes.iter().enumerate().flat_map(|(route, said)| {
            let fields = said.fields.iter().enumerate();
            fields.map(move |(index, field)| (place_of(route, index), field))
        })
    }
}

/// Where a field of a route stands in the plan.
fn place_of(route: usize, field: usize) -> String {
    format!("service.routes[{route}].fields[{field}]")
}

/// Reads what stands at `service` of a plan that has `columns` fields beside it.
pub(crate) fn read(value: Value, columns: usize) -> Result<ServicePlan, PlanError> {
    let raw: RawService = read_object("service", value)?;
    if raw.routes.len() > MAX_ROUTES {
        return Err(PlanError::TooManyRoutes(raw.routes.len()));
    }
    let mut routes = Vec::with_capacity(raw.routes.len());
    let mut fields = columns;
    for (index, value) in raw.routes.into_iter().enumerate() {
        let route = read_route(index, value)?;
        fields = fields.saturating_add(route.fields.len());
        if fields > MAX_FIELDS {
            return Err(PlanError::TooManyFields(fields));
        }
        routes.push(route);
    }
    Ok(ServicePlan { refuses_unmatched: matches!(raw.unmatched, Unmatched::Refuse), routes })
}

/// A list of values in their order would do for serde.
fn read_object<T: DeserializeOwned>(place: &str, value: Value) -> Result<T, PlanError> {
    let object = field::object(place, value)?;
    serde_json::from_value(Value::Object(object)).map_err(|error| wrong(place, error.to_string()))
}

fn read_route(index: usize, value: Value) -> Result<RoutePlan, PlanError> {
    let place = format!("service.routes[{index}]");
    let raw: RawRoute = read_object(&place, value)?;
    if !raw.path.starts_with('/') {
        return Err(wrong(format!("{place}.path"), "it does not begin with /; write the whole path"));
    }
    check_methods(&place, &raw.methods, &raw.except)?;
    let mut fields = Vec::with_capacity(raw.fields.len());
    for (number, value) in raw.fields.into_iter().enumerate() {
        fields.push(field::read_of_route(&place_of(index, number), value)?);
    }
    let mut seen = HashSet::new();
    if let Some(twice) = fields.iter().position(|field: &PlanField| !seen.insert(&field.place)) {
        return Err(wrong(place_of(index, twice), "the place is named twice in the route; name it once"));
    }
    Ok(RoutePlan { path: raw.path, methods: raw.methods, except: raw.except, graphql: raw.graphql, fields })
}

/// Methods are compared letter by letter: one that is spelt as none is would protect nothing.
fn check_methods(place: &str, methods: &[String], except: &[String]) -> Result<(), PlanError> {
    if !methods.is_empty() && !except.is_empty() {
        return Err(wrong(
            format!("{place}.except"),
            "only a route of all methods has exceptions; leave it out, or the methods",
        ));
    }
    for (name, list) in [("methods", methods), ("except", except)] {
        let is_method = |method: &String| {
            !method.is_empty()
                && method.bytes().all(|byte| byte.is_ascii_uppercase() || b"-_".contains(&byte))
        };
        if let Some(index) = list.iter().position(|method| !is_method(method)) {
            return Err(wrong(
                format!("{place}.{name}[{index}]"),
                "it is not a method in upper-case letters; write it as GET is written",
            ));
        }
    }
    Ok(())
}
