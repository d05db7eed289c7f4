// The conformance guest in Go; ../BEHAVIOURS.md says what each transition does.
package main

import (
	"crypto/rand"
	"fmt"
	chance "math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	wedflow "github.com/wedflow/wedflow/guest-sdk/go"
)

type all struct {
	AText        *string            `wed:"a_text"`
	AEnum        *string            `wed:"a_enum"`
	AInteger     *int32             `wed:"a_integer"`
	ABigint      *int64             `wed:"a_bigint"`
	ANumeric     *wedflow.Numeric   `wed:"a_numeric"`
	AFloat       *float64           `wed:"a_float"`
	ABoolean     *bool              `wed:"a_boolean"`
	ATimestamptz *wedflow.Timestamp `wed:"a_timestamptz"`
	ADate        *wedflow.Date      `wed:"a_date"`
	AInterval    *wedflow.Interval  `wed:"a_interval"`
	AUUID        *wedflow.UUID      `wed:"a_uuid"`
	AJSONB       *wedflow.JSON      `wed:"a_jsonb"`

	LText        *[]*string            `wed:"l_text"`
	LEnum        *[]*string            `wed:"l_enum"`
	LInteger     *[]*int32             `wed:"l_integer"`
	LBigint      *[]*int64             `wed:"l_bigint"`
	LNumeric     *[]*wedflow.Numeric   `wed:"l_numeric"`
	LFloat       *[]*float64           `wed:"l_float"`
	LBoolean     *[]*bool              `wed:"l_boolean"`
	LTimestamptz *[]*wedflow.Timestamp `wed:"l_timestamptz"`
	LDate        *[]*wedflow.Date      `wed:"l_date"`
	LInterval    *[]*wedflow.Interval  `wed:"l_interval"`
	LUUID        *[]*wedflow.UUID      `wed:"l_uuid"`
	LJSONB       *[]*wedflow.JSON      `wed:"l_jsonb"`
}

var everything = []string{
	"a_text text", "a_enum text", "a_integer integer", "a_bigint bigint", "a_numeric numeric", "a_float float",
	"a_boolean boolean", "a_timestamptz timestamptz", "a_date date", "a_interval interval", "a_uuid uuid",
	"a_jsonb jsonb", "l_text text[]", "l_enum text[]", "l_integer integer[]", "l_bigint bigint[]",
	"l_numeric numeric[]", "l_float float[]", "l_boolean boolean[]", "l_timestamptz timestamptz[]",
	"l_date date[]", "l_interval interval[]", "l_uuid uuid[]", "l_jsonb jsonb[]",
}

func echo(_ *wedflow.Job, s all) (*wedflow.Change, error) {
	return wedflow.Set("a_text", s.AText).Set("a_enum", s.AEnum).Set("a_integer", s.AInteger).
		Set("a_bigint", s.ABigint).Set("a_numeric", s.ANumeric).Set("a_float", s.AFloat).
		Set("a_boolean", s.ABoolean).Set("a_timestamptz", s.ATimestamptz).Set("a_date", s.ADate).
		Set("a_interval", s.AInterval).Set("a_uuid", s.AUUID).Set("a_jsonb", s.AJSONB).
		Set("l_text", s.LText).Set("l_enum", s.LEnum).Set("l_integer", s.LInteger).
		Set("l_bigint", s.LBigint).Set("l_numeric", s.LNumeric).Set("l_float", s.LFloat).
		Set("l_boolean", s.LBoolean).Set("l_timestamptz", s.LTimestamptz).Set("l_date", s.LDate).
		Set("l_interval", s.LInterval).Set("l_uuid", s.LUUID).Set("l_jsonb", s.LJSONB), nil
}

func nulls(_ *wedflow.Job, s all) (*wedflow.Change, error) {
	count := 0
	for _, null := range []bool{
		s.AText == nil, s.AEnum == nil, s.AInteger == nil, s.ABigint == nil, s.ANumeric == nil, s.AFloat == nil,
		s.ABoolean == nil, s.ATimestamptz == nil, s.ADate == nil, s.AInterval == nil, s.AUUID == nil,
		s.AJSONB == nil, s.LText == nil, s.LEnum == nil, s.LInteger == nil, s.LBigint == nil, s.LNumeric == nil,
		s.LFloat == nil, s.LBoolean == nil, s.LTimestamptz == nil, s.LDate == nil, s.LInterval == nil,
		s.LUUID == nil, s.LJSONB == nil,
	} {
		if null {
			count++
		}
	}
	return wedflow.Set("a_integer", count).Set("a_text", nil), nil
}

type text struct {
	Text string `wed:"a_text"`
}

func required(_ *wedflow.Job, s text) (*wedflow.Change, error) {
	return wedflow.Set("a_text", s.Text), nil
}

