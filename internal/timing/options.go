package timing

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/show"
)

// A Mode determines how the times of single calls are stored.
type Mode string

// The modes. In lossy modes each time has an error bound.
const (
	ModeStats    Mode = "stats"    // a summary of each distinct call
	ModeHist     Mode = "hist"     // histograms too, by what came before the call
	ModeLossless Mode = "lossless" // every time, in ticks
	ModeCFG      Mode = "cfg"      // exponential bins, and a grammar over their numbers
	ModeHistSig  Mode = "hist-sig" // the bins that are frequent for a distinct call have short codes
	ModeSZ       Mode = "sz"       // prediction from the previous values, and residuals
	ModeZFP      Mode = "zfp"      // blocks of a transform
	ModeSZSig    Mode = "sz-sig"   // as sz, with the times of each distinct call adjacent
	ModeZFPSig   Mode = "zfp-sig"  // as zfp, with the times of each distinct call adjacent
	ModePlace    Mode = "place"    // prediction from the place in the program's structure
	ModeNone     Mode = "none"     // nothing
)

// RecordableModes lists the modes that a run can be recorded in. In the others times are coded afterwards (papers/codecs).
var RecordableModes = []Mode{ModeStats, ModeHist, ModeLossless, ModePlace, ModeNone}

// Modes lists all modes that traces have.
var Modes = []Mode{ModeStats, ModeHist, ModeLossless, ModeCFG, ModeHistSig, ModeSZ, ModeZFP, ModeSZSig, ModeZFPSig, ModePlace, ModeNone}

// NeedsLog reports whether the mode stores each single time.
func (m Mode) NeedsLog() bool { return !slices.Contains([]Mode{ModeStats, ModeHist, ModeNone, ""}, m) }

// Histograms reports whether the mode keeps histograms.
func (m Mode) Histograms() bool { return m == ModeHist }

// Lossy reports whether the mode has an error bound.
func (m Mode) Lossy() bool { return m.NeedsLog() && m != ModeLossless }

// A WaitsPolicy determines when wait states are computed at the end of a run.
type WaitsPolicy string

// The values of Options.Waits.
const (
	WaitsNever  WaitsPolicy = "never"
	WaitsAuto   WaitsPolicy = "auto" // if it takes little time
	WaitsAlways WaitsPolicy = "always"
)

// WaitsVariable is the environment variable that passes Options.Waits to the ranks; unset means WaitsAuto.
const WaitsVariable = "SPOOR_WAITS"

// WhenVariable is the environment variable that passes Options.WhenBytes to the ranks: "never", or a number of bytes.
const WhenVariable = "SPOOR_WHEN"

// WhenOff as Options.WhenBytes disables section when.
const WhenOff = -1

// Options determine what is recorded of times.
type Options struct {
	Waits       WaitsPolicy // "" means WaitsNever
	WhenBytes   int64       // size of section when in bytes, whatever Waits is; 0: the default size, if wait states are computed; or WhenOff
	Mode        Mode        // "" means ModeStats
	Bins        int         // of a histogram; 0: the default number
	SampleCalls int         // for ModeHistSig: how many first calls of each distinct call determine its bins; 0: the default number
	Error       Bound
	Errors      map[string]Bound // by function, in place of Error
}

// NeedsLog reports whether the recorder must keep single times until the end of the run.
func (o *Options) NeedsLog() bool {
	return o.Mode.NeedsLog() || o.Mode != ModeNone && (o.Waits != WaitsNever && o.Waits != "" || o.WhenBytes > 0)
}

// HasBins reports whether option Bins applies to the mode.
func (m Mode) HasBins() bool { return m.Histograms() || m == ModeHistSig }

// A Bound is the largest error of a time: a share of it or, if Absolute is not 0, an absolute difference.
type Bound struct {
	Relative float64
	Absolute time.Duration
}

// String renders the bound in the syntax of AddError.
func (b Bound) String() string {
	if b.Absolute != 0 {
		return strings.ReplaceAll(b.Absolute.String(), "µ", "u")
	}
	return strconv.FormatFloat(b.Relative, 'g', -1, 64)
}

// DefaultError is the default relative error of a lossy mode.
const DefaultError = 0.1

// The limits of a relative error. The codes cannot represent smaller ones.
const (
	leastError = 1e-6
	mostError  = 1
)

// Bound is the error for a function.
func (o *Options) Bound(function string) Bound {
	if e, ok := o.Errors[function]; ok {
		return e
	}
	if o.Error != (Bound{}) {
		return o.Error
	}
	return Bound{Relative: DefaultError}
}

