//! Which of a service's routes a request fits, and what they say together.
//!
//! Every route that fits counts, so that more is protected where more fits, and their order does not matter. What a
//! set of routes says together is worked out when the first request comes that fits just these.

mod path;
mod shared;
mod template;
mod unite;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::rc::Rc;

use fieldveil_json_stream::{Matcher, Path as JsonPath};
use fieldveil_plan::{Place, RoutePlan, ServicePlan};
use lru::LruCache;

use self::path::Path;
pub use self::shared::{MakeReady, Services};
use self::template::Template;
use crate::field::{CompiledField, UnusablePlan};

/// Sets of routes that are remembered with what they say together, a few KiB each. Ordinary services have about as many
/// as they have routes, and a client can make no more of them.
const MAX_UNITED: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// A service's routes, ready for use.
pub struct Service {
    /// Whether a request that fits no route is refused.
    pub refuses_unmatched: bool,
    routes: Vec<CompiledRoute>,
    /// Of the fields that need keys one for each keyset and protection.
    needing_keys: Vec<Rc<CompiledField>>,
    /// By the numbers of the routes that fit.
    united: RefCell<LruCache<Box<[usize]>, United>>,
}

/// What a set of routes says together, or why they contradict each other.
type United = Result<Rc<Route>, Unroutable>;

/// All that the routes that fit a request say together.
#[derive(Clone, Default)]
pub struct Route {
    /// Whether a route fits. What is said of a whole service, the route `/**`, makes no request one that it knows.
    pub matched: bool,
    /// Whether a route that fits takes GraphQL over HTTP.
    pub graphql: bool,
    /// What is named of the request's body; None for nothing.
    pub request: Option<BodyFields>,
    /// What is named of the response's body; None for nothing.
    pub response: Option<BodyFields>,
    /// What is named of the query, by the parameters' names.
    pub query: Vec<(String, Rc<CompiledField>)>,
    /// What is named of the request's headers, by their names in lower case.
    pub headers: Vec<(String, Rc<CompiledField>)>,
    /// What is named of the path: by index in `path[1..].split('/')` of the path as it was sent.
    pub segments: Vec<(usize, Rc<CompiledField>)>,
}

/// What is named of a body.
#[derive(Clone)]
pub struct BodyFields {
    /// Finds the values.
    pub matcher: Rc<Matcher>,
    /// By the matcher's numbers: one for each label.
    pub fields: Vec<Rc<CompiledField>>,
    /// All fields as they were planned, each with its own path.
    pub places: Vec<Rc<CompiledField>>,
    /// The matcher's number of a member `_method` at the top, which may say another method. None where that is a field's
    /// value, and in responses.
    pub method: Option<usize>,
}

/// Why a request has no route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unroutable {
    /// Nobody can say which routes its path fits: servers read it in different ways.
    #[error("the path is not one that all servers read alike")]
    BadPath,
    /// Routes that fit the request contradict each other: what they say, and the remedy.
    #[error("{0}")]
    Unusable(Rc<str>),
}

/// A path in a body, and what it leads to.
type PathOfBody = (JsonPath, Rc<CompiledField>);

/// One route of the plan.
///
/// Large: it has the members of a route of the plan.
struct CompiledRoute {
    /// As the plan says it.
    path: String,
    template: Template,
    methods: Vec<String>,
    except: Vec<String>,
    graphql: bool,
    request: Vec<PathOfBody>,
    response: Vec<PathOfBody>,
    query: Vec<(String, Rc<CompiledField>)>,
    headers: Vec<(String, Rc<CompiledField>)>,
    /// By their index in the template.
    segments: Vec<(usize, Rc<CompiledField>)>,
    /// All of them, in the plan's order.
    fields: Vec<Rc<CompiledField>>,
}

impl Service {
    /// Checks what only the engine can check: paths, types, masks, what can be looked for.
    pub fn new(plan: ServicePlan) -> Result<Self, UnusablePlan> {
        let mut routes = Vec::with_capacity(plan.routes.len());
        for (index, route) in plan.routes.into_iter().enumerate() {
            let place = format!("service.routes[{index}]");
            let route = CompiledRoute::new(&place, route)?;
            unite::unite([&route]).map_err(|reason| UnusablePlan::new(place, reason.to_string()))?;
            routes.push(route);
        }
        let mut seen = HashSet::new();
        let fields = routes.iter().flat_map(|route| &route.fields).filter(|field| field.needs_keys());
        let needing_keys = fields
            .filter(|field| seen.insert((field.spec.keyset.as_str(), field.spec.protection)))
            .cloned()
            .collect();
        let united = RefCell::new(LruCache::new(MAX_UNITED));
        Ok(Self { refuses_unmatched: plan.refuses_unmatched, routes, needing_keys, united })
    }

    /// What is said of requests with this method and this path, as it was sent but without the query.
    pub fn route(&self, method: &str, path: &str) -> Result<Rc<Route>, Unroutable> {
        if self.routes.is_empty() {
            return Ok(Rc::default());
        }
        let path = Path::parse(path).ok_or(Unroutable::BadPath)?;
        let routes = self.routes.iter().enumerate();
        let fitting: Box<[usize]> =
            routes.filter(|(_, route)| route.fits(method, &path)).map(|(index, _)| index).collect();
        let route = self.united(fitting)?;
        Ok(if path.is_plain() || route.segments.is_empty() { route } else { Rc::new(route.sent_as(&path)) })
    }

