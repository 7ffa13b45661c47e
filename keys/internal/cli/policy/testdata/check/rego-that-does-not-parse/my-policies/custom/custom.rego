package custom

allow if {
	input.x ==
}
