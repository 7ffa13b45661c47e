//! The kinds of problems: status, name and title of each.

/// What is wrong, as far as a client can tell kinds apart. `docs/guides/http.md` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A body in which fields are named is not JSON of its media type.
    MalformedBody,
    /// The target of the request cannot be read in one way only.
    AmbiguousTarget,
    /// A header that says who asks comes more than once, or cannot be read.
    AmbiguousIdentity,
    /// Policy refuses an action on a field, or everything.
    Denied,
    /// No route of the catalog fits, and the catalog says that such requests are refused.
    UnmatchedRoute,
    /// What cannot be looked into, on a route that names fields.
    UnsupportedProtocol,
    /// GraphQL that is not POSTed.
    GraphqlMethod,
    /// A body, a value or a name is longer or deeper than what is taken.
    TooLarge,
    /// A request's body that is not JSON where fields are named.
    MediaType,
    /// A request's body in an encoding that is not decoded, where fields are named.
    ContentEncoding,
    /// A value that is not of the declared type.
    InvalidValue,
    /// A GraphQL request in which a named value stands where it is not seen.
    Graphql,
    /// A budget of the policy is spent.
    BudgetSpent,
    /// A response that is not what it says, where fields are named.
    BadResponse,
    /// A stored value that cannot be opened.
    Unreadable,
    /// Policy, keys or a part of the sidecar are not there (yet).
    Unavailable,
    /// Equal values may be stored unequal at the moment.
    SeveralKeys,
}

impl Kind {
    pub(super) fn status(self) -> u16 {
        match self {
            Self::MalformedBody | Self::AmbiguousTarget | Self::AmbiguousIdentity => 400,
            Self::Denied | Self::UnmatchedRoute | Self::UnsupportedProtocol => 403,
            Self::GraphqlMethod => 405,
            Self::TooLarge => 413,
            Self::MediaType | Self::ContentEncoding => 415,
            Self::InvalidValue | Self::Graphql => 422,
            Self::BudgetSpent => 429,
            Self::BadResponse | Self::Unreadable => 502,
            Self::Unavailable | Self::SeveralKeys => 503,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MalformedBody => "malformed-body",
            Self::AmbiguousTarget => "ambiguous-target",
            Self::AmbiguousIdentity => "ambiguous-identity",
            Self::Denied => "denied",
            Self::UnmatchedRoute => "unmatched-route",
            Self::UnsupportedProtocol => "unsupported-protocol",
            Self::GraphqlMethod => "graphql-method",
            Self::TooLarge => "too-large",
            Self::MediaType => "media-type",
            Self::ContentEncoding => "content-encoding",
            Self::InvalidValue => "invalid-value",
            Self::Graphql => "graphql",
            Self::BudgetSpent => "budget-spent",
            Self::BadResponse => "bad-response",
            Self::Unreadable => "unreadable-value",
            Self::Unavailable => "unavailable",
            Self::SeveralKeys => "several-keys",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::MalformedBody => "The body cannot be read",
            Self::AmbiguousTarget => "The request's target cannot be read",
            Self::AmbiguousIdentity => "It is not clear who asks",
            Self::Denied => "Policy refuses",
            Self::UnmatchedRoute => "No route of the field policy fits",
            Self::UnsupportedProtocol => "Not on a route with protected fields",
            Self::GraphqlMethod => "GraphQL comes by POST here",
            Self::TooLarge => "Past a limit",
            Self::MediaType => "Not JSON where fields are protected",
            Self::ContentEncoding => "Encoded where fields are protected",
            Self::InvalidValue => "Not a value of the declared type",
            Self::Graphql => "A protected value where it is not seen",
            Self::BudgetSpent => "The budget is spent",
            Self::BadResponse => "The service's response cannot be given",
            Self::Unreadable => "A stored value cannot be opened",
            Self::Unavailable => "A part is not available",
            Self::SeveralKeys => "Sealed values cannot be compared now",
        }
    }

    /// The methods that are allowed, for what is refused by its method.
    pub(super) fn allows(self) -> Option<&'static str> {
        (self == Self::GraphqlMethod).then_some("POST")
    }

    /// The encodings that are decoded, for what is refused by its encoding: RFC 9110, section 12.5.3.
    pub(super) fn accepts_encodings(self) -> Option<&'static str> {
        (self == Self::ContentEncoding).then_some("gzip, br, zstd")
    }
}
