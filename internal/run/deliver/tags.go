package deliver

import (
	"fmt"
	"strings"
)

// CheckTags returns an error if a tag is malformed.
func CheckTags(tags []string) error {
	for _, tag := range tags {
		name, _, ok := strings.Cut(tag, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n,'\"") {
			return fmt.Errorf("tag %q: want NAME=VALUE, the name without spaces, commas and quotes", tag)
		}
	}
	return nil
}

// TagsByName converts tags NAME=VALUE to a map. If a name occurs twice, the last value counts.
func TagsByName(tags []string) map[string]string {
	list := make(map[string]string)
	for _, tag := range tags {
		name, value, _ := strings.Cut(tag, "=")
		list[name] = value
	}
	return list
}

// TagsVariable is the environment variable that hands tags to the recorder.
const TagsVariable = "SPOOR_TAGS"

// EncodeTags encodes tags as one word for TagsVariable.
func EncodeTags(tags []string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i, tag := range tags {
		if i > 0 {
			b.WriteByte(',')
		}
		for j := range len(tag) {
			if c := tag[j]; c > ' ' && c < 0x7f && c != ',' && c != '%' && c != '\'' && c != '"' && c != '\\' && c != '$' {
				b.WriteByte(c)
			} else {
				b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
			}
		}
	}
	return b.String()
}

// DecodeTags decodes the result of EncodeTags. Malformed tags are left out.
func DecodeTags(text string) map[string]string {
	tags := make(map[string]string)
	for _, tag := range strings.Split(text, ",") {
		var b []byte
		for i := 0; i < len(tag); i++ {
			if tag[i] == '%' && i+2 < len(tag) {
				high, low := strings.IndexByte("0123456789abcdef", tag[i+1]), strings.IndexByte("0123456789abcdef", tag[i+2])
				if high >= 0 && low >= 0 {
					b = append(b, byte(high<<4|low))
					i += 2
					continue
				}
			}
			b = append(b, tag[i])
		}
		if name, value, ok := strings.Cut(string(b), "="); ok && name != "" {
			tags[name] = value
		}
	}
	return tags
}
