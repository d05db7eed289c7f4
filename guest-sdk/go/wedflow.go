// Package wedflow lets Go write Wedflow transitions.
//
// A transition is an ordinary function. It is handed the attributes it names, as a struct, and answers
// with what to set:
//
//	package main
//
//	import "github.com/wedflow/wedflow/guest-sdk/go"
//
//	type order struct {
//		Quantity int32   `wed:"quantity"`
//		Note     *string `wed:"note"` // may be null
//	}
//
//	func confirm(job *wedflow.Job, o order) (*wedflow.Change, error) {
//		if o.Quantity < 1 {
//			return nil, wedflow.Failf("order %d is empty", job.WID)
//		}
//		wedflow.Log(wedflow.Info, "confirmed", "quantity", o.Quantity)
//		return wedflow.Set("status", "confirmed").Set("quantity", wedflow.SQL("quantity - 1")), nil
//	}
//
//	func init() {
//		wedflow.Component("orders",
//			wedflow.Transition("tr_confirm", confirm, wedflow.Writes("status text", "quantity integer")))
//	}
//
//	func main() {}
//
// Built with the ordinary toolchain, and made a component by wed:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o orders.core.wasm .
//	wed component encode orders.core.wasm -o orders.wasm
//
// The same functions run natively under go test; see [Call] and [Fake].
//
// An error that is none of [Failf], [Retryf] and [Abort], and holds none, fails the attempt for good: a transition
// only computes on its state, so what went wrong once goes wrong again. A panic becomes a failure that may be
// retried, with the stack.
package wedflow

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"time"
)

// Version is the SDK's.
const Version = "0.1.0"

// Attribute is one that a transition reads or writes: its name, and its type as in wed_attr.atype, or any.
type Attribute struct{ Name, Kind string }

// Job describes the attempt: what a transition learns besides the state.
type Job struct {
	// Flow is the flow's name.
	Flow string
	// WID is the instance.
	WID int32
	// Trigger is the trigger that fired, by name; its number where it has none.
	Trigger string
	// Transition is the transition being performed.
	Transition string
	// Attempt is 1 for the first.
	Attempt uint32
	// Deadline is when the time limit ends.
	Deadline Timestamp
}

// Remaining is how much of the time limit is left; nothing once it is over.
func (job *Job) Remaining() time.Duration {
	return max(0, time.Duration(job.Deadline-Now())*time.Microsecond)
}

// Declared is a transition and what it says of itself; [Transition] makes one.
type Declared struct {
	name, description string
	reads, writes     []Attribute
	everything        bool // reads every attribute
	anything          bool // returns a whole clause
	condition         string
	timeout           time.Duration
	fuel, memory      uint64
	perform           func(*Job, []string, []Value) (*Change, error)
}

// Option is what [Transition] takes besides the function.
type Option func(*Declared)

// Describe says what the transition is for, in a sentence.
func Describe(text string) Option { return func(d *Declared) { d.description = text } }

// Writes lists the attributes that the transition may set, each as "name type". Without it, the
// transition returns a whole clause ([Clause]).
func Writes(attributes ...string) Option {
	return func(d *Declared) {
		d.anything, d.writes = false, []Attribute{}
		for _, attribute := range attributes {
			name, kind, found := strings.Cut(attribute, " ")
			if !found {
				panic(fmt.Sprintf("wedflow.Writes: %q is not \"name type\"", attribute))
			}
			d.writes = append(d.writes, Attribute{name, kind})
		}
	}
}

// Condition suggests a WED-condition, as SQL, to the flow's owner.
func Condition(sql string) Option { return func(d *Declared) { d.condition = sql } }

// Timeout suggests a time limit to the flow's owner.
func Timeout(limit time.Duration) Option { return func(d *Declared) { d.timeout = limit } }

// Fuel is the most that a call needs; the server's limit holds where it is lower.
func Fuel(most uint64) Option { return func(d *Declared) { d.fuel = most } }

// Memory is the most bytes that a call needs; the server's limit holds where it is lower.
func Memory(most uint64) Option { return func(d *Declared) { d.memory = most } }

