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
	Name     string
	Args     []LibcArgument
	Variadic bool // variable arguments follow Args
	// If Variadic: the function that takes the variable arguments as a va_list; "": the last parameter in Args is the
	// first variable argument.
	VaListFunction string
	HasExtraArgs   bool // the C function has parameters that the call of io.txt lacks
}

// A LibcArgument is an argument of a LibcFunction. Without CType it is the call's parameter Name, else an argument of
// that C type. With CValue, a C expression, it is not passed: the parameter is recorded with this value.
type LibcArgument struct{ Name, CType, CValue string }

// Passes reports whether the function takes the named parameter of the call, or has a CValue for it.
func (s *LibcFunction) Passes(param string) bool {
	return slices.ContainsFunc(s.Args, func(a LibcArgument) bool { return a.CType == "" && a.Name == param })
}

// parseForm parses the words after "form" in io.txt, and adds a LibcFunction to the current call.
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

// LibcFunctions lists the functions of the C library that are recorded as this call. Without declared ones that is
// the function of the call's name.
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

// StripFileSystemPrefix returns the name of a file as passed to MPI, without a prefix that chooses a file system, such
// as ufs: or nfs:.
func StripFileSystemPrefix(name string) string {
	if i := strings.IndexByte(name, ':'); i > 0 && !strings.ContainsRune(name[:i], '/') {
		return name[i+1:]
	}
	return name
}

// A Failure is which results of a call of io.txt mean that it failed.
type Failure int

// The values of Failure.
const (
	FailsNever      Failure = iota // none: the call has no result, or the result is an error code
	FailsNegative                  // a result less than 0
	FailsNull                      // a null pointer
	FailsMapFailed                 // the pointer MAP_FAILED
	FailsBelowCount                // a result less than the call's parameter n
)

// Failure returns which results mean that the call failed. A call with AttrPosixMayHitEOF has failed only if errno was
// changed, too.
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
		panic(err) // the table is part of the program, and tests parse it
	}
	return t
})

// parseFileConstants parses ioconstants.txt, whose values are the same for all MPIs.
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
		if !ok || !kind.IsPosix() || len(words) < 3 || len(words) > 4 {
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
