package gen

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed c/*.h c/*.c
var runtime embed.FS

// with adds options for all compilations. Open MPI hides what MPI-3 removed,
// but has it in the library.
func with(options ...string) []string {
	return append([]string{"-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"}, options...)
}

// Build writes liboracle.so for the MPI of the given compiler wrapper into
// dir, and returns its path.
func Build(mpicc, dir string) (library string, err error) {
	include := filepath.Join(dir, "mpi.c")
	if err := os.WriteFile(include, []byte("#include <mpi.h>\n"), 0o666); err != nil {
		return "", err
	}
	source, err := run(mpicc, with("-E", include)...)
	if err != nil {
		return "", err
	}
	macros, err := run(mpicc, with("-E", "-dM", include)...)
	if err != nil {
		return "", err
	}
	protos, symbols, err := Parse(source)
	if err != nil {
		return "", err
	}
	code, err := Emit(protos, Constants(source, macros))
	if err != nil {
		return "", err
	}
	files := map[string]string{"calls.c": code, "weak.h": EmitWeak(symbols)}
	written, err := runtime.ReadDir("c")
	if err != nil {
		return "", err
	}
	for _, f := range written {
		text, err := runtime.ReadFile("c/" + f.Name())
		if err != nil {
			return "", err
		}
		files[f.Name()] = string(text)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	// Compiled with the MPI's wrapper, but not linked with its library: that
	// one is found behind this one, and a launcher has none.
	flags := with("-c", "-fPIC", "-O1", "-foptimize-sibling-calls", "-std=gnu11", "-Wall", "-Wextra", "-Werror",
		"-Wno-deprecated-declarations", "-fno-strict-aliasing", "-pthread", "-I"+dir)
	library = filepath.Join(dir, "liboracle.so")
	link := []string{"-shared", "-pthread", "-o", library}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		base, ok := strings.CutSuffix(name, ".c")
		if !ok {
			continue
		}
		object := filepath.Join(dir, base+".o")
		if _, err := run(mpicc, append(flags[:len(flags):len(flags)], filepath.Join(dir, name), "-o", object)...); err != nil {
			return "", err
		}
		link = append(link, object)
	}
	if _, err := run("cc", append(link, "-ldl")...); err != nil {
		return "", err
	}
	return library, nil
}

var (
	macro      = regexp.MustCompile(`(?m)^#define (MPIX?_[A-Z0-9_]+) (.*)$`)
	enumBody   = regexp.MustCompile(`(?s)enum[^{;()]*\{([^}]*)\}`)
	enumMember = regexp.MustCompile(`\bMPIX?_[A-Z0-9_]+\b`)
)

// Constants lists the names in mpi.h that stand for a number or an address.
func Constants(source, macros string) []string {
	names := make(map[string]bool)
	for _, m := range macro.FindAllStringSubmatch(macros, -1) {
		if m[2] != "" && !strings.ContainsAny(m[2], `";`) && !strings.Contains(m[2], "REMOVED") {
			names[m[1]] = true
		}
	}
	for _, body := range enumBody.FindAllStringSubmatch(source, -1) {
		for _, item := range strings.Split(body[1], ",") {
			if name := enumMember.FindString(item); name != "" && strings.HasPrefix(strings.TrimSpace(item), name) {
				names[name] = true
			}
		}
	}
	// Objects of MPICH that are no macros.
	for _, name := range []string{"MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"} {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("gen: %s: %w\n%s", name, err, stderr.String())
	}
	return string(out), nil
}
