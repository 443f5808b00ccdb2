package mpi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A LibcFunction is a function of the C library that is recorded as a call of io.txt.
type LibcFunction struct {
	Name           string
	Args           []LibcArgument
	Variadic       bool   // variable arguments follow
	VaListFunction string // the function that takes the variable arguments as a va_list; "": the last parameter is one of them
	HasExtraArgs   bool   // it has parameters that the call lacks
}

// A LibcArgument is one argument: a parameter of the call, or another argument with its C type. An argument with a
// CValue, a C expression, is not passed but implied.
type LibcArgument struct{ Name, CType, CValue string }

// Passes reports whether the function takes the parameter or implies its value.
func (s *LibcFunction) Passes(param string) bool {
	return slices.ContainsFunc(s.Args, func(a LibcArgument) bool { return a.CType == "" && a.Name == param })
}

// parseForm reads what follows "form".
func (p *callParser) parseForm(words []string) error {
	c := p.call
	if c == nil || !p.system || len(words) == 0 {
		return fmt.Errorf("a form needs a name, and a call of io.txt above it")
	}
	s := LibcFunction{Name: words[0]}
	for words = words[1:]; len(words) > 0; words = words[1:] {
		typ, name, extra := strings.Cut(words[0], ":")
		param, value, known := strings.Cut(words[0], "=")
		switch {
		case words[0] == "...":
			s.Variadic = true
		case words[0] == "via" && len(words) == 2:
			s.VaListFunction, words = words[1], words[1:]
		case s.Variadic:
			return fmt.Errorf("form %s: %q after ...", s.Name, words[0])
		case extra:
			s.Args = append(s.Args, LibcArgument{Name: name, CType: typ})
		case c.Index(param) < 0 || known && value == "":
			return fmt.Errorf("form %s: no parameter %q", s.Name, words[0])
		default:
			s.Args = append(s.Args, LibcArgument{Name: param, CValue: value})
		}
	}
	c.DeclaredLibcFunctions = append(c.DeclaredLibcFunctions, s)
	return nil
}

// LibcFunctions lists the functions of the C library that are recorded as a call of io.txt.
func (c *Call) LibcFunctions() []LibcFunction {
	if len(c.DeclaredLibcFunctions) > 0 {
		return c.DeclaredLibcFunctions
	}
	own := LibcFunction{Name: c.Name}
	for i := range c.Params {
		own.Args = append(own.Args, LibcArgument{Name: c.Params[i].Name})
	}
	return []LibcFunction{own}
}

// FileName returns the name of a file that is passed to MPI, without the prefix that chooses a file system (ufs:, nfs:).
func FileName(name string) string {
	if i := strings.IndexByte(name, ':'); i > 0 && !strings.ContainsRune(name[:i], '/') {
		return name[i+1:]
	}
	return name
}

// A Failure is how results show that a call of io.txt failed.
type Failure int

// The failures.
const (
	FailsNever      Failure = iota // the call has no result, or the result is the error code
	FailsNegative                  // less than 0
	FailsNull                      // a null pointer
	FailsMapFailed                 // MAP_FAILED
	FailsBelowCount                // less than the parameter n
)

// Failure returns how the call shows failure. A call with AttrMayHitEOF has failed only if errno changed, too.
func (c *Call) Failure() Failure {
	switch c.ReturnKind {
	case KindNone, KindErrno:
		return FailsNever
	case KindFileStream, KindDirStream, KindAddressOrNull:
		return FailsNull
	case KindMappedFileAddress:
		return FailsMapFailed
	case KindSize:
		return FailsBelowCount
	}
	return FailsNegative
}

var fileConstants = sync.OnceValue(func() *constants {
	t, err := parseFileConstants("ioconstants.txt", fileConstantsText)
	if err != nil {
		panic(err) // the tables are part of the program; tests parse them
	}
	return t
})

// parseFileConstants parses ioconstants.txt: the same values under all MPIs.
func parseFileConstants(file, text string) (*constants, error) {
	t := &constants{}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		kind, ok := KindNamed(words[0])
		if !ok || !kind.IsFile() || len(words) < 3 || len(words) > 4 {
			return nil, fmt.Errorf("%s:%d: want a kind of io.txt, a name, a value, perhaps what the recorder sees", file, number)
		}
		var n [2]int64
		for i, word := range []string{words[2], words[len(words)-1]} {
			var err error
			if n[i], err = strconv.ParseInt(word, 0, 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %q is no number", file, number, word)
			}
		}
		c := &Constant{Kinds: []Kind{kind}, Name: words[1], Value: n[0]}
		for f := range c.raws {
			c.raws[f] = raw{known: true, value: n[1]}
		}
		t.byKind[kind] = append(t.byKind[kind], c)
	}
	return t, nil
}
