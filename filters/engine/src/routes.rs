//! Finds the routes of a service that a request fits, and what they say together.
//!
//! Every route that fits counts, whatever the order of the routes, so that more is protected where more routes fit. What a
//! set of routes says together is worked out when the first request arrives that fits exactly this set.

mod path;
mod shared;
mod template;
mod unite;

use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use fieldveil_json_stream::{Matcher, Path as JsonPath};
use fieldveil_plan::{Place, RoutePlan, ServicePlan, is_header};
use lru::LruCache;

use self::path::Path;
pub use self::shared::{MakeReady, Services};
use self::template::Template;
use crate::field::{CompiledField, UnusablePlan};
use crate::locks::try_lock;

/// The most sets of routes that are remembered with what they say together. Each takes a few KiB. A usual service has about
/// as many sets as it has routes, and a client can cause no more than that.
const MAX_UNITED: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// A service's routes, ready for use.
pub struct Service {
    /// True if a request that fits no route is refused.
    pub refuses_unmatched: bool,
    routes: Vec<CompiledRoute>,
    /// One field for each keyset and protection that needs keys.
    needing_keys: Vec<Arc<CompiledField>>,
    /// What sets of routes say together, by the numbers of the routes.
    united: Mutex<LruCache<Box<[usize]>, United>>,
    /// Memory for the numbers of the routes that a request fits.
    fitting: Mutex<Vec<usize>>,
}

/// What a set of routes says together, or why they contradict each other.
type United = Result<Arc<Route>, Unroutable>;

/// What the routes that fit a request say together.
#[derive(Clone, Default)]
pub struct Route {
    /// True if a route fits. The route `/**`, which speaks of the whole service, does not count.
    pub matched: bool,
    /// True if a route that fits takes GraphQL over HTTP.
    pub graphql: bool,
    /// The fields of the request's body. None stands for no field.
    pub request: Option<BodyFields>,
    /// The fields of the response's body. None stands for no field.
    pub response: Option<BodyFields>,
    /// The fields of the query, with the names of their parameters.
    pub query: Vec<(String, Arc<CompiledField>)>,
    /// The fields of the request's headers, with their names in lower case.
    pub headers: Vec<(String, Arc<CompiledField>)>,
    /// The fields of the path, each with its index in `path[1..].split('/')`, of the path as it was sent.
    pub segments: Vec<(usize, Arc<CompiledField>)>,
}

/// The fields of a body.
#[derive(Clone)]
pub struct BodyFields {
    /// Finds the values.
    pub matcher: Arc<Matcher>,
    /// One field for each label, in the order of the matcher's numbers.
    pub fields: Vec<Arc<CompiledField>>,
    /// All fields of the plan, each with its own path.
    pub places: Vec<Arc<CompiledField>>,
    /// The matcher's number for a member `_method` at the top, which may name another method. It is None if that member is
    /// a field, and for responses.
    pub method: Option<usize>,
}

/// Why a request has no route.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unroutable {
    /// It cannot be said which routes the path fits, because servers read the path in different ways.
    #[error("the path is not one that all servers read alike")]
    BadPath,
    /// Routes that fit the request contradict each other. The text tells the contradiction and the remedy.
    #[error("{0}")]
    Unusable(Arc<str>),
}

/// A path in a body, with the field that it leads to.
type PathOfBody = (JsonPath, Arc<CompiledField>);

/// One route of the plan.
///
/// Large: it has the members of a route of the plan.
struct CompiledRoute {
    /// The path as the plan has it.
    path: String,
    template: Template,
    methods: Vec<String>,
    except: Vec<String>,
    graphql: bool,
    request: Vec<PathOfBody>,
    response: Vec<PathOfBody>,
    query: Vec<(String, Arc<CompiledField>)>,
    headers: Vec<(String, Arc<CompiledField>)>,
    /// The fields of the path, each with its index in the template.
    segments: Vec<(usize, Arc<CompiledField>)>,
    /// All fields, in the plan's order.
    fields: Vec<Arc<CompiledField>>,
}

