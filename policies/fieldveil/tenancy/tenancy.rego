# METADATA
# title: Tenancy
# description: |
#   Whose keys a label is stored under for the one who asks. Where the catalog lets an attribute of the principal choose
#   the tenant, a principal without one has no keys: it reads what is stored or less, and writes nothing.
package fieldveil.tenancy

import data.fieldveil.columns
import data.fieldveil.principal
import data.fieldveil.treatment

# METADATA
# title: keys
# description: The keyset and the tenant of each label.
# scope: document
keys[label] := {"keyset": concat("/", [keyset, tenant]), "tenant": tenant} if {
	some label, tenant in chosen
	keyset := columns.labels[label].keyset
}

keys[label] := {"keyset": definition.keyset, "tenant": ""} if {
	some label, definition in columns.labels
	label in without_keys
}

keys[label] := {"keyset": definition.keyset, "tenant": definition.tenant} if {
	some label, definition in columns.labels
	is_string(definition.tenant)
}

# METADATA
# title: read
# description: What the principal reads of a label in a request.
read(label, request) := {"treatment": "conceal"} if {
	label in without_keys
	treatment.read(label, request).treatment in {"mask", "reveal"}
} else := treatment.read(label, request)

# METADATA
# title: write
# description: Whether the principal may write a label in a request.
write(label, request) := "refuse" if {
	label in without_keys
} else := treatment.write(label, request)

without_keys contains label if {
	some label, definition in columns.labels
	is_object(definition.tenant)
	not chosen[label]
}

# By label, the tenant that the principal has; named as the key agent names tenants.
chosen[label] := tenant if {
	some label, definition in columns.labels
	by := definition.tenant
	value := object.get(principal.attributes, path(by.from), "")
	is_string(value)
	tenant := named(by, value)
	regex.match(`^[a-z0-9][a-z0-9_-]{0,62}$`, tenant)
}

named(by, value) := by.names[value]

named(by, value) := value if not by.names

# A claim's name may have dots of its own.
path(from) := ["claims", trim_prefix(from, "claims.")] if {
	startswith(from, "claims.")
} else := split(from, ".")
