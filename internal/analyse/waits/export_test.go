package waits

// Windows sets the number of calls of a window until the returned function is called.
func Windows(calls uint64) func() {
	before := windowCalls
	windowCalls = calls
	return func() { windowCalls = before }
}

// Everybody is up to how many ranks each talks to every other one.
const Everybody = everybody

// Many sets how many calls are many until the returned function is called.
func Many(calls int64) func() {
	before := many
	many = calls
	return func() { many = before }
}
