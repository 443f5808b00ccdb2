// Package timing says what a recorder measures of each call, and what of it is kept. It does not decide which
// calls belong together.
package timing

// An Entry is the times of one call, in ticks.
//
// Durations and gaps are what statistics count. Added up they tell when a call
// began, but for calls that callbacks make, and for what was not recorded: there
// Jump says how far the call's beginning is from where the sum says it is.
type Entry struct {
	Duration, Gap uint64
	Jump          int64 // nearly always 0
}

// Advance moves a place on the time line over a call.
func (e Entry) Advance(at int64) (begin, end int64) {
	begin = at + int64(e.Gap) + e.Jump
	return begin, begin + int64(e.Duration)
}

// An Attached is a number that a plugin or a counter attached to a call of a stream.
type Attached struct {
	Call  uint64 // its position
	Name  int    // number of the name, which stands elsewhere
	Value int64
}
