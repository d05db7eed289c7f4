package wedflow

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"
)

type order struct {
	Customer string     `wed:"customer"`
	Quantity int32      `wed:"quantity"`
	Note     *string    `wed:"note"`
	Tags     *[]*string `wed:"tags"`
	Size     string     `wed:"size,enum(s,m)"`
	Extra    Value      `wed:"extra"`
}

var given = map[string]any{"customer": "O'Neil", "quantity": int32(2), "size": "s"}

func with(name string, value any) map[string]any {
	state := map[string]any{name: value}
	for known, value := range given {
		if known != name {
			state[known] = value
		}
	}
	return state
}

func TestAStateIsReadByName(t *testing.T) {
	var seen order
	d := Transition("tr", func(job *Job, o order) (*Change, error) {
		seen = o
		return Set("n", int(o.Quantity)+1), nil
	}, Writes("n integer"))
	one := "x"
	state := with("tags", []*string{&one, nil})
	state["extra"] = true
	change, err := Call(d, state)
	if err != nil || change.String() != `"n" = '3'::integer` {
		t.Fatal(change, err)
	}
	if seen.Customer != "O'Neil" || seen.Note != nil || len(*seen.Tags) != 2 || (*seen.Tags)[1] != nil {
		t.Fatalf("%+v", seen)
	}
	if seen.Extra.Kind() != KindBoolean {
		t.Fatal(seen.Extra)
	}
	for _, wrong := range []struct {
		name  string
		value any
		part  string
	}{
		{"customer", nil, "attribute `customer` is null"},
		{"quantity", "many", "attribute `quantity` is text"},
		{"tags", []int32{1}, "attribute `tags` (element 1) is integer"},
	} {
		if _, err := Call(d, with(wrong.name, wrong.value)); err == nil || !strings.Contains(err.Error(), wrong.part) {
			t.Error(wrong, err)
		}
	}
}

func TestChangesAreHeldAgainstTheDeclaration(t *testing.T) {
	var change *Change
	d := Transition("tr", func(*Job, Nothing) (*Change, error) { return change, nil },
		Writes("i integer", "n numeric", "t text", "l integer[]", "e enum(a,b)"))
	for _, good := range []*Change{
		Set("i", 7).Set("n", 3).Set("t", nil).Set("l", []any{1, nil}),
		Set("e", "a").Set("n", Numeric("1.50")),
	} {
		if change = good; true {
			if _, err := Call(d, nil); err != nil {
				t.Error(err)
			}
		}
	}
	for part, bad := range map[string]*Change{
		"`x` is not among":         Set("x", 1),
		"declared as integer":      Set("i", "7"),
		"2147483648, too large":    Set("i", 2147483648),
		"declared as integer[]":    Set("l", 1),
		"an array with text":       Set("l", []string{"1"}),
		"NUL":                      Set("t", "a\x00b"),
		"which no attribute holds": Set("t", struct{}{}),
		"set nothing":              nil,
	} {
		change = bad
		_, err := Call(d, nil)
		var failure *Failure
		if !errors.As(err, &failure) || failure.Retry || !strings.Contains(err.Error(), part) {
			t.Error(part, err)
		}
	}
	change = Set("t", "it's").Set("i", SQL("i + 1")).Set("l", []any{1, nil, 3}).Set("n", Numeric("1.50"))
	got, err := Call(d, nil)
	want := `"t" = 'it''s', "i" = i + 1, "l" = '{"1",NULL,"3"}'::integer[], "n" = '1.50'::numeric`
	if err != nil || got.String() != want {
		t.Error(got, err)
	}
}

func TestLiterals(t *testing.T) {
	for want, value := range map[string]any{
		"'2026-11-21T09:41:00.5Z'::timestamptz": time.Date(2026, 11, 21, 9, 41, 0, 500_000_000, time.UTC),
		"'0001-12-31 BC'::date":                 Date(-719163),
		"'infinity'::date":                      Date(1<<31 - 1),
		"'-Infinity'::double precision":         -1 / zero,
		"'1e+300'::double precision":            1e300,
		"(n + 1)":                               SQL("n + 1"),
		"NULL":                                  nil,
	} {
		if got := Quote(value); string(got) != want {
			t.Errorf("%s is not %s", got, want)
		}
	}
}

