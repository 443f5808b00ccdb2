package capture

import (
	"errors"
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/event"
)

// A Source record whose lengths or key can't be is refused.
func TestSource(t *testing.T) {
	const key = 1<<63 | 1<<31 | 1
	text := []uint64{0x79702e70_70612e2f, 0x6e69616d} // "/.app.py" and "main"
	for _, x := range []struct {
		key, line, file, function uint64
		ok                        bool
	}{
		{key, 7, 8, 4, true}, {key, 7, 16, 0, true}, {key, 7, 12, 4, true},
		{7, 7, 8, 4, false}, {key, 1 << 40, 8, 4, false}, {key, 7, 17, 0, false}, {key, 7, 8, 9, false}, {key, 7, 1 << 63, 1 << 63, false},
	} {
		c, err := New(testConfig())
		if err != nil {
			t.Fatal(err)
		}
		rec := append(event.Record{event.Word0(8, 0, event.KindSourceLine, 0), 1, x.key, x.line, x.file, x.function}, text...)
		if err := c.source(rec); (err == nil) != x.ok || err != nil && !errors.Is(err, event.ErrCorrupt) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}
