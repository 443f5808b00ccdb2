package profile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// Of stacks that were cut short it isn't known what called their outermost function, though that makes calls of its own which are in
// main: they are elsewhere, and what is known of the other calls stays.
func TestStacksCutShort(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := traceWith(t, m, "deep.c", []string{"--stack", "4"}, "-O1")
			var list []placedProfile
			if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
				t.Fatal(err)
			}
			p := &list[0]
			body := p.Threads[0].Body
			if len(body) != 2 || body[0].Kind != "function" || body[0].Entered != 1 || body[1].Kind != "elsewhere" {
				t.Fatal(spoor(t, dir, "calltree", "--min-time", "0", "app.spoor"))
			}
			if text := spoor(t, dir, "calltree", "app.spoor"); !strings.Contains(text, "only 4 frames of the stack, spoor run --stack 32 keeps more") {
				t.Error(text)
			}
			if calls, _ := p.compute(body[:1], "MPI_Barrier"); calls != 7 {
				t.Errorf("%d barriers in main, want 7", calls)
			}
			if calls, _ := p.compute(body[1:], "MPI_Allreduce"); calls != 7 || body[1].Total.Calls != 7 {
				t.Errorf("%d reductions and %d calls elsewhere, want 7", calls, body[1].Total.Calls)
			}
		})
	}
}