func unicode(_ *wedflow.Job, s text) (*wedflow.Change, error) {
	return wedflow.Set("a_text", s.Text+" ✓ 𝄞").Set("a_integer", utf8.RuneCountInString(s.Text)), nil
}

type texts struct {
	Text *string    `wed:"a_text"`
	List *[]*string `wed:"l_text"`
}

func large(_ *wedflow.Job, s texts) (*wedflow.Change, error) {
	bytes := 0
	change := wedflow.Set("a_text", nil)
	if s.Text != nil {
		bytes += len(*s.Text)
		change.Set("a_text", (*s.Text)[:min(len(*s.Text), 100_000)])
	}
	if s.List != nil {
		for _, element := range *s.List {
			if element != nil {
				bytes += len(*element)
			}
		}
	}
	return change.Set("a_bigint", bytes), nil
}

func names(_ *wedflow.Job, row wedflow.Row) (*wedflow.Change, error) {
	return wedflow.Set("a_text", strings.Join(row.Names, ",")), nil
}

func aboutTheJob(job *wedflow.Job, _ wedflow.Nothing) (*wedflow.Change, error) {
	about := fmt.Sprintf("%s %d %s %s %d", job.Flow, job.WID, job.Trigger, job.Transition, job.Attempt)
	return wedflow.Set("a_text", about).Set("a_timestamptz", job.Deadline), nil
}

func assign(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	return wedflow.Set("a_integer", 7).Set("a_numeric", wedflow.Numeric("1.50")).Set("a_text", "it's").
		Set("l_integer", []any{1, nil, 3}), nil
}

func clause(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	return wedflow.Clause("a_text='done', a_integer=a_integer+1"), nil
}

type both struct {
	Text    *string          `wed:"a_text"`
	Numeric *wedflow.Numeric `wed:"a_numeric"`

	Float       *float64           `wed:"a_float"`
	Timestamptz *wedflow.Timestamp `wed:"a_timestamptz"`
	Date        *wedflow.Date      `wed:"a_date"`
}

func mixed(_ *wedflow.Job, s both) (*wedflow.Change, error) {
	return wedflow.Set("a_text", s.Text).Set("a_numeric", s.Numeric).Set("a_float", s.Float).
		Set("a_timestamptz", s.Timestamptz).Set("a_date", s.Date).
		Set("a_integer", wedflow.SQL("a_integer + 1")), nil
}

// ending is a transition that only ends.
func ending(err func() error) func(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	return func(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) { return nil, err() }
}

//go:noinline
func pick(list []int, index int) int {
	if index >= len(list) {
		panic(fmt.Sprintf("index %d is not there", index))
	}
	return list[index]
}

func failing(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	return wedflow.Set("a_integer", pick([]int{1, 2, 3}, 7)), nil
}

// setting is a transition that only tries to set something.
func setting(attribute string, value any) func(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	return func(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
		return wedflow.Set(attribute, value), nil
	}
}

var on = true

func loop() error {
	n := 0
	for on {
		n++
	}
	return wedflow.Failf("%d", n)
}

//go:noinline
func deeper(n int) int { return deeper(n+1) + n }

var held [][]byte

func memory() error {
	for {
		block := make([]byte, 1<<20)
		for n := range block {
			block[n] = 1
		}
		held = append(held, block)
	}
}

func logLines() error {
	wedflow.Log(wedflow.Debug, "d")
	wedflow.Log(wedflow.Info, "i")
	wedflow.Log(wedflow.Warn, "w")
	wedflow.Log(wedflow.Error, "e")
	wedflow.Log(wedflow.Info, "moved", "from", "a", "to", "ü")
	return wedflow.Abort("logged")
}

func print() error {
	fmt.Println("printed")
	return wedflow.Abort("printed")
}

func nap(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	before := wedflow.Now()
	wedflow.Sleep(20 * time.Millisecond)
	return wedflow.Set("a_bigint", int64(wedflow.Now()-before)), nil
}

func nowRandom(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	return wedflow.Set("a_timestamptz", wedflow.Now()).Set("a_bigint", int64(wedflow.Random())), nil
}

func library(*wedflow.Job, struct{}) (*wedflow.Change, error) {
	drawn := make([]byte, 9)
	if _, err := rand.Read(drawn); err != nil {
		return nil, err
	}
	number := chance.New(wedflow.Chance{}).Float64()
	return wedflow.Set("a_text", fmt.Sprintf("%d %x %v", time.Now().UnixMicro(), drawn, number)), nil
}

