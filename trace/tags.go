package trace

import "strings"

// Tags returns what the user said of the run, by name.
func Tags(meta map[string]string) map[string]string {
	tags := make(map[string]string)
	for key, value := range meta {
		if name, ok := strings.CutPrefix(key, MetaTag); ok {
			tags[name] = value
		}
	}
	return tags
}
