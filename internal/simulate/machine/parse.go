package machine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// file is the decoded content of a machine file.
type file struct {
	Name    string  `toml:"name"`
	Source  string  `toml:"source"`
	CPU     float64 `toml:"cpu"`
	Combine float64 `toml:"combine_ns_per_byte"`
	Levels  []level `toml:"level"`

	Recorder struct {
		Gap  float64 `toml:"gap_ns"`
		Call float64 `toml:"call_ns"`
	} `toml:"recorder"`
	Collectives []collective `toml:"collective"`
	Algorithms  string       `toml:"algorithms"`

	Files *struct {
		Latency float64 `toml:"latency_ns"`
		Open    float64 `toml:"open_ns"`
		Sync    float64 `toml:"sync_ns"`
		SyncB   float64 `toml:"sync_ns_per_byte"`
		Read    float64 `toml:"read_ns_per_byte"`
		Write   float64 `toml:"write_ns_per_byte"`
		Shared  float64 `toml:"shared_ns_per_byte"`
	} `toml:"files"`
}

type collective struct {
	Function string      `toml:"function"`
	Level    string      `toml:"level"`
	Members  int         `toml:"members"`
	Times    [][]float64 `toml:"times"`
}

type level struct {
	Name            string      `toml:"name"`
	Ranks           int         `toml:"ranks"`
	SendOverhead    any         `toml:"send_overhead_ns"` // a time in ns, or rows [bytes, ns]
	ReceiveOverhead any         `toml:"receive_overhead_ns"`
	Gap             any         `toml:"gap_ns"`
	EagerLimit      *int64      `toml:"eager_limit"`
	Eager           [][]float64 `toml:"eager"`
	Rendezvous      [][]float64 `toml:"rendezvous"`
	Contention      float64     `toml:"contention"`
}

// distances are the names of network levels, the nearest first.
var distances = []string{"core", "socket", "node", "switch"}

// maxFile is the largest accepted size of a machine file, in bytes.
const maxFile = 1 << 20

// ParseMachine reads the text of a machine file. Errors begin with the name and a line.
func ParseMachine(name string, text []byte) (*Machine, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: %d bytes are too many for a machine file: at most %d", name, len(text), maxFile)
	}
	f := file{CPU: 1}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&f); err != nil {
		return nil, syntaxError(name, err)
	}
	p := parser{name: name, lines: linesOf(text)}
	m := &Machine{Name: f.Name, FiguresSource: f.Source, CPUSpeedup: f.CPU, CombinePsPerByte: f.Combine * 1000}
	m.Name = cmp.Or(m.Name, name)
	if !(f.CPU > 0 && f.CPU <= 1e6) {
		p.fail("cpu", "cpu is %v: how many times as fast cores are, more than 0", f.CPU)
	}
	p.duration("combine_ns_per_byte", f.Combine)
	if len(f.Levels) == 0 {
		p.fail("", "no [[level]]: the machine needs one at least")
	}
	for i := range f.Levels {
		m.Levels = append(m.Levels, p.level(&f, i))
	}
	m.TracingCost.GapPs = p.duration("recorder.gap_ns", f.Recorder.Gap)
	m.TracingCost.CallPs = p.duration("recorder.call_ns", f.Recorder.Call)
	for i := range f.Collectives {
		m.CollectiveTimes = append(m.CollectiveTimes, p.collective(&f, i))
	}
	switch f.Algorithms {
	case "", "mpich":
	case OpenMPIAlgorithms:
		m.CollectiveAlgorithms = OpenMPIAlgorithms
	default:
		p.fail("algorithms", "no algorithms of %q: mpich or openmpi", f.Algorithms)
	}
	if x := f.Files; x != nil {
		m.Files = &FileCosts{
			LatencyPs: p.duration("files.latency_ns", x.Latency), OpenPs: p.duration("files.open_ns", x.Open), SyncPs: p.duration("files.sync_ns", x.Sync),
			SyncPsPerByte: x.SyncB * 1000, ReadPsPerByte: x.Read * 1000, WritePsPerByte: x.Write * 1000, CollectivePsPerByte: x.Shared * 1000,
		}
		p.duration("files.sync_ns_per_byte", x.SyncB)
		p.duration("files.read_ns_per_byte", x.Read)
		p.duration("files.write_ns_per_byte", x.Write)
		p.duration("files.shared_ns_per_byte", x.Shared)
	}
	if p.err != nil {
		return nil, p.err
	}
	return m, nil
}

