package wedflow

import (
	"fmt"
	"time"
)

// Fake stands in for the server under go test. The zero value has no settings and no secrets; its clock
// begins at 2000-01-01T00:00:00Z and advances by [Sleep] alone.
type Fake struct {
	Settings, Secrets map[string]string
	// Randoms are what [Random] gives next; after them, made-up ones, the same in every run.
	Randoms []uint64
	// Logs are the lines logged so far, as in "info: moved from=3 to=4".
	Logs []string
	// Files are those of the instance; nil where none are granted.
	Files map[string][]byte
	// Answer answers requests; nil where none are granted. Requests are those sent so far.
	Answer   func(Request) (*Response, *FetchError)
	Requests []Request
	// Slept is for how long the transitions slept in all.
	Slept time.Duration
	drawn uint64
}

// Call performs a transition as the server does, outside of a component. The values of the attributes are
// given by name; those that are not given are null.
func Call(d *Declared, state map[string]any) (*Change, error) {
	attributes := d.reads
	names := []string{}
	if d.everything {
		for name := range state {
			attributes = append(attributes, Attribute{Name: name})
			names = append(names, name)
		}
	}
	values := make([]Value, len(attributes))
	given := 0
	for n, attribute := range attributes {
		if value, there := state[attribute.Name]; there {
			known := false
			if values[n], known = valueOf(value); !known {
				panic(fmt.Sprintf("wedflow.Call: no attribute holds a %T", value))
			}
			given++
		}
	}
	if given < len(state) {
		panic(fmt.Sprintf("wedflow.Call: %s does not read all of %v", d.name, state))
	}
	job := &Job{Flow: "test", WID: 1, Trigger: "test", Transition: d.name, Attempt: 1, Deadline: Now() + 60_000_000}
	change, failure := d.answer(job, func() []string { return names }, values)
	if failure != nil {
		return nil, failure
	}
	return change, nil
}
