package wedflow

import (
	"fmt"
	"time"
)

// Severity is how serious a log line is.
type Severity int32

// The severities.
const (
	Debug Severity = iota
	Info
	Warn
	Error
)

// Log writes a log line, kept with the attempt, with named values: a name, a value, and so on.
func Log(severity Severity, message string, fields ...any) {
	pairs := make([][2]string, 0, len(fields)/2)
	for n := 0; n+1 < len(fields); n += 2 {
		pairs = append(pairs, [2]string{fmt.Sprint(fields[n]), fmt.Sprint(fields[n+1])})
	}
	hostLog(severity, message, pairs)
}

// Now is the server's time.
func Now() Timestamp { return Timestamp(hostNow()) }

// Chance is the server's random numbers as a source for math/rand/v2: rand.New(wedflow.Chance{}).IntN(6).
// The functions of math/rand and math/rand/v2 that need no source give the same numbers in every call: what
// they begin with is a part of the component.
type Chance struct{}

// Uint64 is 64 random bits.
func (Chance) Uint64() uint64 { return hostRandom() }

// Random is 64 random bits.
func Random() uint64 { return hostRandom() }

// Sleep waits. The server uses its thread for others meanwhile; the time counts against the timeout.
// time.Sleep does the same, by way of WASI.
func Sleep(span time.Duration) { hostSleep(uint64(max(0, span.Microseconds()))) }

// Config is a setting of the flow, and whether it has been set.
func Config(key string) (string, bool) { return hostConfig(key) }

// Secret is a secret of the flow, and whether there is one of that name that is granted to this
// transition. Keep it out of the state and the log: the server masks it where it sees it, and cannot
// see everything.
func Secret(name string) (string, bool) { return hostSecret(name) }
