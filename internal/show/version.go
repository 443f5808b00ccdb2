package show

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version is the version of the tool; the format of traces has its own.
const Version = "1.1.0"

// BuildVersion returns the version, the commit and its date, as far as the build knew them, the compiler, the system
// and the processor of this binary.
func BuildVersion() string {
	info, _ := debug.ReadBuildInfo()
	return describe(info, runtime.GOOS+"/"+runtime.GOARCH)
}

func describe(info *debug.BuildInfo, platform string) string {
	var parts []string
	if info != nil {
		of := make(map[string]string)
		for _, s := range info.Settings {
			of[s.Key] = s.Value
		}
		if commit := of["vcs.revision"]; commit != "" {
			commit = "commit " + commit[:min(len(commit), 12)]
			if of["vcs.modified"] == "true" {
				commit += " and changes"
			}
			parts = append(parts, commit)
		}
		if date, _, _ := strings.Cut(of["vcs.time"], "T"); date != "" {
			parts = append(parts, date)
		}
		parts = append(parts, info.GoVersion)
	}
	return fmt.Sprintf("%s (%s)", Version, strings.Join(append(parts, platform), ", "))
}
