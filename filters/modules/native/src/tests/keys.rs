//! Where keys are, and are not.

use std::alloc::Layout;
use std::borrow::Cow;
use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

use fieldveil_native::envoy::{Answer, Main, Wake};
use fieldveil_native::{FilterConfig, FilterPlace, KeyMemoryFault, MainThread};
use zeroize::Zeroize;

use crate::allocator::{enter_key_scope, leave_key_scope};
use crate::hooks::keep_keys_apart;
use crate::key_memory;

const CONFIG: &[u8] = br#"{
    "listener": "l",
    "policy": {"cluster": "opa", "path": "/v1/data/fieldveil/plan", "timeout_ms": 1000},
    "keys": {"cluster": "key_agent", "path": "/v1/keysets", "timeout_ms": 1000,
             "refresh_seconds": 5, "max_stale_seconds": 600}
}"#;

/// A keyset for each purpose, whose key is bytes that are [`STEP`] more each. They are here in base64 alone.
const KEYSETS: [(&str, &str, &str, &str); 3] = [
    ("aead", "AesGcmKey", "TINK", "GiALMFV6n8TpDjNYfaLH7BE2W4Clyu8UOV6DqM3yFzxhhg=="),
    (
        "deterministic",
        "AesSivKey",
        "TINK",
        "EkBliq/U+R5DaI2y1/whRmuQtdr/JEluk7jdAidMcZa74AUqT3SZvuMILVJ3nMHmCzBVep/E6Q4zWH2ix+wRNluA",
    ),
    ("prf", "HmacPrfKey", "RAW", "EgIIAxogye4TOF2Cp8zxFjtgharP9Bk+Y4it0vccQWaLsNX6H0Q="),
];
const STEP: u8 = 37;
/// Bytes of a key that are looked for: half of an AES key.
const PART: usize = 16;

/// One test at a time: what one looks for is in the memory of another.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_scope<T>(make: impl FnOnce() -> T) -> T {
    enter_key_scope();
    let made = make();
    leave_key_scope();
    made
}

/// The memory that the process may write to: where each part begins, its length, and the kernel's flags of it.
fn mappings() -> Vec<(usize, usize, String)> {
    let mut mappings: Vec<(usize, usize, String)> = Vec::new();
    for line in fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap();
        if let Some((start, end)) = first.split_once('-') {
            let [start, end] = [start, end].map(|text| usize::from_str_radix(text, 16).unwrap());
            mappings.push((start, end - start, words.next().unwrap().to_owned()));
        } else if first == "VmFlags:" {
            mappings.last_mut().unwrap().2 = words.collect::<Vec<_>>().join(" ");
        }
    }
    mappings.retain(|(_, _, flags)| flags.split(' ').any(|flag| flag == "wr"));
    mappings
}

/// The kernel's flags of the memory at a place.
fn flags_at(place: *const u8) -> Vec<String> {
    let found = mappings().into_iter().find(|(start, length, _)| place.addr().wrapping_sub(*start) < *length);
    found.unwrap().2.split(' ').map(str::to_owned).collect()
}

/// How many parts of keys are in the memory for keys, and elsewhere.
fn count_parts_of_keys() -> (usize, usize) {
    let memory = File::open("/proc/self/mem").unwrap();
    let (mut inside, mut outside) = (0, 0);
    let mut buffer = vec![0_u8; 1 << 20];
    for (start, length, _) in mappings() {
        let mut run = 0;
        for offset in (0..length).step_by(buffer.len()) {
            let piece = buffer.len().min(length - offset);
            // Some of the kernel's own can not be read.
            if memory.read_exact_at(&mut buffer[..piece], (start + offset) as u64).is_err() {
                break;
            }
            for pair in buffer[..piece].windows(2) {
                run = if pair[1] == pair[0].wrapping_add(STEP) { run + 1 } else { 0 };
                if run == PART - 1 {
                    let is_inside = key_memory::contains(std::ptr::without_provenance(start));
                    *(if is_inside { &mut inside } else { &mut outside }) += 1;
                }
            }
        }
        buffer.as_mut_slice().zeroize();
    }
    (inside, outside)
}

struct NoWaker;

impl Wake for NoWaker {
    fn wake(&self) {}
}

/// An Envoy that notes the last call to the key agent.
#[derive(Default)]
struct Asked(Cell<u64>, Cell<u64>);

impl Main for Asked {
    fn call(&self, cluster: &str, _: &[(&str, &str)], _: &[u8], _: u64) -> Result<u64, String> {
        self.0.set(self.0.get() + 1);
        if cluster == "key_agent" {
            self.1.set(self.0.get());
        }
        Ok(self.0.get())
    }

    fn add(&self, _: usize, _: &[&str], _: u64) {}

    fn set(&self, _: usize, _: &[&str], _: u64) {}
}

