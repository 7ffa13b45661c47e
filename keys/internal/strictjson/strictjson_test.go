package strictjson

import "testing"

func TestDecodeTakesOneValueAndNothingBehindIt(t *testing.T) {
	for text, taken := range map[string]bool{
		`{"a":1}`: true, " {\"a\":1}\n\t ": true,
		`{"a":1}}`: false, `{"a":1}]`: false, `{"a":1} ]`: false, `{"a":1}{}`: false, `{"a":1},`: false, `{"a":1}x`: false,
		`{"a":1,"b":2}`: false, `{"a":1`: false, ``: false,
	} {
		var into struct {
			A int `json:"a"`
		}
		if err := Decode([]byte(text), &into); (err == nil) != taken {
			t.Errorf("%q: %v", text, err)
		}
	}
}
