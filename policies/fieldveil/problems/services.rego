package fieldveil.problems

import data.fieldveil.columns
import data.fieldveil.jsonpath

found contains object.union(fault, {"path": mapping.path}) if {
	some mapping in columns.paths
	fault := jsonpath.fault(mapping.json_path)
}

found contains problem if {
	some mapping in columns.paths
	not columns.definitions[mapping.label]
	problem := undefined_label(mapping)
}

found contains problem if {
	some mappings in mappings_by_place
	labels := {mapping.label | some mapping in mappings}
	count(labels) > 1
	some mapping in mappings
	problem := {
		"path": mapping.path,
		"reason": sprintf("the path has %v labels: %v", [count(labels), concat(", ", labels)]),
		"remedy": "give it one, in all catalogs and spellings alike",
	}
}

mappings_by_place[[mapping.service, jsonpath.normalized(mapping.json_path)]] contains mapping if {
	some mapping in columns.paths
}
