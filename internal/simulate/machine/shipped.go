package machine

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

//go:embed machines/*.toml
var shipped embed.FS

// Names returns the names of the machines that come with the tool.
func Names() []string {
	entries, err := shipped.ReadDir("machines")
	if err != nil {
		panic(err) // embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// Text returns the file of a machine that comes with the tool.
func Text(name string) ([]byte, bool) {
	text, err := shipped.ReadFile(path.Join("machines", name+".toml"))
	return text, err == nil
}

// Load reads a machine by its name, or from a file.
func Load(name string) (*Machine, error) {
	if text, ok := Text(name); ok {
		return Parse(name, text)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "/.") {
		return nil, fmt.Errorf("no machine %q: a file, or one of %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	return Parse(name, text)
}
