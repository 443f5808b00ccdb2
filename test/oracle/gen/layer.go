package gen

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// BuildLayer writes lib<name>.so into dir, a library that profilers are like: it has each of the C functions that
// are exported, counts the calls, and forwards them to the PMPI_ name. At the end it appends the number of calls
// to the file that $LAYER_<name> names.
func BuildLayer(mpicc, dir, name string, exported []string) (library string, err error) {
	include := filepath.Join(dir, "mpi.c")
	if err := os.WriteFile(include, []byte("#include <mpi.h>\n"), 0o666); err != nil {
		return "", err
	}
	source, err := run(mpicc, with("-E", include)...)
	if err != nil {
		return "", err
	}
	functions, _, err := Parse(source)
	if err != nil {
		return "", err
	}
	functions = slices.DeleteFunc(functions, func(f Function) bool { return !slices.Contains(exported, f.Name) })
	code := filepath.Join(dir, name+".c")
	if err := os.WriteFile(code, []byte(emitLayer(name, functions)), 0o666); err != nil {
		return "", err
	}
	library = filepath.Join(dir, "lib"+name+".so")
	_, err = run(mpicc, with("-shared", "-fPIC", "-O1", "-std=gnu11", "-Wno-deprecated-declarations", code, "-o", library)...)
	return library, err
}

func emitLayer(name string, functions []Function) string {
	var b strings.Builder
	b.WriteString("#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n\nstatic long calls;\n\n")
	fmt.Fprintf(&b, "__attribute__((destructor)) static void tell(void)\n{\n\tconst char *path = getenv(\"LAYER_%s\");\n", name)
	b.WriteString("\tFILE *f = path && calls ? fopen(path, \"a\") : NULL;\n\tif (f) {\n\t\tfprintf(f, \"%ld\\n\", calls);\n\t\tfclose(f);\n\t}\n}\n")
	for _, f := range functions {
		var params, args []string
		for _, p := range f.Params {
			params, args = append(params, p.decl), append(args, p.Name)
		}
		if f.Varargs {
			params = append(params, "...")
		}
		if len(params) == 0 {
			params = []string{"void"}
		}
		fmt.Fprintf(&b, "\n#undef %s\n#undef P%s\n%s %s(%s)\n{\n\t__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);\n\treturn P%s(%s);\n}\n",
			f.Name, f.Name, f.Ret, f.Name, strings.Join(params, ", "), f.Name, strings.Join(args, ", "))
	}
	return b.String()
}