var zero float64

func TestEveryWayToEnd(t *testing.T) {
	call := func(run func() (*Change, error)) *Failure {
		d := Transition("tr", func(*Job, Nothing) (*Change, error) { return run() })
		_, err := Call(d, nil)
		var failure *Failure
		errors.As(err, &failure)
		return failure
	}
	failure := call(func() (*Change, error) { return nil, AbortAfter(time.Minute, "later") })
	if !failure.Aborted || failure.After != time.Minute || failure.Message != "later" {
		t.Error(failure)
	}
	failure = call(func() (*Change, error) { return nil, errors.New("gone") })
	if failure.Retry || failure.Aborted || failure.Message != "gone" {
		t.Error(failure)
	}
	failure = call(pick)
	if !failure.Retry || !strings.Contains(failure.Message, "index out of range") ||
		!strings.Contains(failure.Message, "pick") {
		t.Error(failure)
	}
}

func pick() (*Change, error) {
	var list []int
	return Set("n", list[len(list)+7]), nil
}

func TestTheStandInAnswers(t *testing.T) {
	fake := &Fake{Settings: map[string]string{"region": "eu"}, Randoms: []uint64{7}}
	defer fake.Use()()
	start := Now()
	Sleep(1500 * time.Millisecond)
	Log(Warn, "careful", "n", 1, "to", "ü")
	region, there := Config("region")
	_, none := Secret("key")
	if Now()-start != 1_500_000 || Random() != 7 || Random() == Random() || region != "eu" || !there || none {
		t.Error(fake)
	}
	if fake.Logs[0] != "warn: careful n=1 to=ü" {
		t.Error(fake.Logs)
	}
}

func TestFilesAndHTTPAreTheFakes(t *testing.T) {
	d := Transition("tr", func(job *Job, _ Nothing) (*Change, error) {
		before, err := ReadFile("log")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err := AppendFile("log", []byte("x")); err != nil {
			return nil, err
		}
		response, err := Fetch(Request{Method: "POST", URL: "https://pay.example/", Body: before,
			Headers: []Header{{"authorization", "Bearer ", "api-key"}, {"idempotency-key", Key(), ""}}})
		if err != nil {
			return nil, fmt.Errorf("paying: %w", err)
		}
		return Set("n", response.Status).Set("t", response.Header("receipt")), nil
	}, Writes("n integer", "t text"))
	var failure *Failure
	if _, err := Call(d, nil); !errors.As(err, &failure) || failure.Retry || !strings.Contains(failure.Message, "grant") {
		t.Fatal(err)
	}
	fake := &Fake{Files: map[string][]byte{"log": []byte("a")}}
	defer fake.Use()()
	fake.Answer = func(Request) (*Response, *FetchError) { return nil, &FetchError{FetchTimedOut, "too long"} }
	if _, err := Call(d, nil); !errors.As(err, &failure) || !failure.Retry || failure.Message != "paying: too long" {
		t.Fatal(err)
	}
	fake.Answer = func(Request) (*Response, *FetchError) {
		return &Response{Status: 201, Headers: [][2]string{{"receipt", "r1"}}}, nil
	}
	change, err := Call(d, nil)
	if err != nil || change.String() != `"n" = '201'::integer, "t" = 'r1'` {
		t.Fatal(change, err)
	}
	sent := fake.Requests[1]
	if string(fake.Files["log"]) != "axx" || string(sent.Body) != "ax" || sent.Headers[0].Secret != "api-key" || sent.Headers[1].Value != "test" {
		t.Fatalf("%+v", fake)
	}
	if was, err := RemoveFile("log"); !was || err != nil {
		t.Fatal(was, err)
	}
	if all, err := Files(); len(all) != 0 || err != nil {
		t.Fatal(all, err)
	}
}
