package docs

import (
	"os"
	"os/exec"
	"path/filepath"
)

// picture takes the report of the page's first trace, if it has one, as docs/report.png.
func (s *shell) picture() {
	s.t.Helper()
	if _, err := os.Stat(filepath.Join(s.dir, "melt.spoor")); err != nil {
		return
	}
	s.run("spoor report -q -o melt.html melt.spoor")
	out, err := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000", "--window-size=1100,800",
		"--force-device-scale-factor=1", "--screenshot="+filepath.Join(s.root, "docs", "report.png"), "file://"+filepath.Join(s.dir, "melt.html")).CombinedOutput()
	if err != nil {
		s.t.Errorf("chromium: %v\n%s", err, out)
	}
}
