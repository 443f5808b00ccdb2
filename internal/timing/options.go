package timing

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Mode says what is kept of the times of single calls.
type Mode string

// The modes. The lossy ones keep each time within a relative error.
const (
	Stats    Mode = "stats"    // a summary of each distinct call
	Hist     Mode = "hist"     // histograms too
	Path     Mode = "path"     // histograms by what came before the call
	Lossless Mode = "lossless" // every time, in ticks
	CFG      Mode = "cfg"      // exponential bins, and a grammar over their numbers
	Huff     Mode = "huff"     // Huffman codes of exponential bins
	SZ       Mode = "sz"       // prediction from the value before, and what is left of it
	ZFP      Mode = "zfp"      // blocks of a transform
	SZSig    Mode = "sz-sig"   // as sz, the times of each distinct call together
	ZFPSig   Mode = "zfp-sig"  // the same, as zfp
	Place    Mode = "place"    // by the place in the program's structure
)

// Modes lists all modes.
var Modes = []Mode{Stats, Hist, Path, Lossless, CFG, Huff, SZ, ZFP, SZSig, ZFPSig, Place}

// Log reports whether the mode needs every single time.
func (m Mode) Log() bool { return !slices.Contains([]Mode{Stats, Hist, Path, ""}, m) }

// Histograms reports whether the mode keeps histograms.
func (m Mode) Histograms() bool { return m == Hist || m == Path }

// Lossy reports whether the mode has an error bound.
func (m Mode) Lossy() bool { return m.Log() && m != Lossless }

// Options is what is to be kept of times.
type Options struct {
	Mode   Mode // "" is Stats
	Bins   int  // of a histogram; 0: the usual number
	Error  float64
	Errors map[string]float64 // by function, where it is not Error
}

// DefaultError is the relative error of a lossy mode unless told otherwise.
const DefaultError = 0.1

// The limits of a relative error. A smaller one would not fit the codes.
const (
	leastError = 1e-6
	mostError  = 1
)

// Bound is the relative error for a function.
func (o *Options) Bound(function string) float64 {
	if e, ok := o.Errors[function]; ok {
		return e
	}
	if o.Error > 0 {
		return o.Error
	}
	return DefaultError
}

// AddError takes in an option like 0.1 or MPI_Send=0.01.
func (o *Options) AddError(text string) error {
	name, value, named := strings.Cut(text, "=")
	if !named {
		value = name
	}
	e, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(e) || e < leastError || e > mostError {
		return fmt.Errorf("relative error %q: want a number from %g to %g, or FUNCTION=number", text, leastError, float64(mostError))
	}
	if !named {
		o.Error = e
		return nil
	}
	if o.Errors == nil {
		o.Errors = make(map[string]float64)
	}
	o.Errors[name] = e
	return nil
}

// Names of the environment variables in which options travel to the ranks.
const (
	ModeVariable   = "SPOOR_TIMING"
	BinsVariable   = "SPOOR_TIMING_BINS"
	ErrorsVariable = "SPOOR_TIMING_ERROR"
)

// Environment returns the variables that say o, those with defaults left out.
func (o *Options) Environment() (vars [][2]string) {
	if o.Mode != "" && o.Mode != Stats {
		vars = append(vars, [2]string{ModeVariable, string(o.Mode)})
	}
	if o.Bins != 0 {
		vars = append(vars, [2]string{BinsVariable, strconv.Itoa(o.Bins)})
	}
	var list []string
	if o.Error != 0 {
		list = append(list, strconv.FormatFloat(o.Error, 'g', -1, 64))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Errors)) {
		list = append(list, name+"="+strconv.FormatFloat(o.Errors[name], 'g', -1, 64))
	}
	if list != nil {
		vars = append(vars, [2]string{ErrorsVariable, strings.Join(list, ",")})
	}
	return vars
}

// ParseOptions reads options from variables; get returns "" for one that is not
// set.
func ParseOptions(get func(name string) string) (o Options, err error) {
	if o.Mode = Mode(get(ModeVariable)); o.Mode == "" {
		o.Mode = Stats
	}
	if !slices.Contains(Modes, o.Mode) {
		return Options{}, fmt.Errorf("%s: no mode %q", ModeVariable, o.Mode)
	}
	if text := get(BinsVariable); text != "" {
		if o.Bins, err = strconv.Atoi(text); err != nil || o.Bins < 2 || o.Bins > 256 {
			return Options{}, fmt.Errorf("%s: %q bins; want 2 to 256", BinsVariable, text)
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