// syntaxError returns the error for a file that isn't TOML or has an unknown key, with the line.
func syntaxError(name string, err error) error {
	var missing *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &missing) && len(missing.Errors) > 0:
		row, _ := missing.Errors[0].Position()
		return fmt.Errorf("%s:%d: machines have no %q", name, row, strings.Join(missing.Errors[0].Key(), "."))
	case errors.As(err, &decode):
		row, _ := decode.Position()
		return fmt.Errorf("%s:%d: %s", name, row, strings.TrimPrefix(decode.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", name, err)
}

// A parser checks the values of a machine file and keeps the first error.
type parser struct {
	name  string
	lines keyLines
	err   error
}

func (p *parser) fail(key, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d: %s", p.name, p.lines.of(key), fmt.Sprintf(format, args...))
	}
}

// duration converts the value of a key from ns to ps, and checks it.
func (p *parser) duration(key string, ns float64) int64 {
	if !(ns >= 0 && ns*1000 <= longest) {
		p.fail(key, "%s is %v: a time in ns, at least 0 and at most 1,000 s", key[strings.LastIndexByte(key, '.')+1:], ns)
		return 0
	}
	return int64(math.Round(ns * 1000))
}

func (p *parser) level(f *file, i int) NetworkLevel {
	x := &f.Levels[i]
	at := func(key string) string { return fmt.Sprintf("level.%d.%s", i, key) }
	l := NetworkLevel{
		Name: x.Name, RanksPerUnit: x.Ranks, EagerLimitBytes: NoEagerLimit, Contention: x.Contention,
	}
	l.SendOverheadPs, l.SendOverheads = p.timeOrTable(at("send_overhead_ns"), x.SendOverhead)
	l.ReceiveOverheadPs, l.ReceiveOverheads = p.timeOrTable(at("receive_overhead_ns"), x.ReceiveOverhead)
	l.MinGapPs, l.Gaps = p.timeOrTable(at("gap_ns"), x.Gap)
	if !(x.Contention >= 0 && x.Contention <= 1) {
		p.fail(at("contention"), "contention is %v: by which part of their time bytes are slower for each other rank that may send, from 0 to 1", x.Contention)
	}
	switch d := slices.Index(distances, x.Name); {
	case d < 0:
		p.fail(at("name"), "no level %q: they are %s", x.Name, strings.Join(distances, ", "))
	case i > 0 && d <= slices.Index(distances, f.Levels[i-1].Name):
		p.fail(at("name"), "level %q comes after %q: the nearest goes first", x.Name, f.Levels[i-1].Name)
	}
	last, inner := i == len(f.Levels)-1, 1
	if i > 0 {
		inner = max(1, f.Levels[i-1].Ranks)
	}
	switch {
	case last && x.Ranks != 0:
		p.fail(at("ranks"), "the last level holds all ranks, however many: no number of ranks here")
	case !last && (x.Ranks < 1 || x.Ranks > 1<<24):
		p.fail(at("ranks"), "ranks is %d: how many share a %s, from 1 to 16777216", x.Ranks, x.Name)
	case !last && x.Ranks%inner != 0:
		p.fail(at("ranks"), "%d ranks share a %s, which is no multiple of the %d that share a %s", x.Ranks, x.Name, inner, f.Levels[i-1].Name)
	}
	if len(x.Eager) == 0 {
		p.fail(at("eager"), "level %q has no table of times: eager = [[bytes, ns], ...]", x.Name)
	}
	l.EagerTimes = p.table(at("eager"), x.Eager)
	l.RendezvousTimes = p.table(at("rendezvous"), x.Rendezvous)
	if x.EagerLimit != nil {
		if l.EagerLimitBytes = *x.EagerLimit; l.EagerLimitBytes < 0 {
			p.fail(at("eager_limit"), "eager_limit is %d: bytes, at least 0", l.EagerLimitBytes)
		}
	}
	return l
}

