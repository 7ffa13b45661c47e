# METADATA
# title: The principal
# description: Which conditions hold for the one who asks. What is missing, empty or of another type holds for nothing.
# schemas:
#   - input: schema.input.data
package fieldveil.principal

# METADATA
# title: holds
# description: Whether every attribute that the conditions name has one of the values given for it.
holds(conditions) if {
	named := {leaf | walk(conditions, leaf); is_array(leaf[1])}
	count(named) > 0
	every condition in named {
		has_one_of(condition[0], condition[1])
	}
}

has_one_of(path, values) if {
	value := object.get(input, path, "")
	value != ""
	value in values
}

# Source addresses lie in networks.
has_one_of(path, values) if {
	path == ["session", "source"]
	some network in values
	net.cidr_contains(network, input.session.source)
}
