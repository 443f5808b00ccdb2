package machine

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// A formula is a lab whose machine is known.
type formula struct {
	seats []ProcessorBinding
	limit int64 // eager
	clock float64
	noise float64 // part of a time that comes and goes
	often float64 // ns that every second send takes more
	over  func(a, b int) float64
	rng   *rand.Rand
}

func (f *formula) Seats() []ProcessorBinding { return f.seats }

func (f *formula) oneWay(bytes int64) float64 {
	t := 300 + 0.08*float64(bytes)
	if bytes > 2000 { // a jump of its own
		t += 250
	}
	if bytes > f.limit {
		t = 1500 + 0.1*float64(bytes)
	}
	return t
}

func (f *formula) sending(bytes int64) float64 { return 60 + 0.02*float64(min(bytes, f.limit)) }

func (f *formula) receiving(bytes int64) float64 { return 80 + 0.03*float64(bytes) }

func (f *formula) gap(bytes int64) float64 { return 100 + 0.05*float64(bytes) }

func (f *formula) Run(x Experiment) ([]int64, error) {
	inner, far := float64(max(1, x.InnerRepetitions)), f.over(x.FromRank, x.ToRank)
	t := 0.0
	switch x.Kind {
	case MeasureRoundTrips:
		t = 2 * inner * f.oneWay(x.Bytes) * far
	case MeasureSyncRoundTrips:
		t = 2 * inner * (f.oneWay(x.Bytes) + 400)
		if x.Bytes > f.limit {
			t = 2 * inner * f.oneWay(x.Bytes)
		}
	case MeasureSends:
		t = f.sending(x.Bytes)
	case MeasureReceives:
		t = f.receiving(x.Bytes) + f.clock
	case MeasureBursts:
		t = 700 + inner*f.gap(x.Bytes)
	case MeasureLateReceives:
		if t = f.sending(x.Bytes); x.Bytes > f.limit {
			t = float64(x.DelayNs) + f.oneWay(x.Bytes)
		}
	case MeasureCollectives:
		t = inner * (1000 + float64(100*x.FromRank) + 0.2*float64(x.Bytes))
	case MeasureReduceLocals:
		t = inner * 0.05 * float64(x.Bytes)
	case MeasureFileOpens:
		t = 2 * 9000
	case MeasureFileWrites:
		t = 2000 + 0.5*float64(x.Bytes)
	case MeasureFileReads:
		t = 1000 + 0.25*float64(x.Bytes)
	case MeasureFileSyncs:
		t = 70_000 + 2*float64(x.Bytes)
	case MeasureFileWriteAlls:
		t = 3000 + 0.75*float64(x.Bytes)*float64(len(f.seats))
	case MeasureClockReads:
		return fill(x.Samples, inner*f.clock), nil
	}
	out := make([]int64, x.Samples)
	for i := range out {
		out[i] = int64(math.Round((t + f.clock) * (1 + f.noise*f.rng.Float64())))
		if x.Kind == MeasureSends && i%2 == 0 {
			out[i] += int64(f.often)
		}
	}
	return out, nil
}

func fill(n int, t float64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(t)
	}
	return out
}

func newFormula(seats ...ProcessorBinding) *formula {
	return &formula{seats: seats, limit: 5000, clock: 20, over: func(int, int) float64 { return 1 }, rng: rand.New(rand.NewPCG(1, 2))}
}

func quiet(string, ...any) {}

