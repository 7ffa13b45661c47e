//! The measurement as a program: the configuration on standard input, a line for each measurement on standard output.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use fieldveil_bench::Measurement;
use fieldveil_engine::Random;
use fieldveil_engine::ports::{Level, Ports};
use fieldveil_host::{Generator, Work};

struct Process(Generator);

impl Random for Process {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill(bytes);
    }
}

impl Ports for Process {
    fn now_ms(&self) -> u64 {
        0
    }

    fn log(&self, _level: Level, line: &str) {
        // Whoever started it has gone if this fails.
        let _ = writeln!(io::stdout(), "{line}");
    }

    fn audit(&self, _line: &str) {}

    fn server_is_private(&self) -> bool {
        false
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "bench-sealing: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut configuration = Vec::new();
    io::stdin()
        .read_to_end(&mut configuration)
        .map_err(|error| format!("no configuration on standard input: {error}"))?;
    let mut work = Measurement::from_configuration(&configuration)?;
    let generator = Generator::new().map_err(|error| format!("the system gives no randomness: {error}"))?;
    let mut ports = Process(generator);
    while work.step(&mut ports)? {}
    Ok(())
}
