package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// findLibrary looks for one of spoor's shared libraries: beside the tool, or
// where `make install` puts it.
func findLibrary(name string) (string, error) {
	if dir := os.Getenv("SPOOR_LIB"); dir != "" {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err == nil && !exists(path) {
			err = fmt.Errorf("%s is not in %s, where SPOOR_LIB points", name, dir)
		}
		return path, err
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return "", err
	}
	dir := filepath.Dir(exe)
	for _, d := range []string{dir, filepath.Join(dir, "..", "lib", "spoor")} {
		path := filepath.Join(d, name)
		if _, err := os.Stat(path); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("%s not found beside %s nor in ../lib/spoor; build it with make, or set SPOOR_LIB", name, exe)
}