// What is known of a machine is what is found, between the sizes that were measured too.
func TestCalibrate(t *testing.T) {
	here := ProcessorBinding{Host: "a", Socket: -1, Core: -1, Sockets: 1, HostProcessors: 8, PerSocket: 8, PerCore: 1}
	f := newFormula(here, here)
	f.noise = 0.005
	m, err := CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 22, Logf: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Levels) != 1 || m.Levels[0].Name != "node" || m.Levels[0].RanksPerUnit != 0 || m.Levels[0].EagerLimitBytes != 5000 {
		t.Fatalf("%+v", m)
	}
	l := &m.Levels[0]
	check := func(what string, bytes, got int64, want, within float64) {
		if off := math.Abs(float64(got)/1000 - want); off > within*want+1 {
			t.Errorf("%s of %d bytes: %d ps, want %.1f ns", what, bytes, got, want)
		}
	}
	for _, bytes := range []int64{0, 1, 7, 100, 777, 1500, 3000, 4999, 5000} {
		check("eager", bytes, l.EagerTimePs(bytes), f.oneWay(bytes), 0.02)
		check("synchronous", bytes, l.RendezvousTimePs(bytes), f.oneWay(bytes)+400, 0.15)
		check("sending", bytes, l.CostOfMessage(bytes, false).SenderCorePs, f.sending(bytes), 0.02)
		check("receiving", bytes, l.CostOfMessage(bytes, false).ReceiverCorePs, f.receiving(bytes), 0.02)
		check("gap", bytes, l.SenderBusyTimePs(bytes, false), f.gap(bytes), 0.02)
	}
	for _, bytes := range []int64{5001, 7000, 12345, 100_000, 1 << 20, 3_333_333, 1 << 22} {
		check("rendezvous", bytes, l.RendezvousTimePs(bytes), f.oneWay(bytes), 0.02)
		check("gap", bytes, l.SenderBusyTimePs(bytes, true), f.gap(bytes), 0.02)
	}
	for number, operation := range MeasuredCollectives {
		for _, bytes := range []int64{0, 16, 1000, 500_000} {
			if operation == meaning.CollectiveBarrier {
				bytes = 0
			}
			got, ok := m.CollectiveTimePs(operation, l, 2, bytes)
			if !ok {
				t.Errorf("no time of %s", operation)
			}
			check(operation.String(), bytes, got, 1000+float64(100*number)+0.2*float64(bytes), 0.02)
		}
	}
	if math.Abs(m.CombinePsPerByte-50) > 1 {
		t.Errorf("a byte combined in %v ps", m.CombinePsPerByte)
	}
	again, err := ParseMachine("x", m.FileText(""))
	if err != nil {
		t.Fatal(err)
	}
	again.Name, again.FiguresSource = m.Name, m.FiguresSource
	if diff := cmp.Diff(m, again); diff != "" {
		t.Error(diff)
	}
}

// Sizes are doubled where times jump, and nowhere else.
func TestJumps(t *testing.T) {
	here := ProcessorBinding{Host: "a"}
	f := newFormula(here, here)
	m, err := CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 20, Logf: quiet})
	if err != nil {
		t.Fatal(err)
	}
	around := 0
	for _, r := range m.Levels[0].EagerTimes {
		if r.Bytes&(r.Bytes-1) == 0 || r.Bytes == 5000 {
			continue
		}
		if around++; r.Bytes < 1024 || r.Bytes > 4096 {
			t.Errorf("measured at %d bytes, where there is no jump", r.Bytes)
		}
	}
	if around < 2 {
		t.Errorf("%d sizes more around the jump", around)
	}
}

// What is known of files is what is found, where it is asked for.
func TestCalibrateFiles(t *testing.T) {
	f := newFormula(ProcessorBinding{}, ProcessorBinding{}, ProcessorBinding{})
	m, err := CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 16, MeasureFiles: true, Logf: quiet})
	if err != nil {
		t.Fatal(err)
	}
	want := &FileCosts{LatencyPs: 1_503_000, OpenPs: 9_000_000, SyncPs: 70_016_000, SyncPsPerByte: 2000, ReadPsPerByte: 250, WritePsPerByte: 500, CollectivePsPerByte: 750}
	if diff := cmp.Diff(want, m.Files, cmpopts.EquateApprox(0.001, 0)); diff != "" {
		t.Error(diff)
	}
	again, err := ParseMachine("x", m.FileText(""))
	if err != nil || again.Files == nil {
		t.Fatal(err)
	}
	if m, err = CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 16, Logf: quiet}); err != nil || m.Files != nil {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestEagerLimits(t *testing.T) {
	here := ProcessorBinding{Host: "a"}
	for _, limit := range []int64{0, 1, 4095, 1 << 18, 1 << 20} {
		f := newFormula(here, here)
		f.limit = limit
		m, err := CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 18, Logf: quiet})
		if err != nil {
			t.Fatal(err)
		}
		want := limit
		if limit >= 1<<18 {
			want = NoEagerLimit
		}
		if got := m.Levels[0].EagerLimitBytes; got != want {
			t.Errorf("the limit of %d bytes is found as %d", limit, got)
		}
		if _, err := ParseMachine("x", m.FileText("")); err != nil {
			t.Error(err)
		}
	}
}

