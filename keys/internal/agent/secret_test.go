package agent

import "testing"

func TestSecretIsWipedWhenTheLastHolderLetsGo(t *testing.T) {
	material := []byte("key-bytes")
	s, err := newSecret(material)
	if err != nil {
		t.Fatal(err)
	}
	if string(material) == "key-bytes" || string(s.bytes()) != "key-bytes" {
		t.Error("the material was not taken over")
	}
	s.hold()
	s.release()
	if string(s.bytes()) != "key-bytes" {
		t.Error("wiped while it is held")
	}
	before := unlockedBytes.Load()
	s.release()
	if s.pages != nil || s.length != 0 {
		t.Error("it is still there")
	}
	if !s.locked && unlockedBytes.Load() != before-int64(len(material)) {
		t.Error("it is still counted")
	}
}
