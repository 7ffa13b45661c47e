//! What fuzzing found worth keeping, run again.

use std::fs;
use std::path::{Path, PathBuf};

use fieldveil_fuzz::TARGETS;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn inputs(name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(corpus().join(name)).unwrap_or_else(|_| panic!("{name} has no corpus"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

/// One test a target, so that a failure names it; the panic's text names the file.
macro_rules! replays {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            let name = stringify!($name);
            let (_, body) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target");
            let files = inputs(name);
            assert!(!files.is_empty(), "{name} has inputs");
            for file in files {
                println!("{}", file.display());
                body(&fs::read(file).expect("readable"));
            }
        })*

        #[test]
        fn every_target_is_replayed() {
            let replayed = [$(stringify!($name)),*];
            let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, replayed);
        }
    };
}

replays!(
    startup,
    frontend,
    backend,
    mysql_connection,
    mysql_command,
    mysql_response,
    copy,
    load_data,
    sql,
    mysql_sql,
    values,
    masks,
    envelope,
    keyset,
    plan,
    session,
    mysql_session,
    json_stream,
    http_values,
    graphql,
    encoding,
    exchange
);
