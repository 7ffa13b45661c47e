//! The problems, one constructor each: their number is that of the refusals, none of which can be made elsewhere.

use fieldveil_plan::Protection;

use super::{Kind, Problem, Side};
use crate::budgets::Allowance;
use crate::field::{CompiledField, FieldError};
use crate::http::encoding::Fault;

/// Seconds after which a part that is not there may be.
const RETRY_SECONDS: u64 = 1;

impl Problem {
    /// A body in which fields are named is not JSON, as far as `offset` bytes into it.
    pub fn malformed(side: Side, offset: u64, reason: &str) -> Self {
        let kind = match side {
            Side::Request => Kind::MalformedBody,
            Side::Response => Kind::BadResponse,
        };
        let what = format!("byte {offset} of {}", body_of(side));
        Self::new(
            kind,
            &what,
            reason,
            "Send strict JSON (RFC 8259) in UTF-8, in the framing of its media type.",
        )
    }

    /// A body, a key or a value is past a limit. `setting` is the limit's name in the filter's configuration.
    pub fn limit(side: Side, what: &str, limit: usize, setting: &str) -> Self {
        let kind = match side {
            Side::Request => Kind::TooLarge,
            Side::Response => Kind::BadResponse,
        };
        Self::new(
            kind,
            body_of(side),
            format!("{what} is more than {limit}"),
            format!("Make it smaller, or raise {setting} in the sidecar's configuration."),
        )
    }

    /// More values of fields than are treated in one go.
    pub fn too_much_at_once(side: Side, limit: usize) -> Self {
        let (kind, remedy) = match side {
            Side::Request => (Kind::TooLarge, "Send it in parts."),
            Side::Response => (Kind::BadResponse, "Ask for less at once."),
        };
        Self::new(kind, body_of(side), format!("more than {limit} values of its fields come at once"), remedy)
    }

    /// More of values of a label than are looked for in one request's head.
    pub fn head_too_large(label: &str, reason: &str) -> Self {
        let remedy = "Look for fewer values at once.";
        let problem = Self::new(Kind::TooLarge, "the request's head", reason, remedy);
        problem.about(label).with_status(431)
    }

    /// The values of fields that come in one go are written as more than is written at once.
    pub fn output_too_long(side: Side, limit: usize) -> Self {
        let (kind, remedy) = match side {
            Side::Request => (Kind::TooLarge, "Send it in parts; write numbers without large exponents."),
            Side::Response => (Kind::BadResponse, "Ask for less at once."),
        };
        Self::new(
            kind,
            body_of(side),
            format!("the values of its fields that come at once take more than {limit} bytes"),
            remedy,
        )
    }

    /// A body of a media type in which fields cannot be found. `media_type` is what is known to be wrong with it, in words.
    pub fn media_type(side: Side, reason: &str) -> Self {
        match side {
            Side::Request => Self::new(
                Kind::MediaType,
                body_of(side),
                reason,
                "Send application/json (or +json, NDJSON, application/json-seq), or have the route's fields taken out of the catalog.",
            ),
            Side::Response => Self::new(
                Kind::BadResponse,
                "fields of this response are protected",
                reason,
                "Let the service answer with JSON, or have the route's fields taken out of the catalog.",
            ),
        }
    }

    /// A body in an encoding that is not decoded, where fields are named.
    pub fn content_encoding(side: Side, reason: &str) -> Self {
        let (kind, what) = match side {
            Side::Request => (Kind::ContentEncoding, body_of(side)),
            Side::Response => (Kind::BadResponse, "fields of this response are protected"),
        };
        Self::new(kind, what, reason, "Send it without an encoding, or in gzip or br.")
    }

    /// A body that cannot be decoded, where fields are named.
    pub fn undecodable(side: Side, fault: Fault) -> Self {
        let what = format!("decoding {}", body_of(side));
        let kind = match (side, fault) {
            (Side::Response, _) => Kind::BadResponse,
            (Side::Request, Fault::Malformed(_)) => Kind::MalformedBody,
            (Side::Request, _) => Kind::TooLarge,
        };
        let remedy = match fault {
            Fault::Malformed(_) => "Send it whole, in the one encoding that its content-encoding names.",
            _ => "Send it without an encoding, or encode it with a smaller window.",
        };
        Self::new(kind, &what, fault.to_string(), remedy)
    }

