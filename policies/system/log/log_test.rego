package system.log_test

import data.system.log

# A token in form: nothing verifies it.
token := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"

event(changes) := {"path": "fieldveil/plan", "input": object.union(
	{
		"protocol": "postgres",
		"listener": "orders-db",
		"workload": {"namespace": "shop", "service_account": "orders", "spiffe_id": "spiffe://example.org/ns/shop"},
		"session": {"user": "app", "database": "shop", "application_name": "monkeys.example.org/eyes"},
		"token": "",
		"comment": {"purpose": "", "token": ""},
		"claims": {},
	},
	changes,
)}

masked(changes) := found if {
	found := log.mask with input as event(changes)
}

left_out(path) := {"op": "upsert", "path": path, "value": "left out: it looks like a token"}

test_a_session_without_a_token_is_logged_as_it_is if masked({}) == set()

test_the_token_of_a_session_and_that_of_a_comment_are_removed if {
	masked({"token": token}) == {"/input/token"}
	masked({"comment": {"token": token}}) == {"/input/comment/token"}
}

# Whatever it is: a word that is no token may be a password.
test_what_stands_in_place_of_a_token_is_removed if {
	masked({"token": "hunter2"}) == {"/input/token"}
	masked({"comment": {"token": {"odd": "hunter2"}}}) == {"/input/comment/token"}
}

test_a_token_in_any_other_place_is_left_out if {
	named := sprintf("psql token=%v", [token])
	masked({"session": {"application_name": named}}) == {left_out("/input/session/application_name")}
	masked({"session": {"purpose": token}}) == {left_out("/input/session/purpose")}
	masked({"claims": {"aud": ["a", token, token]}}) == {left_out("/input/claims/aud/1"), left_out("/input/claims/aud/2")}
}

test_a_token_that_is_cut_short_or_written_with_blanks_is_left_out if {
	masked({"session": {"user": substring(token, 0, 30)}}) == {left_out("/input/session/user")}
	header := base64url.encode_no_pad("{ \"alg\": \"RS256\" }")
	masked({"session": {"user": sprintf("%v.e30.", [header])}}) == {left_out("/input/session/user")}
	encoded := replace(token, ".", "%2E")
	masked({"session": {"purpose": encoded}}) == {left_out("/input/session/purpose")}
}

# OPA can't address a name with a slash or other odd characters.
test_what_can_not_be_addressed_is_left_out_with_all_around_it if {
	masked({"claims": {"https://example.org/raw": token}}) == {left_out("/input/claims")}
	found := log.mask with input as {"path": "fieldveil/plan", "input": token}
	found == {left_out("/input")}
}

test_a_name_that_looks_like_a_token_is_left_out if {
	masked({"claims": {token: {"a": 1}}}) == {{
		"op": "upsert",
		"path": "/input/claims",
		"value": "left out: a name in it looks like a token",
	}}
}

test_a_decision_without_input_is_logged_as_it_is if {
	found := log.mask with input as {"path": "system/log/mask"}
	found == set()
}

test_the_answer_is_looked_through_as_well if {
	found := log.mask with input as {"path": "fieldveil", "result": {"principal": {"given": [token], "purpose": token}}}
	found == {left_out("/result/principal/given/0"), left_out("/result/principal/purpose")}
	alone := log.mask with input as {"path": "x", "result": token}
	alone == {left_out("/result")}
	named := log.mask with input as {"path": "x", "result": {"a": {token: 5}}}
	named == {{"op": "upsert", "path": "/result/a", "value": "left out: a name in it looks like a token"}}
}

test_the_answer_with_a_plan_is_looked_through_but_for_its_fields if {
	plan := {"subject": "token:https://issuer.example#ann", "fields": [{"column": "eyes.of.the.beholder"}]}
	log.mask == set() with input as {"path": "fieldveil/plan", "result": plan}
	named := object.union(plan, {"subject": sprintf("user:%v", [token])})
	log.mask == {left_out("/result/subject")} with input as {"path": "fieldveil/plan", "result": named}
}

test_a_token_where_nothing_is_masked_drops_the_decision if {
	log.drop with input as {"query": sprintf("io.jwt.decode(%q)", [token])}
	log.drop with input as {"path": "fieldveil/plan", "custom": {"request_metadata": {"token": token}}}
	log.drop with input as {"query": "x = input.token", "result": [{"x": token}]}
	not log.drop with input as event({"token": token})
	not log.drop with input as {"query": "x = 1", "result": [{"x": 1}]}
	not log.drop with input as {"path": "fieldveil", "result": {"x": token}}
	not log.drop with input as {"query": "data.fieldveil.plan", "custom": {"request_metadata": {"token": ""}}}
}

test_what_built_in_functions_were_asked_is_left_out if {
	asked := {"io.jwt.decode_verify": {sprintf("[%q]", [token]): [false, {}, {}]}}
	found := log.mask with input as object.union(event({}), {"nd_builtin_cache": asked})
	found == {"/nd_builtin_cache"}
}
