// Package markdown puts what a benchmark measured into the page that tells of it, in place
// of what was measured before. It makes no tables.
package markdown

import (
	"fmt"
	"os"
	"strings"
)

// Insert replaces what stands in a file between the comments <!-- table --> and
// <!-- end of table -->, each on a line of its own.
func Insert(file, table, text string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+table+" -->\n", "<!-- end of "+table+" -->\n"
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		return fmt.Errorf("%s has no place for %s", file, table)
	}
	return os.WriteFile(file, []byte(before+begin+text+end+after), 0o666)
}
