package show

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The shell is the judge of what a quoted command line means.
func TestQuote(t *testing.T) {
	args := []string{"./app", "two words", "", "it's", "$HOME", "a;b|c", "*", "-x=1", "tab\there", "back\\slash", "~"}
	out, err := exec.Command("sh", "-c", `printf '%s\n' `+QuoteCommand(args)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); !slices.Equal(got, args) {
		t.Errorf("%s gives %q, want %q", QuoteCommand(args), got, args)
	}
	if got := QuoteCommand([]string{"./app", "-n", "4"}); got != "./app -n 4" {
		t.Errorf("needless quotes in %s", got)
	}
}