func TestLevels(t *testing.T) {
	seat := func(host string, socket, core int) ProcessorBinding {
		return ProcessorBinding{Host: host, Socket: socket, Core: core, Sockets: 2, HostProcessors: 16, PerSocket: 8, PerCore: 2}
	}
	f := newFormula(seat("a", 0, 0), seat("a", 0, 0), seat("a", 0, 1), seat("a", 1, 0), seat("b", 0, 0))
	f.over = func(a, b int) float64 { return float64(1 + b) }
	m, err := CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 16, Logf: quiet})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, l := range m.Levels {
		got = append(got, l.Name)
		if want := []int{2, 8, 16, 0}[i]; l.RanksPerUnit != want {
			t.Errorf("%d ranks share a %s, want %d", l.RanksPerUnit, l.Name, want)
		}
		// Rank 0 and the first of the others that is no nearer.
		if want := 300 * float64(2+i) * 1000; math.Abs(float64(l.EagerTimes.TimePs(0))-want) > 0.02*want {
			t.Errorf("%s: %d ps, want %v", l.Name, l.EagerTimes.TimePs(0), want)
		}
	}
	if strings.Join(got, " ") != "core socket node switch" {
		t.Error(got)
	}
	if _, err := ParseMachine("x", m.FileText("")); err != nil {
		t.Error(err)
	}
	if _, err := CalibrateMachine(newFormula(seat("a", 0, 0)), CalibrateOptions{MaxMessageBytes: 1 << 16, Logf: quiet}); err == nil || !strings.Contains(err.Error(), "mpirun -n 2") {
		t.Error(err)
	}
}

func TestNoise(t *testing.T) {
	here := ProcessorBinding{Host: "a"}
	f := newFormula(here, here)
	f.noise = 3
	_, err := CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 16, Logf: quiet})
	var noise *NoiseError
	if !errors.As(err, &noise) || !strings.Contains(err.Error(), "--noisy") {
		t.Error(err)
	}
	said := ""
	m, err := CalibrateMachine(f, CalibrateOptions{MaxMessageBytes: 1 << 16, AllowNoise: true, Logf: func(format string, _ ...any) { said += format }})
	if err != nil || !strings.Contains(said, "varied") {
		t.Error(err, said)
	}
	if _, err := ParseMachine("x", m.FileText("")); err != nil {
		t.Error(err)
	}
}

// What a message costs a core may vary by as much as the message's time may, not by more.
func TestLittleNoise(t *testing.T) {
	for _, c := range []struct {
		often, oneWay float64
		refused       bool
	}{{310, 2e6, false}, {310, 500, true}, {50, 500, false}, {9e5, 2e6, true}} {
		f := newFormula(ProcessorBinding{}, ProcessorBinding{})
		f.often = c.often
		p := &rankPair{&bench{ExperimentRunner: f, clock: f.clock}, 0, 1, "node"}
		x, err := p.overhead(MeasureSends, 1<<24, c.oneWay)
		var noise *NoiseError
		if errors.As(err, &noise) != c.refused {
			t.Errorf("%v ns more in half of the times, of a message of %v: %v", c.often, c.oneWay, err)
		}
		if want := f.sending(1<<24) + c.often/2; err == nil && math.Abs(x-want) > 0.02*want {
			t.Errorf("sending takes %v ns, want %v", x, want)
		}
	}
}

func TestSeat(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("online", "0-7")
	for cpu := range 8 { // two sockets of two cores of two threads
		name := "cpu" + string(rune('0'+cpu)) + "/topology/"
		write(name+"physical_package_id", string(rune('0'+cpu/4)))
		write(name+"core_id", string(rune('0'+cpu%4/2)))
	}
	for _, c := range []struct {
		bound        string
		socket, core int
	}{{"3", 0, 1}, {"6-7", 1, 1}, {"4-7", 1, -1}, {"0-7", -1, -1}, {"0,4", -1, -1}, {"5,6,7", 1, -1}} {
		s := seatOf(dir, "h", "Name:\tx\nCpus_allowed_list:\t"+c.bound+"\nMems_allowed_list:\t0\n")
		if want := (ProcessorBinding{"h", c.socket, c.core, 2, 8, 4, 2}); s != want {
			t.Errorf("bound to %s: %+v, want %+v", c.bound, s, want)
		}
	}
	s := OwnProcessorBinding()
	b := s.Encode()
	again, err := DecodeProcessorBinding(b)
	if err != nil || again != s || len(b) != seatBytes {
		t.Error(again, err, len(b))
	}
	if _, err := DecodeProcessorBinding([]byte("{")); err == nil {
		t.Error("no error")
	}
}

func TestRecorderCost(t *testing.T) {
	v := func(x float64) (out []float64) {
		for i := range 1000 {
			out = append(out, x+float64(i%3))
		}
		return append(out, 1e9, 0)
	}
	r, err := MeasuredTracingCost(v(40), v(12), 3)
	if err != nil || r != (TracingCost{GapPs: 41_000, CallPs: 10_000}) {
		t.Error(r, err)
	}
	if _, err := MeasuredTracingCost(v(40), nil, 3); err == nil {
		t.Error("no error")
	}
}
