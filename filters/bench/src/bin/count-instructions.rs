//! Calls what instructions are counted of, under a tool that counts those of [`counted`] alone. Prints the names in the
//! order of the calls, and before them how many calls each has.

use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;

use fieldveil_bench::counted::{Call, all};

/// Calls of each: what happens now and then in a session, as growing memory does, is shared out.
const CALLS: u32 = 32;

/// The tool counts from its beginning to its end, and writes the sum down.
#[inline(never)]
fn counted(call: &mut Call) -> Result<(), String> {
    for _ in 0..CALLS {
        black_box(&mut *call)()?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "count-instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let told = |line: String| writeln!(io::stdout(), "{line}").map_err(|error| error.to_string());
    told(format!("{CALLS}"))?;
    for (name, mut call) in all()? {
        // Memory that is kept is there by then.
        for _ in 0..2 {
            call()?;
        }
        counted(&mut call).map_err(|error| format!("{name}: {error}"))?;
        told(name)?;
    }
    Ok(())
}