// timeOrTable reads the value of a key: a time in ns, or a table of times by size. It returns the time in ps for 0
// bytes, and the table; nil without one.
func (p *parser) timeOrTable(key string, v any) (int64, SizeTimeTable) {
	switch v := v.(type) {
	case nil:
		return 0, nil
	case int64:
		return p.duration(key, float64(v)), nil
	case float64:
		return p.duration(key, v), nil
	case []any:
		rows := make([][]float64, len(v))
		for i := range v {
			row, ok := v[i].([]any)
			for j := 0; ok && j < len(row); j++ {
				switch n := row[j].(type) {
				case int64:
					rows[i] = append(rows[i], float64(n))
				case float64:
					rows[i] = append(rows[i], n)
				default:
					ok = false
				}
			}
			if !ok {
				p.fail(fmt.Sprintf("%s.%d", key, i), "a row of a table is [bytes, ns]")
				return 0, nil
			}
		}
		t := p.rows(key, rows, false)
		return t.TimePs(0), t
	}
	p.fail(key, "%s is a time in ns, or a table: [[bytes, ns], ...]", key[strings.LastIndexByte(key, '.')+1:])
	return 0, nil
}

func (p *parser) collective(f *file, i int) CollectiveTimes {
	x := &f.Collectives[i]
	at := func(key string) string { return fmt.Sprintf("collective.%d.%s", i, key) }
	var names []string
	for _, o := range MeasuredCollectives {
		names = append(names, o.String())
	}
	c := CollectiveTimes{LevelName: x.Level, Members: x.Members, Times: p.table(at("times"), x.Times)}
	named := slices.Index(names, x.Function)
	if named >= 0 {
		c.Operation = MeasuredCollectives[named]
	}
	switch {
	case named < 0:
		p.fail(at("function"), "no collective %q with a table: they are %s", x.Function, strings.Join(names, ", "))
	case !slices.ContainsFunc(f.Levels, func(l level) bool { return l.Name == x.Level }):
		p.fail(at("level"), "level is %q, which does not exist", x.Level)
	case x.Members < 2 || x.Members > 1<<24:
		p.fail(at("members"), "members is %d: how many ranks take part, from 2 to 16777216", x.Members)
	case len(x.Times) == 0:
		p.fail(at("times"), "the collective has no table of times: times = [[bytes, ns], ...]")
	}
	for j := range i {
		if y := &f.Collectives[j]; y.Function == x.Function && y.Level == x.Level && y.Members == x.Members {
			p.fail(fmt.Sprintf("collective.%d", i), "the second table for %s of %d members within a %s", x.Function, x.Members, x.Level)
		}
	}
	return c
}

func (p *parser) table(key string, rows [][]float64) SizeTimeTable { return p.rows(key, rows, true) }

// rows reads a table of [bytes, ns], the value of a key. If rising is set, times must not fall with the size.
func (p *parser) rows(key string, rows [][]float64, rising bool) SizeTimeTable {
	var t SizeTimeTable
	for i, row := range rows {
		at := fmt.Sprintf("%s.%d", key, i)
		if len(row) != 2 {
			p.fail(at, "a row of a table is [bytes, ns], this one has %d numbers", len(row))
			return nil
		}
		bytes, ns := row[0], row[1]
		if !(bytes >= 0 && bytes <= 1<<50) || bytes != math.Trunc(bytes) {
			p.fail(at, "%v is no size in bytes", bytes)
			return nil
		}
		r := SizeTime{int64(bytes), p.duration(at, ns)}
		switch {
		case i > 0 && r.Bytes <= t[i-1].Bytes:
			p.fail(at, "a row of a table has more bytes than the one before")
			return nil
		case i > 0 && r.TimePs < t[i-1].TimePs && rising:
			p.fail(at, "a larger message takes no less time: %v ns after %v", ns, rows[i-1][1])
			return nil
		}
		t = append(t, r)
	}
	return t
}

