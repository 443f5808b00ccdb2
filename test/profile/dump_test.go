package profile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestTimesOfPlaces: dump prints the times of a call's place, as text and as JSON: a loop's first call comes after more than the others.
func TestTimesOfPlaces(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := traceWith(t, m, "places.c", []string{"--timing", "stats"}, "-O0")
			text := strings.Split(spoor(t, dir, "dump", "--times", "--rank", "0", "app.spoor"), "\n")
			gaps := make(map[string]bool)
			for i, line := range strings.Split(strings.TrimSpace(spoor(t, dir, "dump", "--times", "--json", "--rank", "0", "app.spoor")), "\n") {
				var c struct {
					Call     string
					Duration float64 `json:"duration_ns"`
					Gap      float64 `json:"gap_ns"`
				}
				if err := json.Unmarshal([]byte(line), &c); err != nil {
					t.Fatal(err)
				}
				if want := fmt.Sprintf(" ~ mean %s after mean %s, at ", show.FormatDuration(c.Duration), show.FormatDuration(c.Gap)); !strings.Contains(text[i], want) {
					t.Errorf("%s, want%s", text[i], want)
				}
				if c.Call == "MPI_Sendrecv" {
					gaps[show.FormatDuration(c.Gap)] = true
				}
			}
			if len(gaps) < 4 { // warm-up, main loop, the inner loop's first round and others
				t.Errorf("gaps before MPI_Sendrecv: %v", gaps)
			}
		})
	}
}
