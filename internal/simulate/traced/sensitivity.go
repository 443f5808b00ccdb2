package traced

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/trace"
)

// A Variation is the predicted end of the run with one property of the machine or of the run changed.
type Variation struct {
	Description string `json:"what"`
	EndPs       int64  `json:"end_ps"`
}

// A Sensitivity is how the predicted time depends on properties of the machine.
type Sensitivity struct {
	Variations []Variation `json:"variations"`
	// Efficiencies of the POP project for the prediction. Serialisation is the longest computation of a rank over the
	// run time if messages took no time. Transfer is that run time over the predicted one. LoadBalance is the mean
	// computation of ranks over the longest.
	SerialisationEfficiency float64 `json:"serialisation_efficiency"`
	TransferEfficiency      float64 `json:"transfer_efficiency"`
	LoadBalance             float64 `json:"load_balance"`
}

// variations are the changes of one property of the machine each, by 10 %, that PredictVariations tries.
var variations = []struct {
	what, of string // what: description; of: key in changes
	factor   float64
}{
	{"latency 10 % less", "latency", 0.9},
	{"bandwidth 10 % more", "bandwidth", 1.1},
	{"overhead of messages 10 % less", "overhead", 0.9},
	{"cores 10 % faster", "cpu", 1.1},
}

// PredictVariations predicts a run on changed machines; p is the prediction for the unchanged machine.
func PredictVariations(r *trace.Reader, o Options, p *Prediction) (*Sensitivity, error) {
	s := &Sensitivity{}
	if o.TracingCost == nil { // the cost of tracing in the traced run does not depend on the changed machine
		o.TracingCost = &o.Machine.TracingCost
	}
	base := *o.Machine
	base.CPUSpeedup = p.CPUSpeedup
	var list []Options
	vary := func(what string, m *machine.Machine, factors []float64) {
		x := o
		x.Machine, x.CPUSpeedup, x.factors = m, 0, factors
		list = append(list, x)
		s.Variations = append(s.Variations, Variation{Description: what})
	}
	for _, v := range variations {
		vary(v.what, base.WithChange(changes[v.of](v.factor)), o.factors)
	}
	mean := p.MeanRankTime()
	// By rank: factor that moves its computation a tenth of the way to the mean.
	factors := make([]float64, len(p.Ranks))
	for i := range factors {
		factors[i] = 1
		if c := p.Ranks[i].ComputePs; c > 0 {
			factors[i] = 1 + 0.1*(float64(mean.ComputePs)/float64(c)-1)
		}
	}
	vary("imbalance 10 % less", &base, factors)
	ideal, err := machine.LoadMachine("ideal")
	if err != nil {
		return nil, err
	}
	ideal.CPUSpeedup = p.CPUSpeedup
	vary("messages take no time", ideal, o.factors)
	all, failed, err := PredictAll(r, list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Variations[failed].Description, err)
	}
	for i, p := range all {
		s.Variations[i].EndPs = p.EndPs
	}
	without := all[len(all)-1]
	longest := int64(0)
	for i := range p.Ranks {
		longest = max(longest, p.Ranks[i].ComputePs)
	}
	s.TransferEfficiency = share(without.EndPs, p.EndPs)
	s.SerialisationEfficiency = share(longest, without.EndPs)
	s.LoadBalance = share(mean.ComputePs, longest)
	return s, nil
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// A PropertyRange is a property of a machine (a key of changes), and a range of factors by which it is varied.
type PropertyRange struct {
	Property             string
	MinFactor, MaxFactor float64
	PointCount           int
}

// changes are the properties of a machine that can be varied, with the change for a factor.
var changes = map[string]func(factor float64) machine.MachineChange{
	"latency": func(f float64) machine.MachineChange {
		return machine.MachineChange{LatencyFactor: f, ByteTimeFactor: 1, OverheadFactor: 1, ComputeFactor: 1}
	},
	"bandwidth": func(f float64) machine.MachineChange {
		return machine.MachineChange{LatencyFactor: 1, ByteTimeFactor: 1 / f, OverheadFactor: 1, ComputeFactor: 1}
	},
	"overhead": func(f float64) machine.MachineChange {
		return machine.MachineChange{LatencyFactor: 1, ByteTimeFactor: 1, OverheadFactor: f, ComputeFactor: 1}
	},
	"cpu": func(f float64) machine.MachineChange {
		return machine.MachineChange{LatencyFactor: 1, ByteTimeFactor: 1, OverheadFactor: 1, ComputeFactor: 1 / f}
	},
}

// ParsePropertyRange reads a range of factors: WHAT=FROM:TO or WHAT=FROM:TO:POINTS, e.g. bandwidth=1:100:5.
func ParsePropertyRange(text string) (x PropertyRange, err error) {
	what, rest, _ := strings.Cut(text, "=")
	if changes[what] == nil {
		return x, fmt.Errorf("no %q to vary: %s", what, strings.Join(slices.Sorted(maps.Keys(changes)), ", "))
	}
	x = PropertyRange{Property: what, PointCount: 7}
	parts := strings.Split(rest, ":")
	bad := fmt.Errorf("%q: how often as much, from 0.000001 to 1000000: bandwidth=1:100, or in how many steps: bandwidth=1:100:5", text)
	if len(parts) != 2 && len(parts) != 3 {
		return x, bad
	}
	for i, to := range []*float64{&x.MinFactor, &x.MaxFactor} {
		if *to, err = strconv.ParseFloat(parts[i], 64); err != nil || !(*to >= 1e-6 && *to <= 1e6) {
			return x, bad
		}
	}
	if len(parts) == 3 {
		if x.PointCount, err = strconv.Atoi(parts[2]); err != nil || x.PointCount < 2 || x.PointCount > 1000 {
			return x, bad
		}
	}
	return x, nil
}

// Factors lists the factors of a range. The ratio of neighbours is always the same.
func (x PropertyRange) Factors() (list []float64) {
	for i := range x.PointCount {
		list = append(list, x.MinFactor*math.Pow(x.MaxFactor/x.MinFactor, float64(i)/float64(x.PointCount-1)))
	}
	list[x.PointCount-1] = x.MaxFactor
	return list
}

// A VariedPrediction is a prediction for a machine one of whose properties is multiplied by Factor.
type VariedPrediction struct {
	Factor float64 `json:"factor"`
	*Prediction
}

// Sweep predicts a run for each factor of a range.
func Sweep(r *trace.Reader, o Options, x PropertyRange) (list []VariedPrediction, err error) {
	base := *o.Machine
	if o.CPUSpeedup > 0 {
		base.CPUSpeedup = o.CPUSpeedup
	}
	o.CPUSpeedup = 0
	factors := x.Factors()
	var options []Options
	for _, f := range factors {
		o.Machine = base.WithChange(changes[x.Property](f))
		options = append(options, o)
	}
	all, failed, err := PredictAll(r, options)
	if err != nil {
		return nil, fmt.Errorf("with %g times the %s: %w", factors[failed], x.Property, err)
	}
	for i, p := range all {
		list = append(list, VariedPrediction{factors[i], p})
	}
	return list, nil
}