/// What the key agent answers.
fn keysets() -> Vec<u8> {
    let purposes = KEYSETS.map(|(purpose, algorithm, prefix, value)| {
        format!(
            r#""{purpose}": {{"primaryKeyId": 1, "key": [{{"keyData": {{"typeUrl":
            "type.googleapis.com/google.crypto.tink.{algorithm}", "value": "{value}", "keyMaterialType": "SYMMETRIC"}},
            "status": "ENABLED", "keyId": 1, "outputPrefixType": "{prefix}"}}]}}"#
        )
    });
    format!(r#"{{"revision": "r", "keysets": {{"pii": {{{}}}}}}}"#, purposes.join(",")).into_bytes()
}

/// Has a keyring made as Envoy's main thread does, and drops it when it is told to. In between it leaves its stack as it is.
fn hold_keys(made: &Barrier, dropped: &Barrier) {
    let mut main = MainThread::new(Box::new(NoWaker));
    let config = FilterConfig::new(FilterPlace::Network, b"fieldveil.postgres", CONFIG).unwrap();
    let envoy = Asked::default();
    main.tick(&envoy);
    let headers = vec![(b":status".as_slice(), b"200".as_slice())];
    main.answered(&envoy, envoy.1.get(), &Answer { headers, body: Cow::Owned(keysets()) });
    made.wait();
    made.wait();
    drop((config, main));
    dropped.wait();
    dropped.wait();
}

#[test]
fn keys_of_the_agent_are_in_the_memory_for_keys_alone_and_gone_with_their_keyring() {
    let _alone = alone();
    keep_keys_apart();
    let [made, dropped] = [Barrier::new(2), Barrier::new(2)];
    let before = count_parts_of_keys();
    // What fails in here would wait forever.
    let (held, control, after) = std::thread::scope(|threads| {
        threads.spawn(|| hold_keys(&made, &dropped));
        made.wait();
        let held = count_parts_of_keys();
        let mut key: Vec<u8> = (0..32_u8).map(|at| at.wrapping_mul(STEP)).collect();
        let control = count_parts_of_keys();
        key.zeroize();
        made.wait();
        dropped.wait();
        let after = count_parts_of_keys();
        dropped.wait();
        (held, control, after)
    });
    assert!(control.1 > 0, "what looks for keys finds none");
    assert_eq!((before, held.1, after), ((0, 0), 0, (0, 0)));
}

#[test]
fn memory_for_keys_is_left_out_of_core_dumps_and_locked_and_other_memory_is_not() {
    let _alone = alone();
    let key = in_scope(|| vec![1_u8; 100]);
    let flags = flags_at(key.as_ptr());
    assert!(flags.iter().any(|flag| flag == "dd"), "{flags:?}");
    assert!(flags.iter().any(|flag| flag == "lo") || key_memory::fault().is_some(), "{flags:?}");
    let other = Box::new([1_u8; 100]);
    assert!(!flags_at(other.as_ptr()).iter().any(|flag| flag == "dd" || flag == "lo"));
}

#[test]
fn memory_for_keys_is_wiped_when_it_is_given_back_by_whichever_thread() {
    let _alone = alone();
    let key = in_scope(|| vec![0xA5_u8; 4000]);
    let place = key.as_ptr();
    std::thread::spawn(|| drop(key)).join().unwrap();
    // SAFETY: the range stays. Nobody uses it while the test is alone.
    let left: Vec<u8> = (0..4000).map(|at| unsafe { place.add(at).read_volatile() }).collect();
    assert!(!left.contains(&0xA5));
}

#[test]
fn what_grows_stays_in_the_memory_for_keys_and_what_comes_to_it_moves_there() {
    let _alone = alone();
    let mut key = in_scope(|| vec![7_u8; 100]);
    key.reserve_exact(100_000);
    assert!(key_memory::contains(key.as_ptr()));
    let mut other = vec![9_u8; 100];
    assert!(!key_memory::contains(other.as_ptr()));
    in_scope(|| other.reserve_exact(10_000));
    assert!(key_memory::contains(other.as_ptr()));
    assert_eq!((key, other), (vec![7; 100], vec![9; 100]));
    let zeros = in_scope(|| vec![0_u8; 5000]);
    assert!(key_memory::contains(zeros.as_ptr()) && zeros.iter().all(|byte| *byte == 0));
}

#[test]
fn memory_that_can_not_be_locked_or_had_is_told_of() {
    let _alone = alone();
    let mut range = key_memory::Range::new(|_, _| false);
    assert_eq!(range.fault(), None);
    assert!(range.allocate(Layout::new::<u64>()).is_some());
    assert_eq!(range.fault(), Some(KeyMemoryFault::NotLocked));
    assert!(range.allocate(Layout::array::<u8>(key_memory::SIZE).unwrap()).is_none());
    assert_eq!(range.fault(), Some(KeyMemoryFault::Elsewhere));
}
