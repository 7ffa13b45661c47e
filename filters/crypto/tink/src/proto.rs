//! Tink's protobuf messages, as far as they are read (`tink.proto` and one file an algorithm).

/// `KeyStatusType`.
pub(crate) const ENABLED: i32 = 1;
/// See [`ENABLED`].
pub(crate) const DISABLED: i32 = 2;
/// See [`ENABLED`].
pub(crate) const DESTROYED: i32 = 3;
/// `OutputPrefixType.TINK`.
pub(crate) const TINK: i32 = 1;
/// `OutputPrefixType.RAW`.
pub(crate) const RAW: i32 = 3;

/// `Keyset`.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct KeysetMessage {
    #[prost(uint32, tag = "1")]
    pub(crate) primary_key_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub(crate) key: Vec<Key>,
}

/// `Keyset.Key`.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct Key {
    #[prost(message, optional, tag = "1")]
    pub(crate) key_data: Option<KeyData>,
    #[prost(int32, tag = "2")]
    pub(crate) status: i32,
    #[prost(uint32, tag = "3")]
    pub(crate) key_id: u32,
    #[prost(int32, tag = "4")]
    pub(crate) output_prefix_type: i32,
}

/// `KeyData`.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct KeyData {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

/// `AesGcmKey`, `AesGcmSivKey` and `XChaCha20Poly1305Key`: the key is field 3.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct KeyInField3 {
    #[prost(uint32, tag = "1")]
    pub(crate) version: u32,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) key_value: Vec<u8>,
}

/// `AesSivKey`, `ChaCha20Poly1305Key` and `AesCmacPrfKey`: the key is field 2.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct KeyInField2 {
    #[prost(uint32, tag = "1")]
    pub(crate) version: u32,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) key_value: Vec<u8>,
}

/// `HashType.SHA384`.
pub(crate) const SHA384: i32 = 2;
/// `HashType.SHA256`.
pub(crate) const SHA256: i32 = 3;
/// `HashType.SHA512`.
pub(crate) const SHA512: i32 = 4;

/// `HmacPrfKey` and `HkdfPrfKey`: parameters before the key.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct HashPrfKey {
    #[prost(uint32, tag = "1")]
    pub(crate) version: u32,
    #[prost(message, optional, tag = "2")]
    pub(crate) params: Option<HashPrfParams>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) key_value: Vec<u8>,
}

/// `HmacPrfParams` and `HkdfPrfParams`; the former has no salt.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HashPrfParams {
    #[prost(int32, tag = "1")]
    pub(crate) hash: i32,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) salt: Vec<u8>,
}