    /// What these routes say together.
    fn united(&self, fitting: Box<[usize]>) -> United {
        let mut united = self.united.borrow_mut();
        if let Some(known) = united.get(&fitting) {
            return known.clone();
        }
        let route = unite::unite(fitting.iter().filter_map(|index| self.routes.get(*index))).map(Rc::new);
        united.put(fitting, route.clone());
        route
    }

    /// Whether it was made of this.
    fn says(&self, plan: &ServicePlan) -> bool {
        self.refuses_unmatched == plan.refuses_unmatched
            && self.routes.len() == plan.routes.len()
            && self.routes.iter().zip(&plan.routes).all(|(route, plan)| route.says(plan))
    }

    /// Whether nothing at all is named of any request.
    pub fn is_empty(&self) -> bool {
        self.routes.iter().all(|route| route.fields.is_empty())
    }

    /// Fields that need keys, one for each keyset and protection.
    pub(crate) fn needing_keys(&self) -> impl Iterator<Item = &CompiledField> {
        self.needing_keys.iter().map(Rc::as_ref)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("routes", &self.routes.len()).finish_non_exhaustive()
    }
}

impl Route {
    /// Whether nothing at all is named.
    pub fn is_empty(&self) -> bool {
        self.request.is_none()
            && self.response.is_none()
            && self.query.is_empty()
            && self.headers.is_empty()
            && self.segments.is_empty()
    }

    /// The same with the segments' indices in `path` as it was sent.
    fn sent_as(&self, path: &Path<'_>) -> Self {
        let segments = self.segments.iter();
        let segments =
            segments.filter_map(|(index, field)| Some((path.sent_index(*index)?, Rc::clone(field))));
        Self { segments: segments.collect(), ..self.clone() }
    }
}

impl CompiledRoute {
    fn new(place: &str, plan: RoutePlan) -> Result<Self, UnusablePlan> {
        let template = plan.path.parse::<Template>();
        let template = template.map_err(|reason| UnusablePlan::new(format!("{place}.path"), reason))?;
        let mut route = Self {
            path: plan.path,
            template,
            methods: plan.methods,
            except: plan.except,
            graphql: plan.graphql,
            request: Vec::new(),
            response: Vec::new(),
            query: Vec::new(),
            headers: Vec::new(),
            segments: Vec::new(),
            fields: Vec::new(),
        };
        for (index, spec) in plan.fields.into_iter().enumerate() {
            let place = format!("{place}.fields[{index}]");
            let field = Rc::new(UnusablePlan::field(&place, spec)?);
            let label = &field.spec.label;
            route
                .put(&field)
                .map_err(|reason| UnusablePlan::new(format!("{place} (label {label})"), reason))?;
            route.fields.push(field);
        }
        Ok(route)
    }

    /// Takes in a field. The error says why it can't stand where it does.
    fn put(&mut self, field: &Rc<CompiledField>) -> Result<(), String> {
        let json_path = |text: &str| text.parse::<JsonPath>().map_err(|error| error.to_string());
        match &field.spec.place {
            Place::Request(path) => self.request.push((json_path(path)?, Rc::clone(field))),
            Place::Response(path) => self.response.push((json_path(path)?, Rc::clone(field))),
            Place::Query(name) => {
                check_searched(field)?;
                self.query.push((name.clone(), Rc::clone(field)));
            }
            Place::Header(name) => {
                check_searched(field)?;
                if !is_header(name) {
                    return Err(format!(
                        "{name:?} is no header's name in lower case; write it as x-name is written"
                    ));
                }
                self.headers.push((name.clone(), Rc::clone(field)));
            }
            Place::Segment(name) => {
                check_searched(field)?;
                let index = self.template.parameter(name);
                let index =
                    index.ok_or_else(|| format!("the route's path has no {{{name}}}; name it there"))?;
                self.segments.push((index, Rc::clone(field)));
            }
            Place::Column { .. } => {
                return Err("a route has no columns; name it in `fields` of the plan".into());
            }
        }
        Ok(())
    }

    /// Whether it was made of this.
    fn says(&self, plan: &RoutePlan) -> bool {
        let RoutePlan { path, methods, except, graphql, fields } = plan;
        (&self.path, &self.methods, &self.except, &self.graphql) == (path, methods, except, graphql)
            && self.fields.iter().map(|field| &field.spec).eq(fields)
    }

    fn fits(&self, method: &str, path: &Path<'_>) -> bool {
        self.takes(method) && self.template.fits(path)
    }

    /// Servers answer HEAD as they answer GET, body aside (RFC 9110, section 9.3.2).
    fn takes(&self, method: &str) -> bool {
        let named = |method: &str| {
            let is_it = |other: &String| other == method;
            if self.methods.is_empty() {
                !self.except.iter().any(is_it)
            } else {
                self.methods.iter().any(is_it)
            }
        };
        named(method) || (method == "HEAD" && named("GET"))
    }
}

/// A value in a query, a header or a path is there to be looked for: it is sealed as the stored one is.
fn check_searched(field: &CompiledField) -> Result<(), String> {
    if field.equality() {
        return Ok(());
    }
    let reason = "equal values are not stored equal, so none is found by it; use a deterministic label of a type whose \
                  values have one text each, or name the value in the body";
    Err(reason.to_owned())
}

/// A token (RFC 9110, section 5.6.2) without upper-case letters, as names of headers reach the filter.
pub(crate) fn is_header(name: &str) -> bool {
    let token = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(token)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
