//! The bootstrap extension: the module's state on Envoy's main thread.

use std::cell::RefCell;

use fieldveil_native::envoy::{Main, Wake};
use fieldveil_native::{COUNTERS, GAUGES, MainThread, TICK_MS};

use crate::filter::module_buffer;
use crate::raw::{self, BootstrapPointer, ModuleBuffer, ModuleHeader, SchedulerPointer, TimerPointer};

/// The extension's configuration. Envoy destroys it before its own half, and calls its hooks on the main thread alone.
pub struct Bootstrap {
    main: RefCell<MainThread>,
    envoy: EnvoyMain,
    timer: TimerPointer,
}

impl Bootstrap {
    /// Registers the statistics and begins to tick. The error is the name of a statistic that Envoy did not take.
    pub fn new(pointer: BootstrapPointer) -> Result<Self, &'static str> {
        let mut envoy = EnvoyMain { pointer, counters: Vec::new(), gauges: Vec::new() };
        for (name, labels) in COUNTERS {
            envoy.counters.push(
                define(
                    pointer,
                    name,
                    labels,
                    raw::envoy_dynamic_module_callback_bootstrap_extension_config_define_counter,
                )
                .ok_or(*name)?,
            );
        }
        for (name, labels) in GAUGES {
            envoy.gauges.push(
                define(
                    pointer,
                    name,
                    labels,
                    raw::envoy_dynamic_module_callback_bootstrap_extension_config_define_gauge,
                )
                .ok_or(*name)?,
            );
        }
        // SAFETY: the pointer is good for as long as the configuration is.
        let (scheduler, timer) = unsafe {
            (
                raw::envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_new(pointer),
                raw::envoy_dynamic_module_callback_bootstrap_extension_timer_new(pointer),
            )
        };
        let bootstrap =
            Self { main: RefCell::new(MainThread::new(Box::new(MainWaker(scheduler)))), envoy, timer };
        bootstrap.tick_in(1);
        // SAFETY: as above. Nothing here keeps Envoy from being ready.
        unsafe { raw::envoy_dynamic_module_callback_bootstrap_extension_config_signal_init_complete(pointer) }
        Ok(bootstrap)
    }

    /// Runs a hook.
    pub fn run<T>(&self, hook: impl FnOnce(&mut MainThread, &dyn Main) -> T) -> T {
        hook(&mut self.main.borrow_mut(), &self.envoy)
    }

    /// The timer has fired.
    pub fn ticked(&self) {
        self.tick_in(TICK_MS);
        self.run(|main, envoy| main.tick(envoy));
    }

    fn tick_in(&self, milliseconds: u64) {
        // SAFETY: the timer is deleted when this is dropped.
        unsafe {
            raw::envoy_dynamic_module_callback_bootstrap_extension_timer_enable(self.timer, milliseconds)
        }
    }
}

impl Drop for Bootstrap {
    fn drop(&mut self) {
        // SAFETY: nobody has the pointer any more.
        unsafe { raw::envoy_dynamic_module_callback_bootstrap_extension_timer_delete(self.timer) }
    }
}

/// How Envoy is told of a statistic.
type Define =
    unsafe extern "C" fn(BootstrapPointer, ModuleBuffer, *const ModuleBuffer, usize, *mut usize) -> u32;

fn define(pointer: BootstrapPointer, name: &str, labels: &[&str], define: Define) -> Option<usize> {
    let name = format!("fieldveil.{name}");
    let labels: Vec<_> = labels.iter().map(|label| module_buffer(label.as_bytes())).collect();
    let mut id = 0;
    // SAFETY: what is passed outlives the call.
    let result = unsafe {
        define(pointer, module_buffer(name.as_bytes()), labels.as_ptr(), labels.len(), &raw mut id)
    };
    (result == raw::SUCCESS).then_some(id)
}

/// Envoy's main thread.
struct EnvoyMain {
    pointer: BootstrapPointer,
    counters: Vec<usize>,
    gauges: Vec<usize>,
}

impl Main for EnvoyMain {
    fn call(
        &self,
        cluster: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        timeout_ms: u64,
    ) -> Result<u64, String> {
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| ModuleHeader {
                name: module_buffer(name.as_bytes()),
                value: module_buffer(value.as_bytes()),
            })
            .collect();
        let mut call = 0;
        // SAFETY: what is passed outlives the call.
        let result = unsafe {
            raw::envoy_dynamic_module_callback_bootstrap_extension_http_callout(
                self.pointer,
                &raw mut call,
                module_buffer(cluster.as_bytes()),
                headers.as_ptr(),
                headers.len(),
                module_buffer(body),
                timeout_ms,
            )
        };
        if result == raw::SUCCESS {
            return Ok(call);
        }
        Err(format!("Envoy did not take the call to cluster {cluster} (result {result})"))
    }

    fn add(&self, family: usize, labels: &[&str], by: u64) {
        let labels: Vec<_> = labels.iter().map(|label| module_buffer(label.as_bytes())).collect();
        let Some(id) = self.counters.get(family) else { return };
        // SAFETY: what is passed outlives the call. A counter that can't be raised is no reason to end anything.
        unsafe {
            raw::envoy_dynamic_module_callback_bootstrap_extension_config_increment_counter(
                self.pointer,
                *id,
                labels.as_ptr(),
                labels.len(),
                by,
            );
        }
    }

    fn set(&self, family: usize, labels: &[&str], value: u64) {
        let labels: Vec<_> = labels.iter().map(|label| module_buffer(label.as_bytes())).collect();
        let Some(id) = self.gauges.get(family) else { return };
        // SAFETY: as above.
        unsafe {
            raw::envoy_dynamic_module_callback_bootstrap_extension_config_set_gauge(
                self.pointer,
                *id,
                labels.as_ptr(),
                labels.len(),
                value,
            );
        }
    }
}

/// Calls the main thread's hook.
struct MainWaker(SchedulerPointer);

// SAFETY: Envoy's scheduler may be used from every thread.
unsafe impl Send for MainWaker {}
unsafe impl Sync for MainWaker {}

impl Wake for MainWaker {
    fn wake(&self) {
        // SAFETY: the pointer is good until it is deleted, when this is dropped.
        unsafe { raw::envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_commit(self.0, 0) }
    }
}

impl Drop for MainWaker {
    fn drop(&mut self) {
        // SAFETY: nobody has the pointer any more.
        unsafe { raw::envoy_dynamic_module_callback_bootstrap_extension_config_scheduler_delete(self.0) }
    }
}