    /// A response to which no treatment of its fields is possible.
    pub fn bad_response(reason: &str, remedy: &str) -> Self {
        Self::new(Kind::BadResponse, body_of(Side::Response), reason, remedy)
    }

    /// A path or query that services may read in several ways.
    pub fn ambiguous_target(reason: &str) -> Self {
        let remedy = "Percent-encode what is not a letter, digit, hyphen, dot, underscore or tilde, once, and send no dot segments above the root.";
        Self::new(Kind::AmbiguousTarget, "the request's target", reason, remedy)
    }

    /// A method that routes do not name and services may take for one.
    pub fn odd_method() -> Self {
        let reason = "the method has lower-case letters, and methods are told apart by case";
        let remedy = "Send the method in capitals, such as PATCH.";
        Self::new(Kind::AmbiguousTarget, "the request's method", reason, remedy)
    }

    /// A header field with a protected value that stands where it can't be sealed.
    pub fn misplaced_header(reason: &str) -> Self {
        let remedy = "Send it as a header field, spelt as the field policy has it.";
        Self::new(
            Kind::AmbiguousTarget,
            "a header field with a protected value can't be sealed",
            reason,
            remedy,
        )
    }

    /// A header field, or something else, that may make another request of it than was looked at.
    pub fn overridden_target(what: &str) -> Self {
        let reason = format!("{what} may say another method or path to the service");
        let remedy = "Send the request with the method and the path that it is for, without this.";
        Self::new(Kind::AmbiguousTarget, "the request's target", &reason, remedy)
    }

    /// An identity header that comes twice, or is not text.
    pub fn ambiguous_identity(header: &str, reason: &str) -> Self {
        Self::new(
            Kind::AmbiguousIdentity,
            &format!("header {header} says who asks"),
            reason,
            "Send it once, or have a proxy in front set it and drop what clients send.",
        )
    }

    /// Policy refuses everything, as for a token that is not valid.
    pub fn plan_denied(reason: &str) -> Self {
        let remedy = "Come with a token that holds, or ask the owner of the field policy.";
        Self::new(Kind::Denied, "this principal may use no protected field", reason, remedy)
    }

    /// Policy does not let this principal do this with a field.
    pub fn denied(label: &str, action: &str) -> Self {
        Self::because(
            Kind::Denied,
            format!("this principal may not {action} {label}"),
            format!("Ask the owner of the field policy for a rule on label {label}, or leave the field out."),
        )
        .about(label)
    }

    /// No route fits, and the catalog refuses such requests.
    pub fn unmatched_route() -> Self {
        Self::because(
            Kind::UnmatchedRoute,
            "the service's catalog names no route for this method and path",
            "Name a route for it in the catalog, or set its `unmatched` to pass.",
        )
    }

    /// An upgrade, a tunnel or another protocol on a route that names fields.
    pub fn unsupported_protocol(what: &str) -> Self {
        Self::because(
            Kind::UnsupportedProtocol,
            format!("{what} cannot be looked into"),
            "Use plain requests with JSON bodies here, or a route without protected fields.",
        )
    }

    /// GraphQL in a query string, or by another method than POST.
    pub fn graphql_method() -> Self {
        Self::because(
            Kind::GraphqlMethod,
            "the query and its variables are in the URL, where they are not looked into",
            "Send a POST with `query` and `variables` as a JSON body.",
        )
    }

    /// A GraphQL request that cannot be let through. `remedy` says how to write it.
    pub fn graphql(label: Option<&str>, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        let problem = Self::new(Kind::Graphql, "this GraphQL request is refused", reason, remedy);
        Self { label: label.map(str::to_owned), ..problem }
    }

    /// A value that is not of the declared type.
    pub fn invalid_value(label: &str, reason: &str, declared: &str) -> Self {
        Self::new(
            Kind::InvalidValue,
            &format!("a value for {label} cannot be sealed"),
            reason,
            format!("The field policy declares {label} as {declared}; send a value of that type."),
        )
        .about(label)
    }

    /// Not a value, but what a reader is shown in its place.
    pub fn shown_instead(label: &str, reason: &str) -> Self {
        Self::new(
            Kind::InvalidValue,
            &format!("a value for {label} cannot be sealed"),
            reason,
            "Leave the field out of what is written, and what is stored stays; or write a value of its own.",
        )
        .about(label)
    }

