package merge

import (
	"bytes"
	"testing"

	"github.com/spoor-hpc/spoor/test/tracktest"
)

// A message has any number of columns that are alike, on any number of ranks, and any number
// of values that stand in a few bytes.
func TestLargeValuesAreRead(t *testing.T) {
	if testing.Short() {
		t.Skip("a long loop of one goroutine")
	}
	const ranks = 9
	for name, program := range map[string]func(r *tracktest.Recorder){
		"alike": func(r *tracktest.Recorder) {
			for i := range int64(4 * maxLike) {
				// All different, and all the same but for offset and factor.
				odd := int64(r.Rank*r.Rank*r.Rank%7) * 1000
				r.Call("MPI_Send", 1, 10+i, (i+1)*odd, 0x209, 0, i, tracktest.World)
			}
		},
		"wide": func(r *tracktest.Recorder) { r.Call("MPI_Send", 1, make([]int64, 200*maxPerByte)...) },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := MergeAll(tracktest.RunAll(map[string]int{"alike": ranks, "wide": 1}[name], program), 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Problems) > 0 {
				t.Fatalf("%v", s.Problems)
			}
			body := s.appendBody([]byte{plainMessage})
			back, err := decode(body, &MergedBlock{})
			if err != nil {
				t.Fatalf("%d bytes: %v", len(body), err)
			}
			if !bytes.Equal(back.appendBody([]byte{plainMessage}), body) {
				t.Error("not what was sent")
			}
		})
	}
}
