//go:build !wasip1

package wedflow

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

var fake = &Fake{}

// Use puts a stand-in for the server in place and returns a function that takes it away again.
func (f *Fake) Use() (done func()) {
	before := fake
	fake = f
	return func() { fake = before }
}

func hostLog(severity Severity, message string, fields [][2]string) {
	line := [...]string{"debug", "info", "warn", "error"}[severity] + ": " + message
	for _, field := range fields {
		line += fmt.Sprintf(" %s=%s", field[0], field[1])
	}
	fake.Logs = append(fake.Logs, line)
}

func hostNow() int64 { return 946_684_800_000_000 + fake.Slept.Microseconds() }

func hostRandom() uint64 {
	if len(fake.Randoms) > 0 {
		next := fake.Randoms[0]
		fake.Randoms = fake.Randoms[1:]
		return next
	}
	// splitmix64
	fake.drawn += 0x9e3779b97f4a7c15
	mixed := fake.drawn
	mixed = (mixed ^ mixed>>30) * 0xbf58476d1ce4e5b9
	mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
	return mixed ^ mixed>>31
}

func hostSleep(microseconds uint64) { fake.Slept += time.Duration(microseconds) * time.Microsecond }

func hostConfig(key string) (string, bool) {
	value, there := fake.Settings[key]
	return value, there
}

func hostSecret(name string) (string, bool) {
	value, there := fake.Secrets[name]
	return value, there
}

const notGranted = "the flow does not grant it, or the operator has no place for it (the test: see wedflow.Fake)"

func fakeFiles() *FileError {
	if fake.Files == nil {
		return &FileError{FileDenied, notGranted}
	}
	return nil
}

func hostFileRead(name string) ([]byte, bool, *FileError) {
	content, there := fake.Files[name]
	return slices.Clone(content), there, fakeFiles()
}

func hostFileWrite(name string, content []byte) *FileError {
	refused := fakeFiles()
	if refused == nil {
		fake.Files[name] = slices.Clone(content)
	}
	return refused
}

func hostFileAppend(name string, more []byte) *FileError {
	return hostFileWrite(name, slices.Concat(fake.Files[name], more))
}

func hostFileRemove(name string) (bool, *FileError) {
	_, there := fake.Files[name]
	delete(fake.Files, name)
	return there, fakeFiles()
}

func hostFiles() ([]File, *FileError) {
	var all []File
	for name, content := range fake.Files {
		all = append(all, File{name, uint64(len(content))})
	}
	slices.SortFunc(all, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return all, fakeFiles()
}

func hostFetch(request Request) (*Response, *FetchError) {
	fake.Requests = append(fake.Requests, request)
	if fake.Answer == nil {
		return nil, &FetchError{FetchDenied, notGranted}
	}
	return fake.Answer(request)
}

func hostKey() string { return "test" }
