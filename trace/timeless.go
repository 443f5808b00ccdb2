package trace

import (
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/container"
)

// ErrNoTimes is returned by functions that need times if the trace has none.
var ErrNoTimes = errors.New("no times in this trace (recorded with --timing none)")

// HasTimes reports whether the trace has any times. If not, all times in Times, Totals, TimedCalls and Processes are
// 0, and samples are of the kind NoSample.
func (r *Reader) HasTimes() bool { return r.hasSection(container.SectionTimes) }

// RequireTimes returns an error that wraps ErrNoTimes and names the trace if the trace has no times, else nil.
func (r *Reader) RequireTimes() error {
	if r.HasTimes() {
		return nil
	}
	return fmt.Errorf("%s: %w", r.name, ErrNoTimes)
}

// timed are the IDs of the sections that a trace without section times must not have.
var timed = []byte{container.SectionSeries, container.SectionClocks, container.SectionLeafTimes, container.SectionTotals, container.SectionAsides, container.SectionUnknownLeafTimes, container.SectionWaits, container.SectionWhen, container.SectionFirstCallTimes}

// checkTimeless returns an error if a trace without section times has times in other sections.
func (r *Reader) checkTimeless() error {
	if r.HasTimes() {
		return nil
	}
	for _, id := range timed {
		if r.hasSection(id) {
			return r.failed(id, fmt.Errorf("there is no section %q: %w", container.SectionNames[container.SectionTimes], ErrFormat))
		}
	}
	p, err := r.procs()
	if err != nil {
		return err
	}
	for rank, x := range p.All() {
		if x.InitWallClockNs != 0 || x.FirstThreadNs != 0 || x.AllThreadsMPINs != 0 {
			return r.failed(container.SectionProcess, fmt.Errorf("times of rank %d, but there is no section %q: %w", rank, container.SectionNames[container.SectionTimes], ErrFormat))
		}
	}
	return nil
}
