package fieldveil.jsonpath_test

import data.fieldveil.jsonpath

test_what_can_be_followed_has_no_fault if {
	every path in {
		"$.customer.ssn",
		"$['customer']['ssn']",
		"$['any name, even [*] and .dots']",
		"$['it\\'s \\\\ \\u00e9']",
		"$['']",
		"$.items[*].card",
		"$.items[0].card",
		"$[*]",
		"$[999999999]",
		"$..ssn",
		"$.a..b[*]['c']",
		"$.größe",
		"$._1",
	} {
		not jsonpath.fault(path)
	}
}

test_what_is_no_path_is_told_how_one_looks if {
	every path in {
		"", "$", "customer.ssn", ".a", "$a", "$.", "$..", "$...a", "$.a.", "$.1a", "$.a-b", "$.a b", "$[]", "$[a", "$a]",
		"$.a$", "$ .a", "$['a]", "$.a]", "@.a",
	} {
		jsonpath.fault(path) == {
			"reason": sprintf("%v is no JSON path", [path]),
			"remedy": "begin it with $, then write .name, ['any name'], [*], [0] or ..name for each step",
		}
	}
}

test_what_can_not_stream_is_named if {
	every path, late in {
		"$.a[-1].b": "[-1]",
		"$[1:3]": "[1:3]",
		"$[::2]": "[::2]",
		"$['a','b']": "['a','b']",
		"$[?@.b == 'x']": "[?@.b == 'x']",
		"$.a[?(@['b'] == \"]\")].c": "[?(@['b'] == \"]\")]",
		"$.a.*": ".*",
		"$..*": "..*",
		"$..['a']": "..['a']",
		"$..[0]": "..[0]",
		"$[01]": "[01]",
		"$[\"a\"]": "[\"a\"]",
		"$['a\\x']": "['a\\x']",
		"$[1000000000]": "[1000000000]",
	} {
		jsonpath.fault(path) == {
			"reason": sprintf("%v can not be followed while a body streams by", [late]),
			"remedy": "use .name, ['any name'], [*], [0] and ..name alone",
		}
	}
}

test_spellings_of_one_path_are_normalized_alike if {
	jsonpath.normalized("$.a.b[*]..c[0]") == "['a']['b'][*]..c[0]"
	jsonpath.normalized("$['a'].b[*]..c[0]") == "['a']['b'][*]..c[0]"
}
