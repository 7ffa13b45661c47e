//! Keysets in Tink's JSON and protobuf forms, checked once.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use serde::Deserialize;
use zeroize::{Zeroize, Zeroizing};

use crate::error::KeysetError;
use crate::limits::MAX_KEYS;
use crate::proto;

/// A key whose content is not read yet.
pub(crate) struct RawKey {
    pub(crate) id: u32,
    /// `OutputPrefixType`, or 0 for one that no purpose here uses.
    pub(crate) prefix: i32,
    pub(crate) type_url: String,
    pub(crate) value: Zeroizing<Vec<u8>>,
}

/// A cleartext keyset, checked: the enabled keys, of which one is the primary.
pub struct Keyset {
    pub(crate) primary: u32,
    pub(crate) keys: Vec<RawKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonKeyset {
    primary_key_id: u32,
    #[serde(default)]
    key: Vec<JsonKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonKey {
    key_data: JsonKeyData,
    status: String,
    key_id: u32,
    output_prefix_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonKeyData {
    type_url: String,
    value: Zeroizing<String>,
}

impl Keyset {
    /// Reads Tink's JSON form.
    pub fn from_json(json: &[u8]) -> Result<Self, KeysetError> {
        let malformed =
            |e: serde_json::Error| KeysetError::MalformedJson { line: e.line(), column: e.column() };
        let keyset: JsonKeyset = serde_json::from_slice(json).map_err(malformed)?;
        let keys = keyset.key.into_iter().map(|key| {
            let status = match key.status.as_str() {
                "ENABLED" => proto::ENABLED,
                "DISABLED" => proto::DISABLED,
                "DESTROYED" => proto::DESTROYED,
                _ => 0,
            };
            let prefix = match key.output_prefix_type.as_str() {
                "TINK" => proto::TINK,
                "RAW" => proto::RAW,
                _ => 0,
            };
            let value = STANDARD
                .decode(key.key_data.value.as_bytes())
                .map_err(|_| KeysetError::MalformedKey { key_id: key.key_id, algorithm: "base64" })?;
            Ok(Entry {
                status,
                key: RawKey {
                    id: key.key_id,
                    prefix,
                    type_url: key.key_data.type_url,
                    value: Zeroizing::new(value),
                },
            })
        });
        Self::check(keyset.primary_key_id, keys.collect::<Result<_, _>>()?)
    }

    /// Reads Tink's protobuf form.
    pub fn from_protobuf(bytes: &[u8]) -> Result<Self, KeysetError> {
        let keyset = proto::KeysetMessage::decode(bytes).map_err(|_| KeysetError::MalformedProtobuf)?;
        let keys = keyset.key.into_iter().map(|key| {
            let data = key.key_data.unwrap_or_default();
            Entry {
                status: key.status,
                key: RawKey {
                    id: key.key_id,
                    prefix: key.output_prefix_type,
                    type_url: data.type_url,
                    value: Zeroizing::new(data.value),
                },
            }
        });
        Self::check(keyset.primary_key_id, keys.collect())
    }

    fn check(primary: u32, entries: Vec<Entry>) -> Result<Self, KeysetError> {
        if entries.is_empty() {
            return Err(KeysetError::Empty);
        }
        if entries.len() > MAX_KEYS {
            return Err(KeysetError::TooManyKeys(entries.len()));
        }
        let mut seen = HashSet::new();
        let mut keys = Vec::new();
        let mut primary_status = None;
        for Entry { status, key } in entries {
            if !seen.insert(key.id) {
                return Err(KeysetError::DuplicateKeyId(key.id));
            }
            if key.id == primary {
                primary_status = Some(status);
            }
            match status {
                proto::ENABLED => keys.push(key),
                proto::DISABLED | proto::DESTROYED => {}
                _ => return Err(KeysetError::UnknownStatus(key.id)),
            }
        }
        match primary_status {
            Some(proto::ENABLED) => Ok(Self { primary, keys }),
            Some(_) => Err(KeysetError::PrimaryNotEnabled(primary)),
            None => Err(KeysetError::NoPrimary(primary)),
        }
    }

    /// The id of the primary key.
    pub fn primary_key_id(&self) -> u32 {
        self.primary
    }

    /// The ids of the enabled keys.
    pub fn key_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.keys.iter().map(|key| key.id)
    }
}

struct Entry {
    status: i32,
    key: RawKey,
}

impl std::fmt::Debug for Keyset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<u32> = self.key_ids().collect();
        f.debug_struct("Keyset").field("primary", &self.primary).field("keys", &ids).finish_non_exhaustive()
    }
}

/// The key of a message with the key in field 2 or 3, of version 0.
pub(crate) fn key_value(message: (u32, Vec<u8>)) -> Option<Zeroizing<Vec<u8>>> {
    let (version, mut value) = message;
    if version == 0 {
        return Some(Zeroizing::new(value));
    }
    value.zeroize();
    None
}