// AddError sets a bound from an option such as 0.1, 10us, MPI_Send=0.01 or MPI_Send=1ms.
func (o *Options) AddError(text string) error {
	name, value, named := strings.Cut(text, "=")
	if !named {
		value = name
	}
	e, err := parseBound(value)
	if err != nil {
		return fmt.Errorf("error %q: want a share such as 5%% (from %g to %g) or a time such as 10us; FUNCTION=SHARE or FUNCTION=TIME for one function", text, leastError, float64(mostError))
	}
	if !named {
		o.Error = e
		return nil
	}
	if o.Errors == nil {
		o.Errors = make(map[string]Bound)
	}
	o.Errors[name] = e
	return nil
}

var errBound = errors.New("no error bound")

func parseBound(text string) (Bound, error) {
	if e, err := show.ParseShare(text); err == nil {
		if e < leastError || e > mostError {
			return Bound{}, errBound
		}
		return Bound{Relative: e}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return Bound{}, errBound
	}
	return Bound{Absolute: d}, nil
}

// Environment variables that pass options to the ranks.
const (
	ModeVariable   = "SPOOR_TIMING"
	BinsVariable   = "SPOOR_TIMING_BINS"
	SampleVariable = "SPOOR_TIMING_SAMPLE"
	ErrorsVariable = "SPOOR_TIMING_ERROR"
)

// Environment returns the variables that encode o, without those at their defaults.
func (o *Options) Environment() (vars [][2]string) {
	if o.Mode != "" && o.Mode != ModeStats {
		vars = append(vars, [2]string{ModeVariable, string(o.Mode)})
	}
	if o.Waits != WaitsAuto {
		vars = append(vars, [2]string{WaitsVariable, string(cmp.Or(o.Waits, WaitsNever))})
	}
	switch {
	case o.WhenBytes < 0:
		vars = append(vars, [2]string{WhenVariable, string(WaitsNever)})
	case o.WhenBytes > 0:
		vars = append(vars, [2]string{WhenVariable, strconv.FormatInt(o.WhenBytes, 10)})
	}
	if o.Bins != 0 {
		vars = append(vars, [2]string{BinsVariable, strconv.Itoa(o.Bins)})
	}
	if o.SampleCalls != 0 {
		vars = append(vars, [2]string{SampleVariable, strconv.Itoa(o.SampleCalls)})
	}
	var list []string
	if o.Error != (Bound{}) {
		list = append(list, o.Error.String())
	}
	for _, name := range slices.Sorted(maps.Keys(o.Errors)) {
		list = append(list, name+"="+o.Errors[name].String())
	}
	if list != nil {
		vars = append(vars, [2]string{ErrorsVariable, strings.Join(list, ",")})
	}
	return vars
}

// ParseOptions reads options from variables; get returns "" for an unset one.
func ParseOptions(get func(name string) string) (o Options, err error) {
	if o.Mode = Mode(get(ModeVariable)); o.Mode == "" {
		o.Mode = ModeStats
	}
	if !slices.Contains(Modes, o.Mode) {
		return Options{}, fmt.Errorf("%s: no mode %q", ModeVariable, o.Mode)
	}
	if o.Waits = WaitsPolicy(get(WaitsVariable)); o.Waits == "" {
		o.Waits = WaitsAuto
	}
	if !slices.Contains([]WaitsPolicy{WaitsNever, WaitsAuto, WaitsAlways}, o.Waits) {
		return Options{}, fmt.Errorf("%s: %q; want always, auto or never", WaitsVariable, o.Waits)
	}
	switch text := get(WhenVariable); text {
	case "":
	case string(WaitsNever):
		o.WhenBytes = WhenOff
	default:
		if o.WhenBytes, err = strconv.ParseInt(text, 10, 64); err != nil || o.WhenBytes < 1 {
			return Options{}, fmt.Errorf("%s: %q; want bytes or never", WhenVariable, text)
		}
	}
	if text := get(BinsVariable); text != "" {
		if o.Bins, err = strconv.Atoi(text); err != nil || o.Bins < 2 || o.Bins > 256 {
			return Options{}, fmt.Errorf("%s: %q bins; want 2 to 256", BinsVariable, text)
		}
	}
	if text := get(SampleVariable); text != "" {
		if o.SampleCalls, err = strconv.Atoi(text); err != nil || o.SampleCalls < 1 {
			return Options{}, fmt.Errorf("%s: %q calls; want 1 or more", SampleVariable, text)
		}
	}
	for _, text := range strings.Split(get(ErrorsVariable), ",") {
		if text == "" {
			continue
		}
		if err := o.AddError(text); err != nil {
			return Options{}, fmt.Errorf("%s: %w", ErrorsVariable, err)
		}
	}
	return o, nil
}
