package waits

// Windows sets the number of calls of a window until the returned function is called.
func Windows(calls uint64) func() {
	before := windowCalls
	windowCalls = calls
	return func() { windowCalls = before }
}

// Everybody is up to how many ranks each talks to every other one.
const Everybody = everybody
