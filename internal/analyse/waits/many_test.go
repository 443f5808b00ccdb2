package waits

import (
	"sync/atomic"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace"
)

// A counting transport counts what comes to a rank.
type counting struct {
	Transport
	bytes, messages atomic.Int64
}

func (c *counting) Recv(from int) ([]byte, error) {
	msg, err := c.Transport.Recv(from)
	c.bytes.Add(int64(len(msg)))
	c.messages.Add(1)
	return msg, err
}

// With many ranks none has to take much: messages grow with the logarithm of their number, and what the trace keeps hardly at all.
func TestManyRanks(t *testing.T) {
	for _, x := range []struct {
		ranks          int
		bytes, section int64
		messages       int64
	}{{4, 10_000, 1536, 40}, {64, 30_000, 2500, 120}, {1024, 100_000, 5120, 150}} { // 16,384: 593,310 bytes and 118 messages, in half a minute
		r, logs := logged(t, x.ranks)
		list := LocalTransports(x.ranks)
		for i := range list {
			list[i] = &counting{Transport: list[i]}
		}
		out, errs := allAt(list, r, logs, true, func() {})
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		if out.Status != trace.WaitsKnown || len(out.Sites) == 0 {
			t.Fatalf("%d ranks: %+v", x.ranks, out)
		}
		var bytes, messages int64
		for _, c := range list {
			bytes, messages = max(bytes, c.(*counting).bytes.Load()), max(messages, c.(*counting).messages.Load())
		}
		size := int64(wire.EstimatePackedSize(sections.AppendWaits(nil, out)))
		t.Logf("%d ranks: at most %d bytes and %d messages to one; %d bytes of the trace", x.ranks, bytes, messages, size)
		if bytes > x.bytes || messages > x.messages || size > x.section {
			t.Errorf("%d ranks: %d bytes and %d messages to one, want %d and %d; %d bytes of the trace, want %d", x.ranks, bytes, messages, x.bytes, x.messages, size, x.section)
		}
	}
}
