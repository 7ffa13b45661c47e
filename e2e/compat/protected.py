"""The protected table beside the tables of a suite, and the value that shows that it is protected."""

# No table of a suite has its name.
TABLE = "fieldveil_customer"
COLUMNS = {
    "email": {"protection": "deterministic", "keyset": "pii", "type": "text"},
    "notes": {"protection": "randomized", "keyset": "pii", "type": "text"},
}
LISTED = "(id bigint PRIMARY KEY, email text, notes text)"
PLAINTEXT = "zoe@example.com"
