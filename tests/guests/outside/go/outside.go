// The guest that reaches outside, in Go; ../BEHAVIOURS.md says what each transition does.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	wedflow "github.com/wedflow/wedflow/guest-sdk/go"
)

func text(name string) (string, error) {
	content, err := wedflow.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "-", nil
	}
	return string(content), err
}

func files(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	absent, err := text("absent")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(wedflow.WriteFile("log", []byte("a")), wedflow.AppendFile("log", []byte("ü"))); err != nil {
		return nil, err
	}
	log, first := text("log")
	before, second := text("before")
	once, third := wedflow.RemoveFile("before")
	twice, fourth := wedflow.RemoveFile("before")
	all, fifth := wedflow.Files()
	if err := errors.Join(first, second, third, fourth, fifth); err != nil {
		return nil, err
	}
	var sizes []string
	for _, file := range all {
		sizes = append(sizes, fmt.Sprintf("%s=%d", file.Name, file.Size))
	}
	kind := "another"
	var refused *wedflow.FileError
	if errors.As(wedflow.WriteFile("../x", nil), &refused) && refused.Kind == wedflow.FileName {
		kind = "name"
	}
	return wedflow.Set("a_text", fmt.Sprintf("%s|%s|%s|%t %t|%s|%s", absent, log, before, once, twice,
		strings.Join(sizes, ","), kind)), nil
}

func filesUnhandled(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	return wedflow.Set("a_text", "written"), wedflow.WriteFile("x", nil)
}

func http(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	key := wedflow.Key()
	response, err := wedflow.Fetch(wedflow.Request{
		Method: "POST", URL: "https://pay.example/charge", Body: []byte("ü"),
		Headers: []wedflow.Header{
			{Name: "authorization", Value: "Bearer ", Secret: "api_key"},
			{Name: "idempotency-key", Value: key},
		},
	})
	if err != nil {
		return nil, err
	}
	kind := "another"
	var refused *wedflow.FetchError
	if _, err := wedflow.Fetch(wedflow.Request{URL: "https://pay.example/slow"}); errors.As(err, &refused) &&
		refused.Kind == wedflow.FetchTimedOut {
		kind = "timed-out"
	}
	absent := response.Header("absent")
	if absent == "" {
		absent = "-"
	}
	return wedflow.Set("a_text", fmt.Sprintf("%d|%s|%s|%s|%s|%s", response.Status, response.Header("receipt"), absent,
		response.Body, key, kind)), nil
}

func httpUnhandled(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	response, err := wedflow.Fetch(wedflow.Request{URL: "https://pay.example/"})
	if err != nil {
		return nil, fmt.Errorf("asking: %w", err)
	}
	return wedflow.Set("a_text", string(response.Body)), nil
}

func init() {
	writes := wedflow.Writes("a_text text")
	wedflow.Component("outside",
		wedflow.Transition("files", files, writes),
		wedflow.Transition("files_unhandled", filesUnhandled, writes),
		wedflow.Transition("http", http, writes),
		wedflow.Transition("http_unhandled", httpUnhandled, writes))
}

func main() {}
