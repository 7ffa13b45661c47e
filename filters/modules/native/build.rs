//! Links GCC's unwinder into the module, of which Rust would name the shared library: Envoy's image without a shell has none.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let linux = env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|os| os == "linux");
    let gnu = env::var_os("CARGO_CFG_TARGET_ENV").is_some_and(|env| env == "gnu");
    if let (true, true, Some(folder)) = (linux, gnu, env::var_os("OUT_DIR")) {
        // The linker looks here first, and takes a text for the library: it names the archives.
        let folder = Path::new(&folder);
        fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc )\n")?;
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
    Ok(())
}
