package query

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestCursorsAreTakenBackAsTheyWereGiven(t *testing.T) {
	c := cursor{Version: cursorVersion, Question: "q", Mark: 7, Time: -5, Source: "a\x00\"ü", Key: "k"}
	got, err := parseCursor(c.String(), "q")
	if err != nil || got != c {
		t.Fatalf("%+v %v", got, err)
	}
}

func TestOtherCursorsAreRefusedWithAReason(t *testing.T) {
	good := cursor{Version: cursorVersion, Question: "q", Mark: 7, Time: 5, Source: "api", Key: "k"}.String()
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		altered := append([]byte(nil), raw...)
		altered[i] ^= 1
		if _, err := parseCursor(base64.RawURLEncoding.EncodeToString(altered), "q"); !errors.Is(err, ErrCursor) {
			t.Fatalf("byte %d altered: %v", i, err)
		}
	}
	old := cursor{Version: cursorVersion + 1, Question: "q"}
	for text, why := range map[string]string{
		"": "not whole", "?": "not whole", good[:len(good)-3]: "altered", good + "A": "", strings.Repeat("A", 5000): "too long",
		old.String(): "version 2", cursor{Version: cursorVersion, Question: "other"}.String(): "another question",
	} {
		if _, err := parseCursor(text, "q"); !errors.Is(err, ErrCursor) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(cursor{Version: cursorVersion, Question: "q"}.String())
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(text, "q")
		if err == nil && c.String() != text {
			t.Errorf("%q is read as %+v", text, c)
		}
	})
}