impl Service {
    /// Compiles a plan. It checks what only the engine can check: paths, types, masks, and which fields can be searched
    /// for.
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
        let united = Mutex::new(LruCache::new(MAX_UNITED));
        let refuses_unmatched = plan.refuses_unmatched;
        Ok(Self { refuses_unmatched, routes, needing_keys, united, fitting: Mutex::default() })
    }

    /// Returns what is said of requests with this method and this path. The path is the one that was sent, without the
    /// query.
    pub fn route(&self, method: &str, path: &str) -> Result<Arc<Route>, Unroutable> {
        if self.routes.is_empty() {
            return Ok(Arc::default());
        }
        let path = Path::parse(path).ok_or(Unroutable::BadPath)?;
        let routes = self.routes.iter().enumerate();
        let mut fitting =
            try_lock(&self.fitting).map(|mut kept| std::mem::take(&mut *kept)).unwrap_or_default();
        fitting.clear();
        fitting.extend(routes.filter(|(_, route)| route.fits(method, &path)).map(|(index, _)| index));
        let route = self.united(&fitting);
        if let Some(mut kept) = try_lock(&self.fitting) {
            *kept = fitting;
        }
        let route = route?;
        Ok(if path.is_plain() || route.segments.is_empty() { route } else { Arc::new(route.sent_as(&path)) })
    }

    /// Returns what these routes say together. A thread that finds another at what is remembered unites them itself, so that
    /// none waits.
    fn united(&self, fitting: &[usize]) -> United {
        let known = try_lock(&self.united).and_then(|mut united| united.get(fitting).cloned());
        if let Some(known) = known {
            return known;
        }
        let route = unite::unite(fitting.iter().filter_map(|index| self.routes.get(*index))).map(Arc::new);
        if let Some(mut united) = try_lock(&self.united) {
            united.put(fitting.into(), route.clone());
        }
        route
    }

    /// Returns true if it was compiled from this plan.
    fn says(&self, plan: &ServicePlan) -> bool {
        self.refuses_unmatched == plan.refuses_unmatched
            && self.routes.len() == plan.routes.len()
            && self.routes.iter().zip(&plan.routes).all(|(route, plan)| route.says(plan))
    }

    /// Returns true if no route has a field.
    pub fn is_empty(&self) -> bool {
        self.routes.iter().all(|route| route.fields.is_empty())
    }

    /// Returns the fields that need keys, one for each keyset and protection.
    pub(crate) fn needing_keys(&self) -> impl Iterator<Item = &CompiledField> {
        self.needing_keys.iter().map(Arc::as_ref)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("routes", &self.routes.len()).finish_non_exhaustive()
    }
}

impl Route {
    /// Returns true if it has no field.
    pub fn is_empty(&self) -> bool {
        self.request.is_none()
            && self.response.is_none()
            && self.query.is_empty()
            && self.headers.is_empty()
            && self.segments.is_empty()
    }

    /// Returns the same route with the indices that its segments have in `path` as it was sent.
    fn sent_as(&self, path: &Path<'_>) -> Self {
        let segments = self.segments.iter();
        let segments =
            segments.filter_map(|(index, field)| Some((path.sent_index(*index)?, Arc::clone(field))));
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
            let field = Arc::new(UnusablePlan::field(&place, spec)?);
            let label = &field.spec.label;
            route
                .put(&field)
                .map_err(|reason| UnusablePlan::new(format!("{place} (label {label})"), reason))?;
            route.fields.push(field);
        }
        Ok(route)
    }

    /// Adds a field. The error says why the field can't stand where it does.
    fn put(&mut self, field: &Arc<CompiledField>) -> Result<(), String> {
        let json_path = |text: &str| text.parse::<JsonPath>().map_err(|error| error.to_string());
        match &field.spec.place {
            Place::Request(path) => self.request.push((json_path(path)?, Arc::clone(field))),
            Place::Response(path) => self.response.push((json_path(path)?, Arc::clone(field))),
            Place::Query(name) => {
                check_searched(field)?;
                self.query.push((name.clone(), Arc::clone(field)));
            }
            Place::Header(name) => {
                check_searched(field)?;
                if !is_header(name) {
                    return Err(format!(
                        "{name:?} is no header's name in lower case; write it as x-name is written"
                    ));
                }
                self.headers.push((name.clone(), Arc::clone(field)));
            }
            Place::Segment(name) => {
                check_searched(field)?;
                let index = self.template.parameter(name);
                let index =
                    index.ok_or_else(|| format!("the route's path has no {{{name}}}; name it there"))?;
                self.segments.push((index, Arc::clone(field)));
            }
            Place::Column { .. } => {
                return Err("a route has no columns; name it in `fields` of the plan".into());
            }
        }
        Ok(())
    }

    /// Returns true if it was compiled from this plan.
    fn says(&self, plan: &RoutePlan) -> bool {
        let RoutePlan { path, methods, except, graphql, fields } = plan;
        (&self.path, &self.methods, &self.except, &self.graphql) == (path, methods, except, graphql)
            && self.fields.iter().map(|field| &field.spec).eq(fields)
    }

    fn fits(&self, method: &str, path: &Path<'_>) -> bool {
        self.takes(method) && self.template.fits(path)
    }

    /// Returns true if the route is for the method. Servers answer HEAD as they answer GET, without the body (RFC 9110,
    /// section 9.3.2).
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

/// Checks that the field can be searched for. A value in a query, a header or a path is sealed in the same way as the
/// stored one, which it is compared with.
fn check_searched(field: &CompiledField) -> Result<(), String> {
    if field.equality() {
        return Ok(());
    }
    let reason = "equal values are not stored equal, so none is found by it; use a deterministic label of a type whose \
                  values have one text each, or name the value in the body";
    Err(reason.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
