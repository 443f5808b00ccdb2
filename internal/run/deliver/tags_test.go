package deliver

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRoundTrip: whatever values hold, launchers get one plain word, and the recorder gets the values back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.StringMatching(`[a-zA-Z][a-z_.-]*`), rapid.String()).Draw(t, "tags")
		var list []string
		for name, value := range want {
			list = append(list, name+"="+value)
		}
		text := EncodeTags(list)
		if strings.ContainsAny(text, " \t\n'\"\\$") {
			t.Fatalf("%q is no plain word", text)
		}
		got := DecodeTags(text)
		for name, value := range TagsByName(list) {
			if want[name] != value {
				t.Fatalf("%s is %q, want %q", name, value, want[name])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q became %q", want, got)
		}
		for name, value := range want {
			if got[name] != value {
				t.Fatalf("%s: %q became %q", name, value, got[name])
			}
		}
	})
}

// What is in the environment may be anything.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"", "commit=abc", "a=b%20c,d=", "%", "%zz=,=,", "a=%2c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name := range DecodeTags(text) {
			if name == "" {
				t.Errorf("%q gave a tag without a name", text)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	for tag, ok := range map[string]bool{"commit=abc": true, "note=": true, "a=b c=d": true, "commit": false, "=x": false, "a b=c": false} {
		if err := CheckTags([]string{"fine=1", tag}); (err == nil) != ok {
			t.Errorf("%q: %v", tag, err)
		}
	}
}
