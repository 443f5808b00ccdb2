package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spoor-hpc/spoor/internal/timing"
)

// timingFile is the file of a process directory with the timing options: a line NAME=VALUE for each that is not the
// default. It may be missing.
const timingFile = "timing"

// WriteTimingOptions writes the options to a process directory, for RecoverRecording.
func WriteTimingOptions(dir string, o timing.Options) error {
	vars := o.Environment()
	if len(vars) == 0 {
		return nil
	}
	var text strings.Builder
	for _, v := range vars {
		fmt.Fprintf(&text, "%s=%s\n", v[0], v[1])
	}
	return os.WriteFile(filepath.Join(dir, timingFile), []byte(text.String()), 0o600)
}

func readTiming(dir string) (timing.Options, error) {
	text, err := os.ReadFile(filepath.Join(dir, timingFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return timing.Options{}, err
	}
	vars := make(map[string]string)
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, "=")
		vars[name] = value
	}
	return timing.ParseOptions(func(name string) string { return vars[name] })
}
