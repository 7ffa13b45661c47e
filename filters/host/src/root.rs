//! The root context: one worker's shared state, renewed on the tick.

use std::cell::RefCell;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::rc::{Rc, Weak};
use std::time::Duration;

use fieldveil_engine::Random;
use fieldveil_engine::config::{Config, Protocol};
use fieldveil_engine::fetch::{Fetch, FetchResponse};
use fieldveil_engine::ports::Level;
use fieldveil_engine::reports::Report;
use fieldveil_engine::worker::Worker;
use fieldveil_engine::{mysql, postgres};
use proxy_wasm::hostcalls::{close_downstream, set_effective_context};
use proxy_wasm::traits::{Context, HttpContext, RootContext, StreamContext};
use proxy_wasm::types::ContextType;

use crate::callouts::Callouts;
use crate::exchange::ExchangeContext;
use crate::fetches::Fetches;
use crate::kept_budgets;
use crate::log::{write_audit, write_log};
use crate::memory;
use crate::ports::{EnvoyPorts, now_ms};
use crate::shared::Shared;
use crate::stream::Stream;

/// A variable that Envoy hands the module. One that is not UTF-8 is as one that is not there.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// How often the worker looks for what is due.
const TICK: Duration = Duration::from_secs(1);

/// What a module serves: a type and not a value, so that nothing of the other protocols is in it.
pub trait Served: 'static {
    /// The protocol.
    const PROTOCOL: Protocol;

    /// What a worker holds for all.
    fn worker(config: Config) -> Worker;
    /// Which contexts Envoy has the module make.
    const CONTEXTS: ContextType;

    /// A connection.
    fn stream(_id: u32, _shared: Shared) -> Option<Box<dyn StreamContext>> {
        None
    }

    /// A request and its response.
    fn exchange(_shared: Shared) -> Option<Box<dyn HttpContext>> {
        None
    }
}

/// PostgreSQL.
pub struct Postgres;

impl Served for Postgres {
    const PROTOCOL: Protocol = Protocol::Postgres;

    fn worker(config: Config) -> Worker {
        Worker::of_databases(config)
    }
    const CONTEXTS: ContextType = ContextType::StreamContext;

    fn stream(id: u32, shared: Shared) -> Option<Box<dyn StreamContext>> {
        Some(Box::new(Stream::<postgres::PostgresConnection>::new(id, shared)))
    }
}

/// MySQL and MariaDB.
pub struct MySql;

impl Served for MySql {
    const PROTOCOL: Protocol = Protocol::MySql;

    fn worker(config: Config) -> Worker {
        Worker::of_databases(config)
    }
    const CONTEXTS: ContextType = ContextType::StreamContext;

    fn stream(id: u32, shared: Shared) -> Option<Box<dyn StreamContext>> {
        Some(Box::new(Stream::<mysql::MySqlConnection>::new(id, shared)))
    }
}

/// JSON over HTTP.
pub struct Json;

impl Served for Json {
    const PROTOCOL: Protocol = Protocol::Http;

    fn worker(config: Config) -> Worker {
        Worker::new(config)
    }
    const CONTEXTS: ContextType = ContextType::HttpContext;

    fn exchange(shared: Shared) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(ExchangeContext::new(shared)))
    }
}

/// The root context.
pub struct Root<S> {
    served: PhantomData<S>,
    id: u32,
    shared: Option<Shared>,
    callouts: Callouts,
    /// The calls whose answers connections wait for.
    awaited: HashSet<u32>,
    /// Tells this worker from the others.
    number: u64,
}

impl<S: Served> Root<S> {
    /// Not configured yet.
    pub fn root(id: u32) -> Box<dyn RootContext> {
        let (shared, callouts, awaited) = Default::default();
        Box::new(Self { served: PhantomData, id, shared, callouts, awaited, number: 0 })
    }

    /// Sends what is due.
    fn ask(&mut self, shared: &Shared, due: Vec<Fetch>) {
        let mut callouts = std::mem::take(&mut self.callouts);
        for fetch in due {
            let sent = callouts.send(self, &shared.worker.borrow(), fetch);
            if let Err((fetch, reason)) = sent {
                write_log(Level::Warn, &format!("{} could not be asked for: {reason}", fetch.part()));
                // The error that it returns is the one that was just logged.
                let _ = shared.worker.borrow_mut().answered(&fetch, FetchResponse::Failed(reason), now_ms());
            }
        }
        self.callouts = callouts;
    }

    /// Asks for what connections wait for.
    fn ask_for_connections(&mut self, shared: &Shared) {
        let wanted = shared.fetches.borrow_mut().take_wanted();
        for fetch in wanted {
            let mut callouts = std::mem::take(&mut self.callouts);
            let sent = callouts.send(self, &shared.worker.borrow(), fetch);
            self.callouts = callouts;
            match sent {
                Ok(token) => drop(self.awaited.insert(token)),
                Err((fetch, reason)) => self.hand_out(shared, &fetch, &Err(reason)),
            }
        }
    }