// Nothing is the state of a transition that reads no attribute.
type Nothing struct{}

// Row is the state of a transition that is written for any flow: all attributes, in the flow's order.
type Row struct {
	Names  []string
	Values []Value
}

// Transition declares a transition. Its state S is a struct with a field for each attribute it reads,
// tagged `wed:"name"` (or `wed:"name,type"` where the type is not the field's own, such as any for a
// [Value]), or a [Row]. A field that is no pointer must not be null. It panics for a struct that is no
// state, which stops the upload.
func Transition[S any](name string, run func(*Job, S) (*Change, error), options ...Option) *Declared {
	d := &Declared{name: name, anything: true}
	var state S
	kind := reflect.TypeOf(&state).Elem()
	if kind == reflect.TypeOf(Row{}) {
		d.everything = true
	} else {
		d.reads = attributesOf(kind)
	}
	for _, option := range options {
		option(d)
	}
	d.perform = func(job *Job, names []string, values []Value) (*Change, error) {
		var state S
		if row, whole := any(&state).(*Row); whole {
			*row = Row{names, values}
		} else if err := read(reflect.ValueOf(&state).Elem(), d.reads, values); err != nil {
			return nil, err
		}
		return run(job, state)
	}
	return d
}

var component struct {
	name        string
	transitions []*Declared
}

// Component makes the program a component: the name under which it wants to be stored, and its
// transitions. Call it once, from an init function.
func Component(name string, transitions ...*Declared) {
	component.name, component.transitions = name, transitions
}

// A Failure is why a transition commits nothing.
type Failure struct {
	Message string
	// Retry says whether another attempt may succeed.
	Retry bool
	// Aborted says that the transition chose not to act now; it did not fail.
	Aborted bool
	// After is when an aborted one wants to be tried again at the earliest; 0 leaves it to the trigger.
	After time.Duration
}

func (f *Failure) Error() string { return f.Message }

// Abort commits nothing; the transition is tried again after the trigger's backoff.
func Abort(reason string) error { return &Failure{Message: reason, Aborted: true} }

// AbortAfter commits nothing; the transition is tried again after this time.
func AbortAfter(after time.Duration, reason string) error {
	return &Failure{Message: reason, Aborted: true, After: after}
}

// Failf is a failure that no further attempt mends: the instance becomes an exception.
func Failf(format string, arguments ...any) error {
	return &Failure{Message: fmt.Sprintf(format, arguments...)}
}

// Retryf is a failure that another attempt may mend.
func Retryf(format string, arguments ...any) error {
	return &Failure{Message: fmt.Sprintf(format, arguments...), Retry: true}
}

// answer performs a transition and turns all that can happen into a change that fits, or a failure.
func answer(job *Job, names func() []string, values []Value) (d *Declared, change *Change, failure *Failure) {
	for _, one := range component.transitions {
		if one.name == job.Transition {
			d = one
		}
	}
	if d == nil {
		return nil, nil, &Failure{Message: fmt.Sprintf("this component has no transition `%s`", job.Transition)}
	}
	change, failure = d.answer(job, names, values)
	return d, change, failure
}

func (d *Declared) answer(job *Job, names func() []string, values []Value) (change *Change, failure *Failure) {
	defer func() {
		if cause := recover(); cause != nil {
			change, failure = nil, &Failure{Message: fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()), Retry: true}
		}
	}()
	var all []string
	if d.everything {
		all = names()
	}
	change, err := d.perform(job, all, values)
	if err == nil {
		err = change.fit(d)
	}
	if err == nil {
		return change, nil
	}
	if own, itself := err.(*Failure); itself {
		return nil, own
	}
	failure = &Failure{Message: err.Error()}
	// Within another error its text is no longer shown, but it still says whether to try again.
	var own *Failure
	var refused interface{ retry() bool }
	if errors.As(err, &own) {
		failure.Retry, failure.Aborted, failure.After = own.Retry, own.Aborted, own.After
	} else if errors.As(err, &refused) {
		failure.Retry = refused.retry()
	}
	return nil, failure
}
