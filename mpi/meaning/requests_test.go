package meaning_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

func chooses(what meaning.RequestChoice) func(meaning.WaitBehaviour) bool {
	return func(w meaning.WaitBehaviour) bool { return w.Choice == what }
}

// TestRequests: the functions that the table's parameters pick are those that the standard
// names.
func TestRequests(t *testing.T) {
	for what, x := range map[string]struct {
		is   func(meaning.WaitBehaviour) bool
		want string
	}{
		"completes": {func(w meaning.WaitBehaviour) bool { return w.Completes }, "Test Testall Testany Testsome Wait Waitall Waitany Waitsome"},
		"one":       {chooses(meaning.ChooseOneRequest), "Request_get_status Test Wait"},
		"all":       {chooses(meaning.ChooseAllRequests), "Request_get_status_all Testall Waitall"},
		"any":       {chooses(meaning.ChooseAnyRequest), "Request_get_status_any Testany Waitany"},
		"some":      {chooses(meaning.ChooseSomeRequests), "Request_get_status_some Testsome Waitsome"},
		"probes":    {func(w meaning.WaitBehaviour) bool { return w.Probes }, "Improbe Iprobe Mprobe Probe"},
		"receives": {func(w meaning.WaitBehaviour) bool { return w.Receives },
			"Imrecv Irecv Isendrecv Isendrecv_replace Mrecv Precv_init Recv Recv_init Sendrecv Sendrecv_replace"},
		"blocks": {func(w meaning.WaitBehaviour) bool { return w.Blocks },
			"Mprobe Mrecv Probe Recv Sendrecv Sendrecv_replace Wait Waitall Waitany Waitsome"},
	} {
		var got []string
		for _, c := range mpi.Calls() {
			if x.is(meaning.WaitBehaviourOf(c)) && c.SmallForm == nil {
				got = append(got, strings.TrimPrefix(c.Name, "MPI_"))
			}
			if c.SmallForm != nil && x.is(meaning.WaitBehaviourOf(c)) != x.is(meaning.WaitBehaviourOf(c.SmallForm)) {
				t.Errorf("%s: %s is unlike its small form", what, c.Name)
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != x.want {
			t.Errorf("%s: %s, want %s", what, text, x.want)
		}
	}
}