    /// Gives the answer to all connections that wait for it.
    fn hand_out(&self, shared: &Shared, fetch: &Fetch, result: &Result<(), String>) {
        let awaiting = shared.fetches.borrow_mut().take_awaiting(fetch);
        awaiting.iter().filter_map(Weak::upgrade).for_each(|one| one.take_answer(fetch, result));
        let _ = set_effective_context(self.id);
    }
}

impl<S: Served> Context for Root<S> {
    fn on_http_call_response(&mut self, token: u32, headers: usize, body_size: usize, _trailers: usize) {
        let Some(shared) = self.shared.clone() else { return };
        let mut callouts = std::mem::take(&mut self.callouts);
        let received = callouts.receive(self, &mut shared.worker.borrow_mut(), token, (headers, body_size));
        self.callouts = callouts;
        let due = shared.worker.borrow_mut().due_plans(now_ms());
        self.ask(&shared, due);
        let is_awaited = self.awaited.remove(&token);
        if let (true, Some((fetch, result))) = (is_awaited, &received) {
            self.hand_out(&shared, fetch, result);
        } else if let Some((fetch, Err(reason))) = received {
            let part = fetch.part();
            write_log(
                Level::Warn,
                &format!(
                    "{part} could not be renewed: {reason}; what is held stays in use until it is too old"
                ),
            );
            shared.worker.borrow_mut().count("renewals.failed", 1);
        }
        shared.publish();
    }

    fn on_done(&mut self) -> bool {
        if let Some(shared) = &self.shared {
            for line in shared.worker.borrow().state.principals.last_lines() {
                write_audit(&line);
            }
            shared.publish();
        }
        true
    }
}

impl<S: Served> RootContext for Root<S> {
    fn on_configure(&mut self, _size: usize) -> bool {
        let configuration = self.get_plugin_configuration().unwrap_or_default();
        let config = match Config::from_json(&configuration, S::PROTOCOL, &environment) {
            Ok(config) => config,
            Err(error) => {
                write_log(Level::Error, &format!("the filter's configuration is not usable: {error}"));
                return false;
            }
        };
        let mut ports = match EnvoyPorts::new() {
            Ok(ports) => ports,
            Err(error) => {
                write_log(Level::Error, &format!("Envoy gives no randomness: {error}"));
                return false;
            }
        };
        let mut number = [0; 8];
        ports.fill(&mut number);
        self.number = u64::from_le_bytes(number);
        let fetches = match Fetches::of_worker(self.number) {
            Ok(fetches) => fetches,
            Err(status) => {
                write_log(
                    Level::Error,
                    &format!("Envoy gives no queue for what is to be fetched ({status:?})"),
                );
                return false;
            }
        };
        let mut worker = S::worker(config);
        kept_budgets::restore(&mut worker);
        let jwt_payload =
            worker.config().http.as_ref().map_or("", |http| http.identity.jwt_payload.as_str()).into();
        self.shared = Some(Shared {
            worker: Rc::new(RefCell::new(worker)),
            ports: Rc::new(RefCell::new(ports)),
            metrics: Rc::default(),
            jwt_payload,
            fetches: Rc::new(RefCell::new(fetches)),
            closing: Rc::default(),
            spare: Rc::default(),
        });
        self.set_tick_period(TICK);
        true
    }

    fn on_tick(&mut self) {
        let Some(shared) = self.shared.clone() else { return };
        let now_ms = now_ms();
        let due = shared.worker.borrow_mut().due(now_ms);
        {
            let worker = shared.worker.borrow();
            let ages = worker.ages(now_ms, memory::in_use());
            worker.state.show_held_plans(|held| {
                shared.metrics.borrow_mut().report(Report { worker: self.number, now_ms, ages, held });
            });
        }
        for line in shared.worker.borrow_mut().audit_lines(now_ms) {
            write_audit(&line);
        }
        self.ask(&shared, due);
        shared.publish();
        // Last: it leaves the SDK with another context as the active one.
        for stream in shared.closing.take() {
            // One that has ended meanwhile is not known any more.
            if set_effective_context(stream).is_ok() {
                // Envoy ends the server's side with the client's.
                let _ = close_downstream();
            }
        }
    }

    fn on_queue_ready(&mut self, _queue: u32) {
        if let Some(shared) = self.shared.clone() {
            self.ask_for_connections(&shared);
        }
    }

    fn create_stream_context(&self, context_id: u32) -> Option<Box<dyn StreamContext>> {
        S::stream(context_id, self.shared.clone()?)
    }

    fn create_http_context(&self, _context_id: u32) -> Option<Box<dyn HttpContext>> {
        S::exchange(self.shared.clone()?)
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(S::CONTEXTS)
    }
}
