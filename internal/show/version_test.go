package show

import (
	"runtime/debug"
	"testing"
)

func TestDescribe(t *testing.T) {
	set := func(list ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{GoVersion: "go1.30"}
		for i := 0; i < len(list); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: list[i], Value: list[i+1]})
		}
		return info
	}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, Version + " (linux/arm64)"},
		{set(), Version + " (go1.30, linux/arm64)"},
		{set("vcs.revision", "0123456789abcdef", "vcs.time", "2026-11-23T10:00:00Z", "vcs.modified", "false"), Version + " (commit 0123456789ab, 2026-11-23, go1.30, linux/arm64)"},
		{set("vcs.revision", "0123", "vcs.modified", "true"), Version + " (commit 0123 and changes, go1.30, linux/arm64)"},
	} {
		if got := describe(c.info, "linux/arm64"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
