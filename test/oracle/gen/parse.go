// Package gen makes the oracle: from the prototypes of an installed mpi.h it
// writes a C library that logs the arguments of every MPI call as text. It
// shares nothing with the recorder that the oracle is there to judge, neither
// code nor tables, and it is no tracer: it is slow, and keeps everything.
package gen

import (
	"fmt"
	"regexp"
	"strings"
)

// A Function is one prototype of mpi.h.
type Function struct {
	Name    string
	Ret     string
	Params  []Param
	Varargs bool
}

// A Param is one parameter of a prototype.
type Param struct {
	Base  string // without const and stars: "void", "MPI_Comm"
	Const bool   // before the base
	Stars int
	Array string // "[]", "[][3]", or ""
	Name  string
	decl  string
}

var (
	lineMarker = regexp.MustCompile(`(?m)^#.*$`)
	prototype  = regexp.MustCompile(`(?s)^(?:extern\s+)?((?:const\s+)?\w[\w\s]*?[\s*]+)(MPIX?_\w+)\s*\((.*)\)$`)
	hidden     = regexp.MustCompile(`(?s)^(?:extern\s+)?\w[\w\s]*?[\s*]+((?:OMPI_C|MPIR)_\w+)\s*\(.*\)$`)
	declared   = regexp.MustCompile(`(?s)^extern\s.*?(\w+)\s*(?:\[\d*\])?$`)
	parameter  = regexp.MustCompile(`^(const\s+)?((?:struct\s+)?\w+)([\s*]*)\b(\w+)((?:\[\d*\])*)$`)
)

// Parse finds the MPI functions that preprocessed C declares, and the symbols
// of the library that its constants refer to.
func Parse(source string) (functions []Function, symbols []string, err error) {
	for _, decl := range declarations(source) {
		if strings.HasPrefix(decl, "typedef") {
			continue
		}
		if m := prototype.FindStringSubmatch(decl); m != nil {
			f, err := parseFunction(m[1], m[2], m[3])
			if err != nil {
				return nil, nil, err
			}
			functions = append(functions, f)
			continue
		}
		if m := hidden.FindStringSubmatch(decl); m != nil {
			symbols = append(symbols, m[1])
			continue
		}
		if m := declared.FindStringSubmatch(decl); m != nil && !strings.Contains(decl, "(") && strings.Contains(strings.ToLower(decl), "mpi") {
			symbols = append(symbols, m[1])
		}
	}
	return functions, symbols, nil
}

// declarations cuts source at its top-level semicolons, without line markers,
// attributes and function bodies.
func declarations(source string) []string {
	source = lineMarker.ReplaceAllString(source, "")
	source = dropAttributes(source)
	var list []string
	depth, start, body := 0, 0, false
	for i := 0; i < len(source); i++ {
		switch source[i] {
		case '{':
			if depth == 0 {
				body = strings.HasSuffix(strings.TrimSpace(source[start:i]), ")")
			}
			depth++
		case '}':
			if depth--; depth == 0 && body {
				start = i + 1
			}
		case ';':
			if depth == 0 {
				list = append(list, strings.Join(strings.Fields(source[start:i]), " "))
				start = i + 1
			}
		}
	}
	return list
}

func dropAttributes(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "__attribute__")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		s = s[i+len("__attribute__"):]
		depth := 0
		for j := 0; j < len(s); j++ {
			if s[j] == '(' {
				depth++
			}
			if s[j] == ')' {
				if depth--; depth == 0 {
					s = s[j+1:]
					break
				}
			}
		}
	}
}

func parseFunction(ret, name, params string) (Function, error) {
	f := Function{Name: name, Ret: strings.TrimSpace(ret)}
	if params = strings.TrimSpace(params); params == "void" || params == "" {
		return f, nil
	}
	for _, text := range strings.Split(params, ",") {
		text = strings.TrimSpace(text)
		if text == "..." {
			f.Varargs = true
			continue
		}
		m := parameter.FindStringSubmatch(text)
		if m == nil {
			return f, fmt.Errorf("gen: %s: cannot read parameter %q", name, text)
		}
		f.Params = append(f.Params, Param{
			Base:  m[2],
			Const: m[1] != "",
			Stars: strings.Count(m[3], "*"),
			Array: m[5],
			Name:  m[4],
			decl:  text,
		})
	}
	return f, nil
}
