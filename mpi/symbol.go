package mpi

import (
	"strings"
	"sync"
)

// spellings has the C names of MPI's functions by their lower case.
var spellings = sync.OnceValue(func() map[string]string {
	t := callTable()
	names := make(map[string]string, len(t.byID))
	for _, x := range t.byID {
		if x.to > 0 {
			_, name := headOf(t.text[x.head:x.to])
			names[strings.ToLower(name)] = name
		}
	}
	return names
})

// SymbolName is the name of the MPI function that a linker's symbol stands for, "" if it stands for none: the C
// name, with P before it if it is that of the profiling interface, also for Fortran's symbols in their spellings.
func SymbolName(symbol string) string {
	name, _, _ := strings.Cut(symbol, "@")
	profiling := ""
	if strings.HasPrefix(name, "P") || strings.HasPrefix(name, "p") {
		name, profiling = name[1:], "P"
	}
	if len(name) < 5 || !strings.EqualFold(name[:4], "mpi_") {
		return ""
	}
	name = strings.TrimRight(strings.ToLower(name), "_")
	if c := spellings()[name]; c != "" {
		return profiling + c
	}
	for _, suffix := range []string{"_f08ts", "_f08", "_fts", "_f"} {
		if s, ok := strings.CutSuffix(name, suffix); ok && spellings()[s] != "" {
			return profiling + spellings()[s]
		}
	}
	return ""
}
