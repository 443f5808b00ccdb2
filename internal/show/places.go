package show

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ShortenPlace shortens a place to a number of columns. A place is a function with file and line, and its callers.
// First the module is removed, then template arguments, then the callers, then namespaces; at last only file and line
// are left.
func (n *NameShortener) ShortenPlace(place string, width int) string {
	long := func(text string) bool { return utf8.RuneCountInString(text) > width }
	if !long(place) {
		return place
	}
	if i := strings.LastIndex(place, " ("); i > 0 && strings.HasSuffix(place, ")") {
		place = place[:i]
	}
	frames := strings.Split(place, " < ")
	for k := len(frames); k > 0; k-- {
		end := ""
		if k < len(frames) {
			end = " …"
		}
		if text := strings.Join(frames[:k], " < ") + end; !long(text) {
			return text
		}
		short := make([]string, k)
		for i, f := range frames[:k] {
			name, at := cutPlace(f)
			short[i] = n.of(name).scoped + at
		}
		if text := strings.Join(short, " < ") + end; !long(text) {
			return text
		}
	}
	name, at := cutPlace(frames[0])
	for _, end := range []string{" …", ""} {
		if end != "" && len(frames) == 1 {
			continue
		}
		if text := n.FitWidth(name, width-utf8.RuneCountInString(at+end)) + at + end; !long(text) {
			return text
		}
	}
	if line, ok := strings.CutPrefix(at, " "); ok {
		return line
	}
	return n.FitWidth(name, 1) + at
}

// ShortenToFunction is ShortenPlace for a line that names the function nowhere else: the function's own name stays, even if
// the place then takes more columns.
func (n *NameShortener) ShortenToFunction(place string, width int) string {
	text := n.ShortenPlace(place, width)
	first, _, _ := strings.Cut(place, " < ")
	if name, at := cutPlace(first); at == " "+text {
		return n.FitWidth(name, 1) + at
	}
	return text
}

// atLine matches the end of a place after its function: file and line, perhaps with an offset, or an offset alone.
var atLine = regexp.MustCompile(`^(.*?)( [^ ]+:\d+(?: \+0x[0-9a-f]+)?|\+0x[0-9a-f]+)(?: \([^()]*\))?$`)

// cutPlace splits the text of a place into the function's name and its file and line, or offset. It leaves out a
// module after them.
func cutPlace(frame string) (name, at string) {
	if m := atLine.FindStringSubmatch(frame); m != nil {
		return m[1], m[2]
	}
	return frame, ""
}

// MaxLineWidth is the largest number of columns of a line with a place of the program.
const MaxLineWidth = 120

// NewPlaceShortener returns a shortener for the function names in places that are shown together.
func NewPlaceShortener(places []string) *NameShortener {
	var list []string
	for _, place := range places {
		for frame := range strings.SplitSeq(place, " < ") {
			name, _ := cutPlace(frame)
			list = append(list, name)
		}
	}
	return NewNameShortener(list)
}

// ShortenPlaces shortens the given places in a line of text as ShortenLine does. Only these places are compared.
func ShortenPlaces(text string, places ...string) string {
	return NewPlaceShortener(places).ShortenLine(text, places...)
}

// ShortenLine shortens the given places in a line of text so that the line fits MaxLineWidth: the longest ones, all
// to the same length.
func (n *NameShortener) ShortenLine(text string, places ...string) string {
	room := MaxLineWidth - utf8.RuneCountInString(text)
	if room >= 0 {
		return text
	}
	const least = 20
	slices.Sort(places)
	places = slices.DeleteFunc(slices.Compact(places), func(place string) bool { return place == "" })
	for _, place := range places {
		room += utf8.RuneCountInString(place)
	}
	slices.SortFunc(places, func(a, b string) int { return len(a) - len(b) })
	for i, place := range places {
		width := max(least, room/(len(places)-i))
		room -= min(width, utf8.RuneCountInString(place))
		text = strings.Replace(text, place, n.ShortenPlace(place, width), 1)
	}
	return text
}
