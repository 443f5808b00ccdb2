package reissue

import "strings"

// A StandIn is a function in place of a callback of the program's.
type StandIn int

// The stand-ins. The numbers are part of the interface to replayer/under/under.c.
const (
	StandInNothing StandIn = iota // does nothing and succeeds
	StandInCopy                   // copies an attribute
	StandInNoCopy                 // lets an attribute be
	StandInQuery                  // gives a generalized request its status
	StandInExtent                 // says how large a datatype is in a file
)

// StandInFor returns the stand-in for what programs pass as a parameter, or for the null pointer that some MPIs have for
// functions that copy no attribute and the like. ok is false if a null pointer is no function.
func StandInFor(param string, null bool) (s StandIn, ok bool) {
	copies := strings.HasPrefix(param, "copy_") || strings.Contains(param, "_copy_")
	switch {
	case copies && null:
		return StandInNoCopy, true
	case copies:
		return StandInCopy, true
	case strings.Contains(param, "delete_"):
		return StandInNothing, true
	case param == "query_fn":
		return StandInQuery, !null
	case param == "dtype_file_extent_fn":
		return StandInExtent, !null
	}
	return StandInNothing, !null
}
