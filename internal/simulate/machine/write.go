package machine

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Text returns a machine as a file that Parse reads, with a comment before it.
func (m *Machine) Text(comment string) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSuffix(line, "\n"))
	}
	fmt.Fprintf(&b, "name = %s\nsource = %s\n", quoted(m.Name), quoted(m.Source))
	if m.CPU != 1 {
		fmt.Fprintf(&b, "cpu = %s\n", strconv.FormatFloat(m.CPU, 'f', -1, 64))
	}
	if m.Combine != 0 {
		fmt.Fprintf(&b, "combine_ns_per_byte = %s\n", strconv.FormatFloat(m.Combine/1000, 'f', -1, 64))
	}
	if m.Algorithms != "" {
		fmt.Fprintf(&b, "algorithms = %q\n", m.Algorithms)
	}
	if f := m.Files; f != nil {
		fmt.Fprintf(&b, "\n[files]\nlatency_ns = %s\n", ns(f.Latency))
		if f.Open > 0 {
			fmt.Fprintf(&b, "open_ns = %s\n", ns(f.Open))
		}
		if f.Syncs() {
			fmt.Fprintf(&b, "sync_ns = %s\nsync_ns_per_byte = %s\n", ns(f.Sync), strconv.FormatFloat(f.SyncByte/1000, 'f', -1, 64))
		}
		for _, x := range []struct {
			key string
			ps  float64
		}{{"read", f.Read}, {"write", f.Write}, {"shared", f.Shared}} {
			fmt.Fprintf(&b, "%s_ns_per_byte = %s\n", x.key, strconv.FormatFloat(x.ps/1000, 'f', -1, 64))
		}
	}
	if m.Recorder != (Recorder{}) {
		fmt.Fprintf(&b, "\n[recorder]\ngap_ns = %s\ncall_ns = %s\n", ns(m.Recorder.Gap), ns(m.Recorder.Call))
	}
	for i := range m.Levels {
		m.Levels[i].write(&b)
	}
	for _, c := range m.Collectives {
		fmt.Fprintf(&b, "\n[[collective]]\nfunction = %q\nlevel = %q\nmembers = %d\ntimes = %s\n", c.Function, c.Level, c.Members, c.Times)
	}
	return b.Bytes()
}

func (l *Level) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n[[level]]\nname = %q\n", l.Name)
	if l.Ranks > 0 {
		fmt.Fprintf(b, "ranks = %d\n", l.Ranks)
	}
	for _, x := range []struct {
		key   string
		time  int64
		table Table
	}{{"send_overhead_ns", l.SendOverhead, l.Sending}, {"receive_overhead_ns", l.ReceiveOverhead, l.Receiving}, {"gap_ns", l.Gap, l.Gaps}} {
		if x.table != nil {
			fmt.Fprintf(b, "%s = %s\n", x.key, x.table)
		} else {
			fmt.Fprintf(b, "%s = %s\n", x.key, ns(x.time))
		}
	}
	if l.EagerLimit != NoLimit {
		fmt.Fprintf(b, "eager_limit = %d\n", l.EagerLimit)
	}
	if l.Contention != 0 {
		fmt.Fprintf(b, "contention = %s\n", strconv.FormatFloat(l.Contention, 'f', -1, 64))
	}
	fmt.Fprintf(b, "eager = %s\n", l.Eager)
	if len(l.Rendezvous) > 0 {
		fmt.Fprintf(b, "rendezvous = %s\n", l.Rendezvous)
	}
}

// perLine is how many rows of a table stand in a line.
const perLine = 8

// String is a table as it stands in a file.
func (t Table) String() string {
	var b strings.Builder
	b.WriteString("[")
	for i, r := range t {
		switch {
		case len(t) > perLine && i%perLine == 0:
			b.WriteString("\n\t")
		case i > 0:
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "[%d, %s]", r.Bytes, ns(r.Time))
		if i < len(t)-1 {
			b.WriteString(",")
		}
	}
	if len(t) > perLine {
		b.WriteString(",\n")
	}
	b.WriteString("]")
	return b.String()
}

// ns writes ps in ns.
func ns(ps int64) string { return strconv.FormatFloat(float64(ps)/1000, 'f', -1, 64) }

// quoted is text as a basic string of TOML.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
