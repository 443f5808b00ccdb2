package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Partners returns the families of messages whose partners, sizes and tags were drawn when the trace was made: calls that
// send and receive these are none that the run made. It is nil of a trace that has all as it was.
func (r *Reader) Partners() (list []Partners, err error) {
	err = r.optional(container.Partners, func(w *wire.Reader) { list = sections.DecodePartners(w, r.ranks.Ranks) })
	return list, err
}

// PartnersOf returns which of the families a call's message is of, nil if it is of none.
func PartnersOf(list []Partners, c *Call) *Partners {
	if len(list) == 0 {
		return nil
	}
	buf := c.Param("buf")
	if buf == nil || buf.In.Type != Address {
		return nil
	}
	for i := range list {
		if id := buf.In.Addr.ID; buf.In.Addr.Class != Special && (id == list[i].Sent || id == list[i].Received) {
			return &list[i]
		}
	}
	return nil
}
