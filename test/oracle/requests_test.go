package oracle

import (
	"fmt"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// identity is how a trace names a request for good.
type identity struct {
	persistent bool
	stream     int
	id         int64
}

// A request is one that was made and is not yet gone.
type request struct {
	raw, addr uint64
	file      bool // of a file operation
	identity
}

// requests are the live ones, oldest first.
type requests struct {
	live []*request
	made map[int]int64 // one-shots, by stream
}

// requestMade tests a request that came out of a call.
func (c *comparer) requestMade(p *pending, raw, addr uint64, v *trace.Value) string {
	stream := p.stream
	if c.names.null(mpi.KindRequest, raw) {
		if v.RequestForm != trace.RequestNull {
			return fmt.Sprintf("logged the null request, trace has %s", requestText(v))
		}
		return ""
	}
	r := &request{raw: raw, addr: addr, file: p.file, identity: identity{stream: stream, id: v.RequestID}}
	switch v.RequestForm {
	case trace.RequestOneShot:
		if n := c.requests.made[stream]; v.RequestID != n {
			return fmt.Sprintf("trace has %s, want number %d", requestText(v), n)
		}
		c.requests.made[stream]++
	case trace.RequestPersistent:
		r.identity = identity{persistent: true, id: v.RequestID}
		for _, other := range c.requests.live {
			if other.identity == r.identity {
				return fmt.Sprintf("trace has %s, which is alive", requestText(v))
			}
		}
	default:
		return fmt.Sprintf("logged new request %#x, trace has %s", raw, requestText(v))
	}
	c.requests.live = append(c.requests.live, r)
	return ""
}

// requestUsed tests a request that went into a call and returns the one it is.
// used are those that the call has already named: it can't name one twice.
func (c *comparer) requestUsed(stream int, raw, addr uint64, v *trace.Value, used map[*request]bool) (*request, string) {
	if c.names.null(mpi.KindRequest, raw) {
		if v.RequestForm != trace.RequestNull {
			return nil, fmt.Sprintf("logged the null request, trace has %s", requestText(v))
		}
		return nil, ""
	}
	var candidates []*request
	for _, r := range c.requests.live {
		if r.raw == raw && !used[r] {
			candidates = append(candidates, r)
		}
	}
	if len(candidates) > 1 {
		for _, r := range candidates {
			if r.addr == addr {
				candidates = []*request{r}
				break
			}
		}
	}
	if len(candidates) == 0 {
		if v.RequestForm != trace.RequestUnknown {
			return nil, fmt.Sprintf("no live request is %#x, trace has %s", raw, requestText(v))
		}
		c.excuse(StaleRequest)
		return nil, ""
	}
	if len(candidates) > 1 {
		c.excuse(SameRequests)
	}
	for _, r := range candidates {
		match := false
		switch v.RequestForm {
		case trace.RequestOneShot:
			match = r.identity == identity{stream: stream, id: v.RequestID}
		case trace.RequestPersistent:
			match = r.identity == identity{persistent: true, id: v.RequestID}
		case trace.RequestOfOtherThread:
			match = !r.persistent && r.stream != stream
			c.excuse(ForeignNumber)
		}
		if match {
			used[r] = true
			return r, ""
		}
	}
	used[candidates[0]] = true
	return candidates[0], fmt.Sprintf("logged request %#x at %#x is %+v, trace has %s", raw, addr, candidates[0].identity, requestText(v))
}

func (c *comparer) requestGone(r *request) {
	for i, other := range c.requests.live {
		if other == r {
			c.requests.live = append(c.requests.live[:i], c.requests.live[i+1:]...)
			return
		}
	}
}

func requestText(v *trace.Value) string {
	switch v.RequestForm {
	case trace.RequestNull:
		return "the null request"
	case trace.RequestOneShot:
		return fmt.Sprintf("request number %d", v.RequestID)
	case trace.RequestPersistent:
		return fmt.Sprintf("persistent request %d", v.RequestID)
	case trace.RequestOfOtherThread:
		return fmt.Sprintf("request %d of another thread", v.RequestID)
	}
	return "an unknown request"
}