    /// A value is longer than what is sealed of one.
    pub fn long_value(label: &str, limit: usize) -> Self {
        Self::new(
            Kind::TooLarge,
            &format!("a value for {label} cannot be sealed"),
            format!("it is longer than {limit} bytes"),
            "Shorten the value, or raise limits.protected_value_bytes in the sidecar's configuration.",
        )
        .about(label)
    }

    /// A value by which nothing can be found, whatever its value.
    pub fn not_searchable(field: &CompiledField) -> Self {
        let label = &field.spec.label;
        let protection = match field.spec.protection {
            Protection::Randomized => "randomized",
            Protection::Indexed => "indexed",
            Protection::Deterministic => "deterministic",
            Protection::FormatPreserving => "format_preserving",
        };
        Self::because(
            Kind::Denied,
            format!(
                "a service cannot look for values of {label} by their sealed form: it is {protection}, of type {}",
                field.declared.name()
            ),
            format!("Declare {label} deterministic, of a type with one text for equal values, or leave it out of the request's target and headers."),
        )
        .about(label)
    }

    /// Equal values may be stored unequal, so that looking for one by its sealed form would miss some.
    pub fn several_keys(label: &str, keyset: &str) -> Self {
        Self::new(
            Kind::SeveralKeys,
            &format!("stored values of {label} cannot be looked for"),
            format!("keyset {keyset} has several enabled deterministic keys, under which equal values are sealed unequal"),
            format!("Reseal what is stored, then disable the old keys of keyset {keyset}."),
        )
        .about(label)
    }

    /// So many values of `label` were revealed that policy refuses more of them for a while.
    pub fn budget_spent(label: &str, allowance: Allowance, again_seconds: u64) -> Self {
        let Allowance { rows, per_seconds } = allowance;
        Self::new(
            Kind::BudgetSpent,
            &format!("the budget of {label}"),
            format!("{rows} values within {per_seconds} seconds"),
            format!("Try again in {again_seconds} seconds, or ask the owner of the field policy for a larger budget on label {label}."),
        )
        .about(label)
        .after(again_seconds)
    }

    /// A stored value cannot be opened.
    pub fn unreadable(label: &str, reason: &str) -> Self {
        Self::new(
            Kind::Unreadable,
            &format!("a stored value of {label}"),
            reason,
            format!("Look for values of {label} that are another tenant's, or were stored around the sidecar or with a key that is gone."),
        )
        .about(label)
    }

    /// A part that the exchange needs is not there.
    pub fn unavailable(part: &str, reason: &str, remedy: &str) -> Self {
        Self::new(Kind::Unavailable, part, reason, remedy).after(RETRY_SECONDS)
    }

    /// All exchanges of the worker together have too much memory.
    pub fn no_memory() -> Self {
        let remedy =
            "Try again in a moment; if this lasts, lower http.limits.held_body_bytes, or add sidecars.";
        Self::unavailable("memory for bodies", "all exchanges hold too much", remedy)
    }

    /// A keyset that the policy names cannot be used.
    pub fn no_keyset(reason: &str) -> Self {
        Self::unavailable(
            "a keyset that the policy names",
            reason,
            "See that the key agent serves it (its log and /readyz say why not), or mend the policy; the sidecar need not restart.",
        )
    }
}

fn body_of(side: Side) -> &'static str {
    match side {
        Side::Request => "the request's body",
        Side::Response => "the service's response",
    }
}

impl From<FieldError> for Problem {
    fn from(error: FieldError) -> Self {
        match error {
            FieldError::BadValue { label, reason, declared } => {
                Self::invalid_value(&label, &reason, &declared)
            }
            FieldError::LongValue { label, limit } => Self::long_value(&label, limit),
            FieldError::Unreadable { label, reason } => Self::unreadable(&label, &reason),
            FieldError::Denied { label, action } => Self::denied(&label, action),
            FieldError::NoKeyset(reason) => Self::no_keyset(&reason),
            FieldError::UnfitKey(reason) => Self::unavailable(
                "a key for format-preserving values",
                &reason,
                "Mend the keyset or the policy.",
            ),
            FieldError::Misused(reason) => {
                Self::unavailable("sealing", reason, "Report it: the filter asked its own parts wrongly.")
            }
        }
    }
}
