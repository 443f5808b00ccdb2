package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// parseMoment reads a time such as 12.5s, 300ms or 12.5, which is in seconds.
func parseMoment(text string) (ns int64, err error) {
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > -9e9 && s < 9e9 {
		return int64(s * 1e9), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time such as 12.5s or 300ms", text)
	}
	return d.Nanoseconds(), nil
}

// notPast returns an error if all ranks had ended before a time, given in ns on the time line.
func notPast(r *trace.Reader, ns int64) error {
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return err
		}
		if end, err := k.EndNs(); err != nil || ns <= end {
			return err
		}
	}
	end, err := r.EndNs()
	if err != nil {
		return err
	}
	return fmt.Errorf("--at: the run ended at %s", show.FormatDuration(float64(end)))
}

// moments prints what each thread of a rank did at a time.
func (d *dumper) moments(k *trace.Rank) error {
	for stream := range k.Streams() {
		if d.o.stream >= 0 && stream != d.o.stream {
			continue
		}
		m, err := k.MomentAt(stream, d.at)
		if err != nil {
			return err
		}
		if m.LastBegunCall.Call == nil {
			err = d.nothing(k, stream)
		} else {
			err = d.moment(&m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nothing prints that a thread had not called MPI yet at the time of --at.
func (d *dumper) nothing(k *trace.Rank, stream int) error {
	if d.o.json {
		_, err := fmt.Fprintf(d.out, `{"rank":%d,"thread":%d,"inside":false}`+"\n", k.Number(), stream)
		return err
	}
	b := strconv.AppendInt(d.line[:0], int64(k.Number()), 10)
	if stream > 0 {
		b = strconv.AppendInt(append(b, '.'), int64(stream), 10)
	}
	d.line = append(b, ": before its first call\n"...)
	_, err := d.out.Write(d.line)
	return err
}

var stateNames = map[trace.State]string{
	trace.StateInCall: "inside", trace.StateOutsideMPI: "outside MPI", trace.StateInRecorder: "in spoor, which recorded", trace.StateTracingOff: "not traced",
}

func (d *dumper) moment(m *trace.Moment) error {
	c := &m.LastBegunCall
	if d.o.json {
		b := c.AppendJSON(d.line[:0])
		b = fmt.Appendf(b[:len(b)-1], `,"inside":%t,"state":%q,"since_ns":%d`, m.State == trace.StateInCall, m.State, m.StateStartNs)
		b = fmt.Appendf(appendStartJSON(b, c), `,"duration_ns":%d,"times":%q}`+"\n", c.Timing.Duration.Ns, m.TimeKind)
		d.line = b
		_, err := d.out.Write(b)
		return err
	}
	b := d.appendWhich(d.line[:0], c.Call)
	b = c.AppendText(b)
	about := ""
	if m.TimeKind < trace.ExactSample {
		about = "about "
	}
	b = fmt.Appendf(b, " | %s for %s%s", stateNames[m.State], about, show.FormatDuration(float64(d.at-m.StateStartNs)))
	if about != "" {
		b = appendStart(append(b, "; it began at "...), c)
	}
	d.line = append(b, '\n')
	_, err := d.out.Write(d.line)
	return err
}
