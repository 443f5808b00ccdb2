package symbolise

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// cloneSuffix is what GCC and Clang append to specialised or split functions.
var cloneSuffix = regexp.MustCompile(`(\.(isra|constprop|part|cold|lto_priv|llvm|localalias|clone)(\.\d+)*|\.\d+)+$`)

var (
	gnuModule   = regexp.MustCompile(`^__(\w+?)_MOD_(\w+)$`)
	nagModule   = regexp.MustCompile(`^([a-zA-Z]\w*)_MP_(\w+)$`)
	intelModule = regexp.MustCompile(`^([a-z]\w*?)_mp_(\w+?)_?$`)
	fortranName = regexp.MustCompile(`^[a-z]\w*_$`)
)

// mangled reports whether a linkage name says more than the plain name: that of
// a C++ or Rust function, or of a procedure in a Fortran module.
func mangled(symbol string) bool {
	return strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R") || gnuModule.MatchString(symbol) ||
		nagModule.MatchString(symbol) || intelModule.MatchString(symbol)
}

// Demangle turns a symbol into the name that its programmer knows: C++ and Rust
// names without parameters, procedures of Fortran modules as module::procedure,
// others without the underscore that Fortran compilers append.
func Demangle(symbol string) string {
	symbol, _, _ = strings.Cut(symbol, "@") // version
	if s := cloneSuffix.ReplaceAllString(symbol, ""); s != "" {
		symbol = s
	}
	switch {
	case strings.HasPrefix(symbol, "_Z"), strings.HasPrefix(symbol, "_R"):
		return demangle.Filter(symbol, demangle.NoParams, demangle.MaxLength(10))
	case symbol == "MAIN__" || symbol == "MAIN_":
		return "main program"
	}
	for _, form := range []*regexp.Regexp{gnuModule, nagModule, intelModule} {
		if m := form.FindStringSubmatch(symbol); m != nil {
			return m[1] + "::" + m[2]
		}
	}
	if fortranName.MatchString(symbol) {
		return strings.TrimSuffix(strings.TrimSuffix(symbol, "_"), "_")
	}
	return symbol
}
