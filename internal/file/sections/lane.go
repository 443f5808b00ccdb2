package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/lane"
)

// appendLanes returns the section; nil if no class has lanes.
func appendLanes(classes []Class) ([]byte, error) {
	blobs := make([][]byte, len(classes))
	var t Terminal
	for i := range classes {
		c := &classes[i]
		var err error
		blobs[i], err = lane.Append(nil, c.Lanes, c.LaneCounts, &c.Ranks, func(terminal int) int {
			if terminal >= c.Terminals.Len() {
				return -1
			}
			c.Terminals.At(terminal, &t)
			return len(t.Vals)
		})
		if err != nil {
			return nil, fmt.Errorf("class %d: lanes: %w", i, err)
		}
	}
	return appendSome(nil, blobs), nil
}

// DecodeLanes reads the lanes of a class whose terminals are known.
func DecodeLanes(r *wire.Reader, c *Decoded) *lane.Decoded {
	return lane.Decode(r, c.Ranks, len(c.Terminals), func(terminal int) int { return c.Terminals[terminal].Group.Width })
}
