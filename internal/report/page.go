package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

//go:embed assets
var assets embed.FS

// scripts are the modules of the page; a module comes after those it imports.
var scripts = []string{
	"format.js", "dom.js", "data.js", "table.js", "links.js", "findings.js", "overview.js", "calls.js", "structure.js", "matrix.js", "sizes.js", "imbalance.js",
	"looks.js", "tiles.js", "single.js", "axis.js", "rows.js", "paint.js", "stats.js", "live.js", "hand.js", "timeline.js", "waiting.js", "graph.js", "ranks.js", "fileheat.js", "files.js", "main.js",
}

// Modules become one: a module comes after its imports.
var (
	imports = regexp.MustCompile(`(?m)^import [^;]*;\n`)
	exports = regexp.MustCompile(`(?m)^export `)
)

// Write writes the page.
func Write(w io.Writer, d *Data) error {
	page, err := assets.ReadFile("assets/page.html")
	if err != nil {
		return err
	}
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return err
	}
	var script bytes.Buffer
	for _, name := range scripts {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		script.Write(exports.ReplaceAll(imports.ReplaceAll(text, nil), nil))
	}
	// Packed, the data is a text of letters and digits: nothing in it can end the script element that holds it.
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	connect := ""
	if d.Live {
		connect = "connect-src 'self'; "
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(d.Title), "{{style}}", string(style), "{{script}}", script.String(), "{{data}}", packed(data), "{{connect}}", connect,
	).WriteString(w, string(page))
	return err
}
