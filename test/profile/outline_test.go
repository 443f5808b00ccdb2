package profile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// An outlined is a node of calltree --json.
type outlined struct {
	Kind        string
	Site        int
	Least, Most uint64
	AtLeast     bool `json:"at_least"`
	Unsure      bool
	Total       struct{ Calls uint64 }
	Body        []outlined
}

// outline writes the loops and calls of rank 0 between MPI_Init and MPI_Finalize in one line, as 15{Send Wait} Barrier.
func outline(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var list []struct {
		Sites   []struct{ Function string }
		Threads []struct{ Body []outlined }
	}
	if err := json.Unmarshal([]byte(spoor(t, dir, append([]string{"calltree", "--json", "--rank", "0"}, args...)...)), &list); err != nil {
		t.Fatal(err)
	}
	var words func(body []outlined) []string
	words = func(body []outlined) (out []string) {
		for _, n := range body {
			if n.Total.Calls == 0 {
				t.Errorf("a %s without calls", n.Kind)
			}
			times := fmt.Sprint(n.Least)
			if n.Most != n.Least {
				times += fmt.Sprintf("–%d", n.Most)
			}
			if n.AtLeast {
				times = "≥" + times
			}
			if n.Unsure {
				times += "?"
			}
			switch n.Kind {
			case "call":
				name := strings.TrimPrefix(list[0].Sites[n.Site-1].Function, "MPI_")
				if n.Most > 1 {
					name = times + "{" + name + "}"
				}
				switch name {
				case "Init", "Finalize", "Comm_rank", "Comm_size", "Initialized":
				default:
					out = append(out, name)
				}
			case "loop":
				out = append(out, times+"{"+strings.Join(words(n.Body), " ")+"}")
			default:
				out = append(out, words(n.Body)...)
			}
		}
		return out
	}
	return strings.Join(words(list[0].Threads[0].Body), " ")
}