func configSecret(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	config := func(key string) string {
		if value, there := wedflow.Config(key); there {
			return value
		}
		return "-"
	}
	secret := func(name string) string {
		if value, there := wedflow.Secret(name); there {
			return fmt.Sprint(len(value))
		}
		return "-"
	}
	return wedflow.Set("a_text", strings.Join([]string{
		config("region"), config("absent"), secret("api_key"), secret("absent")}, "|")), nil
}

var calls int

func fresh(*wedflow.Job, wedflow.Nothing) (*wedflow.Change, error) {
	calls++
	return wedflow.Set("a_integer", calls), nil
}

type ten struct {
	T1  string `wed:"t1"`
	T2  string `wed:"t2"`
	T3  string `wed:"t3"`
	T4  string `wed:"t4"`
	T5  string `wed:"t5"`
	T6  string `wed:"t6"`
	T7  string `wed:"t7"`
	T8  string `wed:"t8"`
	T9  string `wed:"t9"`
	T10 string `wed:"t10"`
}

func clauseOfTen(_ *wedflow.Job, s ten) (*wedflow.Change, error) {
	return wedflow.Clause("t1=" + wedflow.Quote(s.T1) + ", t2='done'"), nil
}

type integer struct {
	N int32 `wed:"a_integer"`
}

func manifest(_ *wedflow.Job, s integer) (*wedflow.Change, error) {
	return wedflow.Set("a_integer", int64(s.N)+1), nil
}

func init() {
	none := wedflow.Writes()
	wedflow.Component("conformance",
		wedflow.Transition("echo", echo, wedflow.Writes(everything...)),
		wedflow.Transition("nulls", nulls, wedflow.Writes("a_integer integer", "a_text text")),
		wedflow.Transition("required", required, wedflow.Writes("a_text text")),
		wedflow.Transition("unicode", unicode, wedflow.Writes("a_text text", "a_integer integer")),
		wedflow.Transition("large", large, wedflow.Writes("a_bigint bigint", "a_text text")),
		wedflow.Transition("names", names, wedflow.Writes("a_text text")),
		wedflow.Transition("job", aboutTheJob, wedflow.Writes("a_text text", "a_timestamptz timestamptz")),
		wedflow.Transition("assign", assign,
			wedflow.Writes("a_integer integer", "a_numeric numeric", "a_text text", "l_integer integer[]")),
		wedflow.Transition("clause", clause),
		wedflow.Transition("mixed", mixed, wedflow.Writes("a_text text", "a_numeric numeric",
			"a_float float", "a_timestamptz timestamptz", "a_date date", "a_integer integer")),
		wedflow.Transition("abort", ending(func() error { return wedflow.Abort("not yet") }), none),
		wedflow.Transition("abort_after",
			ending(func() error { return wedflow.AbortAfter(90*time.Second+500*time.Millisecond, "in a minute") }), none),
		wedflow.Transition("fail", ending(func() error { return wedflow.Retryf("no stock") }), none),
		wedflow.Transition("fail_for_good", ending(func() error { return wedflow.Failf("no such customer") }), none),
		wedflow.Transition("error", failing, none),
		wedflow.Transition("undeclared", setting("a_text", "x"), wedflow.Writes("a_integer integer")),
		wedflow.Transition("wrong_type", setting("a_integer", "x"), wedflow.Writes("a_integer integer")),
		wedflow.Transition("out_of_range", setting("a_integer", 2147483648), wedflow.Writes("a_integer integer")),
		wedflow.Transition("loop", ending(loop), none),
		wedflow.Transition("recursion", ending(func() error { return wedflow.Failf("%d", deeper(0)) }), none),
		wedflow.Transition("memory", ending(memory), none),
		wedflow.Transition("log", ending(logLines), none),
		wedflow.Transition("print", ending(print), none),
		wedflow.Transition("sleep", nap, wedflow.Writes("a_bigint bigint")),
		wedflow.Transition("sleep_for_ever",
			ending(func() error { wedflow.Sleep(24 * time.Hour); return wedflow.Abort("") }), none),
		wedflow.Transition("now_random", nowRandom, wedflow.Writes("a_timestamptz timestamptz", "a_bigint bigint")),
		wedflow.Transition("library", library, wedflow.Writes("a_text text")),
		wedflow.Transition("config_secret", configSecret, wedflow.Writes("a_text text")),
		wedflow.Transition("fresh", fresh, wedflow.Writes("a_integer integer")),
		wedflow.Transition("clause_of_ten", clauseOfTen),
		wedflow.Transition("manifest", manifest, wedflow.Writes("a_integer integer"),
			wedflow.Describe("Says all there is to say"), wedflow.Condition("a_integer < 3"),
			wedflow.Timeout(1500*time.Millisecond), wedflow.Fuel(1_000_000_000), wedflow.Memory(67_108_864)))
}

func main() {}
