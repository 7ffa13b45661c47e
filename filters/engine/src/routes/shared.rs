//! Services that are ready for use, for the plans of all principals who are treated alike: principals are many, as many
//! as a service has users, and the ways to treat them few.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use fieldveil_plan::ServicePlan;

use super::Service;
use crate::field::UnusablePlan;

/// Services that are compared with a plan's. With more ways than these to treat principals some are held twice.
const MAX_SHARED: usize = 32;

/// Makes what a plan says of a service ready; None where no service is served. A filter of databases has none of this,
/// and none of what it takes in its module.
pub type MakeReady = Box<dyn FnMut(ServicePlan) -> Result<Option<Arc<Service>>, UnusablePlan> + Send>;

/// The services of the plans that are held.
#[derive(Default)]
pub struct Services(VecDeque<Weak<Service>>);

impl Services {
    /// Makes services ready, and remembers them.
    pub fn serving() -> MakeReady {
        let mut services = Self::default();
        Box::new(move |plan| services.ready(plan).map(Some))
    }

    /// The service of a plan, made ready unless another plan says the same.
    pub fn ready(&mut self, plan: ServicePlan) -> Result<Arc<Service>, UnusablePlan> {
        self.0.retain(|service| service.strong_count() > 0);
        let mut held = self.0.iter().filter_map(Weak::upgrade);
        if let Some(known) = held.find(|service| service.says(&plan)) {
            return Ok(known);
        }
        let service = Arc::new(Service::new(plan)?);
        self.0.push_front(Arc::downgrade(&service));
        self.0.truncate(MAX_SHARED);
        Ok(service)
    }
}
