package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.shape.schemas

# Of a format-preserving label: the least length of which there are a million values, since fewer can be guessed.
shortest := {"digits": 6, "alphanumeric": 4, "alphanumeric_lower": 4, "alphanumeric_upper": 4}

# Their values are characters, and none of another type keeps its form.
characters := {type | some type in schemas.whole.masks.types.characters}

# Where equality shows, fewer values than these are told apart by how often each is stored.
few := 1000

showing_equality := {"deterministic", "indexed", "format_preserving"}

found contains problem if {
	some label, definitions in columns.definitions
	count(definitions) > 1
	some place in columns.places[label]
	some key in {key | some definition in definitions; some key, _ in definition}
	said := {json.marshal(object.get(definition, key, null)) | some definition in definitions}
	count(said) > 1
	problem := {
		"path": array.concat(place.path, said_at(place, key)),
		"reason": sprintf("%v of label %v is said in %v ways: %v", [key, label, count(said), concat(" and ", said)]),
		"remedy": "define the label once, or in all catalogs alike",
	}
}

found contains problem if {
	some places in columns.places
	some place in places
	place.definition.protection in showing_equality
	has_few_values(place.definition)
	not is_accepted(place)
	problem := {
		"path": array.concat(place.path, ["protection"]),
		"reason": sprintf("equality shows: fewer than %v values are told apart by how often each is stored", [few]),
		"remedy": "use randomized, or say why it is accepted: accept_leakage: \"the reason\"",
	}
}

found contains problem if {
	some places in columns.places
	some place in places
	mask := place.definition.mask
	is_known(mask)
	not is_for(mask, place.definition.type)
	problem := {
		"path": array.concat(place.path, ["mask"]),
		"reason": sprintf("mask %v is not for type %v", [mask, place.definition.type]),
		"remedy": "use another format, or leave the mask out",
	}
}

found contains problem if {
	some place in format_preserving
	not has_alphabet(place)
	problem := {
		"path": place.path,
		"reason": "format_preserving needs an alphabet",
		"remedy": concat(" ", ["add alphabet:", concat(" or ", sort(object.keys(shortest)))]),
	}
}

found contains problem if {
	some places in columns.places
	some place in (places - format_preserving)
	place.definition.alphabet
	problem := {
		"path": array.concat(place.path, ["alphabet"]),
		"reason": sprintf("%v has no alphabet", [place.definition.protection]),
		"remedy": "leave it out",
	}
}

found contains problem if {
	some place in format_preserving
	not is_characters(place.definition.type)
	problem := {
		"path": array.concat(place.path, ["type"]),
		"reason": sprintf("%v can not be format_preserving", [place.definition.type]),
		"remedy": "use bpchar or text or varchar, or another protection",
	}
}

found contains problem if {
	some place in format_preserving
	least := shortest[place.definition.alphabet]
	length_of(place.definition.type) < least
	problem := {
		"path": array.concat(place.path, ["type"]),
		"reason": sprintf("%v has fewer than a million values of %v", [place.definition.type, place.definition.alphabet]),
		"remedy": sprintf("use a length of at least %v, or another protection", [least]),
	}
}

found contains problem if {
	some place in format_preserving
	place.definition.on_plaintext != "refuse"
	problem := {
		"path": array.concat(place.path, ["on_plaintext"]),
		"reason": "nothing tells plaintext from format_preserving values",
		"remedy": "leave it out",
	}
}

found contains problem if {
	some places in columns.places
	some place in places
	is_object(place.definition.tenant)
	contains(place.definition.keyset, "/")
	problem := {
		"path": array.concat(place.path, ["keyset"]),
		"reason": sprintf("%v is one tenant's own, and the principal chooses the tenant", [place.definition.keyset]),
		"remedy": "leave the tenant out of it",
	}
}

found contains problem if {
	some places in columns.places
	some place in places
	is_string(place.definition.tenant)
	own := split(place.definition.keyset, "/")[1]
	place.definition.tenant != own
	problem := {
		"path": array.concat(place.path, ["tenant"]),
		"reason": sprintf("keyset %v is that of tenant %v alone", [place.definition.keyset, own]),
		"remedy": "leave the tenant out, or name another keyset",
	}
}

found contains problem if {
	some labels in labels_by_tag
	count(labels) > 1
	some label in labels
	some place in columns.places[label]
	problem := {
		"path": place.path,
		"reason": sprintf("labels %v have the same label tag", [concat(" and ", labels)]),
		"remedy": "rename one",
	}
}

# What is not said there has no place of its own.
said_at(place, key) := [key |
	usual := columns.unless_told(place.definition)
	object.get(place.definition, key, null) != object.get(usual, key, null)
]

# References stand inside the helpers: in `not f(reference)` an undefined reference is no "not".
has_alphabet(place) if place.definition.alphabet

is_accepted(place) if place.definition.accept_leakage

has_few_values(definition) if definition.type in {"bool", "tinyint(1)"}

has_few_values(definition) if definition.distinct_values in {"bool", "enum"}

has_few_values(definition) if {
	is_number(definition.distinct_values)
	definition.distinct_values < few
}

format_preserving contains place if {
	some places in columns.places
	some place in places
	place.definition.protection == "format_preserving"
}

# Characters that a value can have; a type without a length has no limit.
length_of(type) := to_number(trim_suffix(split(type, "(")[1], ")")) if is_characters(type)

# An array's text has commas and braces.
is_characters(type) if {
	not endswith(type, "[]")
	split(type, "(")[0] in characters
}

# The tag is how a reader finds the label of a value that stands alone: envelopes hold it, not the label.
labels_by_tag[tag] contains label if {
	some label, _ in columns.definitions
	tag := substring(crypto.sha256(concat("", ["fieldveil label\u0000", label])), 0, 8)
}
