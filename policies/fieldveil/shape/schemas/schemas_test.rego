package fieldveil.shape.schemas_test

import data.fieldveil.shape.schemas

test_a_definition_of_another_file_stands_in_the_place_of_its_reference if {
	own := {"type": "integer"}
	thing := {"title": "Thing", "definitions": {"own": own, "word": {"$ref": "../words/data.json"}}}
	words := {"type": "string", "pattern": "^[a-z]+$"}
	found := schemas.whole with data.schemas as {"thing": thing, "words": words}
	found == {"thing": {"title": "Thing", "definitions": {"own": own, "word": words}}, "words": words}
}

test_no_reference_to_another_file_is_left if {
	every schema in schemas.whole {
		references := {value | walk(schema, [path, value]); path[count(path) - 1] == "$ref"}
		{reference | some reference in references; not startswith(reference, "#/definitions/")} == set()
	}
}

test_a_reference_to_a_file_that_is_missing_fits_nothing if {
	thing := {
		"type": "object",
		"definitions": {"word": {"$ref": "../words/data.json"}},
		"properties": {"a": {"$ref": "#/definitions/word"}},
	}
	whole := schemas.whole.thing with data.schemas as {"thing": thing}
	not json.match_schema({"a": "b"}, whole)
}

# The pattern and the list of masks stand in one file, and name the same masks.
test_masks_are_those_of_the_pattern if {
	masks := schemas.whole.masks
	count(masks.masks) > 0
	every name, mask in masks.masks {
		regex.match(masks.pattern, mask.example.format)
		split(mask.example.format, "(")[0] == name
		count(masks.types[mask.types]) > 0
	}
	alternatives := regex.find_all_string_submatch_n(`(?:^\^\(|\|)([a-z][a-z0-9]*)`, masks.pattern, -1)
	{alternative[1] | some alternative in alternatives} == object.keys(masks.masks)
}

test_types_of_the_schema_are_permitted_in_catalogs if {
	types := schemas.whole.types
	count(types.types) > 0
	every name in object.keys(types.types) {
		some modifier in ["", "(1)"]
		regex.match(types.pattern, concat("", [name, modifier]))
	}
}

test_a_type_that_masks_name_is_one if {
	every types in schemas.whole.masks.types {
		every type in types {
			schemas.whole.types.types[type]
		}
	}
}