// FileText returns the machine as the text of a file that ParseMachine reads. The file begins with a comment.
func (m *Machine) FileText(comment string) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSuffix(line, "\n"))
	}
	fmt.Fprintf(&b, "name = %s\nsource = %s\n", quoted(m.Name), quoted(m.FiguresSource))
	if m.CPUSpeedup != 1 {
		fmt.Fprintf(&b, "cpu = %s\n", strconv.FormatFloat(m.CPUSpeedup, 'f', -1, 64))
	}
	if m.CombinePsPerByte != 0 {
		fmt.Fprintf(&b, "combine_ns_per_byte = %s\n", strconv.FormatFloat(m.CombinePsPerByte/1000, 'f', -1, 64))
	}
	if m.CollectiveAlgorithms != "" {
		fmt.Fprintf(&b, "algorithms = %q\n", m.CollectiveAlgorithms)
	}
	if f := m.Files; f != nil {
		fmt.Fprintf(&b, "\n[files]\nlatency_ns = %s\n", ns(f.LatencyPs))
		if f.OpenPs > 0 {
			fmt.Fprintf(&b, "open_ns = %s\n", ns(f.OpenPs))
		}
		if f.IsSyncTimeKnown() {
			fmt.Fprintf(&b, "sync_ns = %s\nsync_ns_per_byte = %s\n", ns(f.SyncPs), strconv.FormatFloat(f.SyncPsPerByte/1000, 'f', -1, 64))
		}
		for _, x := range []struct {
			key string
			ps  float64
		}{{"read", f.ReadPsPerByte}, {"write", f.WritePsPerByte}, {"shared", f.CollectivePsPerByte}} {
			fmt.Fprintf(&b, "%s_ns_per_byte = %s\n", x.key, strconv.FormatFloat(x.ps/1000, 'f', -1, 64))
		}
	}
	if m.TracingCost != (TracingCost{}) {
		fmt.Fprintf(&b, "\n[recorder]\ngap_ns = %s\ncall_ns = %s\n", ns(m.TracingCost.GapPs), ns(m.TracingCost.CallPs))
	}
	for i := range m.Levels {
		m.Levels[i].write(&b)
	}
	for _, c := range m.CollectiveTimes {
		fmt.Fprintf(&b, "\n[[collective]]\nfunction = %q\nlevel = %q\nmembers = %d\ntimes = %s\n", c.Operation, c.LevelName, c.Members, c.Times)
	}
	return b.Bytes()
}

func (l *NetworkLevel) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n[[level]]\nname = %q\n", l.Name)
	if l.RanksPerUnit > 0 {
		fmt.Fprintf(b, "ranks = %d\n", l.RanksPerUnit)
	}
	for _, x := range []struct {
		key   string
		time  int64
		table SizeTimeTable
	}{{"send_overhead_ns", l.SendOverheadPs, l.SendOverheads}, {"receive_overhead_ns", l.ReceiveOverheadPs, l.ReceiveOverheads}, {"gap_ns", l.MinGapPs, l.Gaps}} {
		if x.table != nil {
			fmt.Fprintf(b, "%s = %s\n", x.key, x.table)
		} else {
			fmt.Fprintf(b, "%s = %s\n", x.key, ns(x.time))
		}
	}
	if l.EagerLimitBytes != NoEagerLimit {
		fmt.Fprintf(b, "eager_limit = %d\n", l.EagerLimitBytes)
	}
	if l.Contention != 0 {
		fmt.Fprintf(b, "contention = %s\n", strconv.FormatFloat(l.Contention, 'f', -1, 64))
	}
	fmt.Fprintf(b, "eager = %s\n", l.EagerTimes)
	if len(l.RendezvousTimes) > 0 {
		fmt.Fprintf(b, "rendezvous = %s\n", l.RendezvousTimes)
	}
}

// perLine is the number of rows of a SizeTimeTable per line of a machine file.
const perLine = 8

// String returns the table as a machine file has it.
func (t SizeTimeTable) String() string {
	var b strings.Builder
	b.WriteString("[")
	for i, r := range t {
		switch {
		case len(t) > perLine && i%perLine == 0:
			b.WriteString("\n\t")
		case i > 0:
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "[%d, %s]", r.Bytes, ns(r.TimePs))
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

// ns writes a time in ps as a number of ns.
func ns(ps int64) string { return strconv.FormatFloat(float64(ps)/1000, 'f', -1, 64) }

// quoted returns a text as a basic string of TOML.
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
