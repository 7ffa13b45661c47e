package fieldveil.problems

import data.fieldveil.shape
import data.fieldveil.tokens

found contains problem if {
	some name, issuer in tokens.issuers
	some problem in shape.problems(["tokens", name], issuer, "tokens")
}

found contains problem if {
	some name, issuer in tokens.issuers
	some other, same in tokens.issuers
	other < name
	[same.issuer, same.audience] == [issuer.issuer, issuer.audience]
	problem := {
		"path": ["tokens", name],
		"reason": sprintf("%v has the same issuer and the same audience", [other]),
		"remedy": "say in one of them what holds for both",
	}
}
