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
	ModeStats    Mode = "stats"    // sums over the calls of each distinct call, e.g. count, mean, extremes
	ModeHist     Mode = "hist"     // as stats, with a histogram for each context in which the distinct call occurs
	ModeLossless Mode = "lossless" // the exact time of every call, in ticks of the clock
	ModeCFG      Mode = "cfg"      // bins with exponential bounds, and a grammar over the sequence of bin numbers
	ModeHistSig  Mode = "hist-sig" // bins of each distinct call, where frequent bins have short codes
	ModeSZ       Mode = "sz"       // prediction of each time from the times before it, and coded residuals
	ModeZFP      Mode = "zfp"      // blocks of times, each transformed and rounded
	ModeSZSig    Mode = "sz-sig"   // as sz, with the times of each distinct call adjacent
	ModeZFPSig   Mode = "zfp-sig"  // as zfp, with the times of each distinct call adjacent
	ModePlace    Mode = "place"    // prediction of each time from earlier times at its place in the program's structure
	ModeNone     Mode = "none"     // no times at all
)

// RecordableModes lists the modes that a run can be recorded in. In all other modes, the times of a lossless trace
// are coded afterwards (papers/codecs).
var RecordableModes = []Mode{ModeStats, ModeHist, ModeLossless, ModePlace, ModeNone}

// Modes lists all modes that the times of a trace may have.
var Modes = []Mode{ModeStats, ModeHist, ModeLossless, ModeCFG, ModeHistSig, ModeSZ, ModeZFP, ModeSZSig, ModeZFPSig, ModePlace, ModeNone}

// NeedsLog reports whether a trace of this mode has the time of each call, exact or with an error bound.
func (m Mode) NeedsLog() bool { return !slices.Contains([]Mode{ModeStats, ModeHist, ModeNone, ""}, m) }

// HasHistograms reports whether a trace of this mode has histograms of times.
func (m Mode) HasHistograms() bool { return m == ModeHist }

// IsLossy reports whether a trace of this mode has times that may be wrong up to an error bound.
func (m Mode) IsLossy() bool { return m.NeedsLog() && m != ModeLossless }

// A WaitsPolicy determines when wait states are computed at the end of a run.
type WaitsPolicy string

// The values of Options.Waits.
const (
	WaitsNever  WaitsPolicy = "never"
	WaitsAuto   WaitsPolicy = "auto" // if computing them takes little time
	WaitsAlways WaitsPolicy = "always"
)

// WaitsVariable is the environment variable that passes Options.Waits to the ranks; unset means WaitsAuto.
const WaitsVariable = "SPOOR_WAITS"

// WhenVariable is the environment variable that passes Options.WhenSectionBytes to the ranks: "never", or a number of
// bytes.
const WhenVariable = "SPOOR_WHEN"

// WhenSectionOff as Options.WhenSectionBytes disables section when.
const WhenSectionOff = -1

// Options determine what is recorded of times.
type Options struct {
	Waits WaitsPolicy // "" means WaitsNever
	// Size in bytes of section when, for which times are kept whatever Waits is. 0: the default size, if wait states
	// are computed. WhenSectionOff: no such section.
	WhenSectionBytes int64
	Mode             Mode // "" means ModeStats
	Bins             int  // number of bins of a histogram; 0: the default number
	// For ModeHistSig: number of first calls of each distinct call from which its bins are determined; 0: the default
	// number.
	SampleCalls         int
	ErrorBound          Bound
	FunctionErrorBounds map[string]Bound // by name of the MPI function: its bound, which replaces ErrorBound
}

// NeedsLog reports whether the recorder must keep the time of each call until the end of the run, for the trace, for
// wait states or for section when.
func (o *Options) NeedsLog() bool {
	return o.Mode.NeedsLog() || o.Mode != ModeNone && (o.Waits != WaitsNever && o.Waits != "" || o.WhenSectionBytes > 0)
}

// HasBins reports whether Options.Bins applies to the mode.
func (m Mode) HasBins() bool { return m.HasHistograms() || m == ModeHistSig }

// A Bound is the largest error of a time. It is Absolute or, if that is 0, the share Relative of the time.
type Bound struct {
	Relative float64
	Absolute time.Duration
}

// String renders the bound in the syntax of AddErrorBound.
func (b Bound) String() string {
	if b.Absolute != 0 {
		return strings.ReplaceAll(b.Absolute.String(), "µ", "u")
	}
	return strconv.FormatFloat(b.Relative, 'g', -1, 64)
}

// DefaultRelativeError is the default relative error of a lossy mode.
const DefaultRelativeError = 0.1

// The least and the largest relative error that may be set. The codes can't represent smaller ones.
const (
	leastError = 1e-6
	mostError  = 1
)

// Bound returns the error bound for the times of an MPI function.
func (o *Options) Bound(function string) Bound {
	if e, ok := o.FunctionErrorBounds[function]; ok {
		return e
	}
	if o.ErrorBound != (Bound{}) {
		return o.ErrorBound
	}
	return Bound{Relative: DefaultRelativeError}
}

// AddErrorBound sets an error bound as given on the command line: 0.1 or 10us for all functions, MPI_Send=0.01 or
// MPI_Send=1ms for one.
func (o *Options) AddErrorBound(text string) error {
	name, value, named := strings.Cut(text, "=")
	if !named {
		value = name
	}
	e, err := parseBound(value)
	if err != nil {
		return fmt.Errorf("error %q: want a share such as 5%% (from %g to %g) or a time such as 10us; FUNCTION=SHARE or FUNCTION=TIME for one function", text, leastError, float64(mostError))
	}
	if !named {
		o.ErrorBound = e
		return nil
	}
	if o.FunctionErrorBounds == nil {
		o.FunctionErrorBounds = make(map[string]Bound)
	}
	o.FunctionErrorBounds[name] = e
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

// Environment returns the names and values of variables that encode o. Options at their default have no variable.
func (o *Options) Environment() (vars [][2]string) {
	if o.Mode != "" && o.Mode != ModeStats {
		vars = append(vars, [2]string{ModeVariable, string(o.Mode)})
	}
	if o.Waits != WaitsAuto {
		vars = append(vars, [2]string{WaitsVariable, string(cmp.Or(o.Waits, WaitsNever))})
	}
	switch {
	case o.WhenSectionBytes < 0:
		vars = append(vars, [2]string{WhenVariable, string(WaitsNever)})
	case o.WhenSectionBytes > 0:
		vars = append(vars, [2]string{WhenVariable, strconv.FormatInt(o.WhenSectionBytes, 10)})
	}
	if o.Bins != 0 {
		vars = append(vars, [2]string{BinsVariable, strconv.Itoa(o.Bins)})
	}
	if o.SampleCalls != 0 {
		vars = append(vars, [2]string{SampleVariable, strconv.Itoa(o.SampleCalls)})
	}
	var list []string
	if o.ErrorBound != (Bound{}) {
		list = append(list, o.ErrorBound.String())
	}
	for _, name := range slices.Sorted(maps.Keys(o.FunctionErrorBounds)) {
		list = append(list, name+"="+o.FunctionErrorBounds[name].String())
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
		o.WhenSectionBytes = WhenSectionOff
	default:
		if o.WhenSectionBytes, err = strconv.ParseInt(text, 10, 64); err != nil || o.WhenSectionBytes < 1 {
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
		if err := o.AddErrorBound(text); err != nil {
			return Options{}, fmt.Errorf("%s: %w", ErrorsVariable, err)
		}
	}
	return o, nil
}
