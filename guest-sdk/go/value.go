package wedflow

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Kind is the type of a single value.
type Kind uint8

// The types of values.
const (
	KindNull Kind = iota
	KindText
	KindInteger
	KindBigint
	KindNumeric
	KindFloat
	KindBoolean
	KindTimestamptz
	KindDate
	KindInterval
	KindUUID
	KindJSONB
	kindList
)

var kinds = [...]string{"null", "text", "integer", "bigint", "numeric", "float", "boolean", "timestamptz",
	"date", "interval", "uuid", "jsonb", "an array"}

func (k Kind) String() string { return kinds[k] }

// Types that Go has none for. Text, int32, int64, float64 and bool stand for text (and enum), integer,
// bigint, float and boolean; a pointer for what may be null; a slice for an array.
type (
	// Numeric is a decimal number as text, so that nothing is rounded.
	Numeric string
	// Timestamp is microseconds since 1970-01-01T00:00:00Z; the largest and the smallest stand for
	// infinity and -infinity.
	Timestamp int64
	// Date is days since 1970-01-01; the largest and the smallest stand for infinity and -infinity.
	Date int32
	// Interval is text that Postgres reads as an interval; the server sends ISO 8601.
	Interval string
	// UUID as text.
	UUID string
	// JSON is JSON text.
	JSON string
	// SQL is an expression of the current state. Never build it from values; [Quote] makes literals.
	SQL string
)

// TimestampOf is the timestamp of a time.
func TimestampOf(at time.Time) Timestamp { return Timestamp(at.UnixMicro()) }

// Time is the timestamp as a time in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Into reads the JSON into a value.
func (j JSON) Into(value any) error { return json.Unmarshal([]byte(j), value) }

// JSONOf is a value as JSON.
func JSONOf(value any) (JSON, error) {
	text, err := json.Marshal(value)
	return JSON(text), err
}

// Value is the value of an attribute of whatever type.
type Value struct {
	kind   Kind
	text   string
	number int64 // integers, times, 1 for true, a float's bits
	list   []Value
}

// Kind is the value's type; meaningless for an array.
func (v Value) Kind() Kind { return v.kind }

// List is the elements of an array, and whether it is one.
func (v Value) List() ([]Value, bool) { return v.list, v.kind == kindList }

// IsNull says whether the value is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Text is a text, and the text of a numeric, an interval, a uuid or a jsonb.
func (v Value) Text() string { return v.text }

// Number is an integer, a bigint, a timestamp or a date.
func (v Value) Number() int64 { return v.number }

var goTypes = map[reflect.Type]Kind{
	reflect.TypeFor[string](): KindText, reflect.TypeFor[int32](): KindInteger,
	reflect.TypeFor[int64](): KindBigint, reflect.TypeFor[Numeric](): KindNumeric,
	reflect.TypeFor[float64](): KindFloat, reflect.TypeFor[bool](): KindBoolean,
	reflect.TypeFor[Timestamp](): KindTimestamptz, reflect.TypeFor[Date](): KindDate,
	reflect.TypeFor[Interval](): KindInterval, reflect.TypeFor[UUID](): KindUUID,
	reflect.TypeFor[JSON](): KindJSONB,
}

var anyValue = reflect.TypeFor[Value]()

// kindOf is the attribute type of a Go type.
func kindOf(of reflect.Type) (string, bool) {
	if of == anyValue {
		return "any", true
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() == reflect.Slice {
		of = of.Elem()
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		kind, known := goTypes[of]
		return kind.String() + "[]", known
	}
	kind, known := goTypes[of]
	return kind.String(), known
}

func attributesOf(state reflect.Type) []Attribute {
	if state.Kind() != reflect.Struct {
		panic(fmt.Sprintf("wedflow: the state %s is no struct", state))
	}
	list := []Attribute{}
	for n := range state.NumField() {
		field := state.Field(n)
		name, kind, _ := strings.Cut(field.Tag.Get("wed"), ",")
		if name == "" || !field.IsExported() {
			panic(fmt.Sprintf("wedflow: the field %s.%s has no tag `wed:\"name\"`, or a small letter", state, field.Name))
		}
		if kind == "" {
			var known bool
			if kind, known = kindOf(field.Type); !known {
				panic(fmt.Sprintf("wedflow: the field %s.%s has a type that no attribute has", state, field.Name))
			}
		}
		list = append(list, Attribute{name, kind})
	}
	return list
}

func read(state reflect.Value, reads []Attribute, values []Value) error {
	if len(values) != len(reads) {
		return Failf("the server sent %d values for %d attributes", len(values), len(reads))
	}
	for n := range reads {
		if err := assign(state.Field(n), values[n]); err != "" {
			return Failf("attribute `%s` %s", reads[n].Name, err)
		}
	}
	return nil
}

// assign puts a value into a field; the text says what is wrong.
func assign(field reflect.Value, value Value) string {
	of := field.Type()
	if of == anyValue {
		field.Set(reflect.ValueOf(value))
		return ""
	}
	if of.Kind() == reflect.Pointer {
		if value.IsNull() {
			return ""
		}
		field.Set(reflect.New(of.Elem()))
		return assign(field.Elem(), value)
	}
	if value.IsNull() {
		return "is null; read it with a pointer where that may be"
	}
	if of.Kind() == reflect.Slice && value.kind == kindList {
		list := reflect.MakeSlice(of, len(value.list), len(value.list))
		for n, element := range value.list {
			if err := assign(list.Index(n), element); err != "" {
				return fmt.Sprintf("(element %d) %s", n+1, err)
			}
		}
		field.Set(list)
		return ""
	}
	if kind, known := goTypes[of]; !known || kind != value.kind {
		return fmt.Sprintf("is %s, which a %s does not hold", value.kind, of)
	}
	switch of.Kind() {
	case reflect.String:
		field.SetString(value.text)
	case reflect.Bool:
		field.SetBool(value.number != 0)
	case reflect.Float64:
		field.SetFloat(math.Float64frombits(uint64(value.number)))
	default:
		field.SetInt(value.number)
	}
	return ""
}

// valueOf is a Go value as an attribute's value.
func valueOf(given any) (Value, bool) {
	switch given := given.(type) {
	case nil:
		return Value{}, true
	case Value:
		return given, true
	case int:
		return Value{kind: KindBigint, number: int64(given)}, true
	case time.Time:
		return Value{kind: KindTimestamptz, number: given.UnixMicro()}, true
	}
	v := reflect.ValueOf(given)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return Value{}, true
		}
		return valueOf(v.Elem().Interface())
	}
	if v.Kind() == reflect.Slice {
		list := make([]Value, v.Len())
		for n := range list {
			element, known := valueOf(v.Index(n).Interface())
			if !known || element.kind == kindList {
				return Value{}, false
			}
			list[n] = element
		}
		return Value{kind: kindList, list: list}, true
	}
	kind, known := goTypes[v.Type()]
	if !known {
		return Value{}, false
	}
	switch v.Kind() {
	case reflect.String:
		return Value{kind: kind, text: v.String()}, true
	case reflect.Bool:
		if v.Bool() {
			return Value{kind: kind, number: 1}, true
		}
		return Value{kind: kind}, true
	case reflect.Float64:
		return Value{kind: kind, number: int64(math.Float64bits(v.Float()))}, true
	default:
		return Value{kind: kind, number: v.Int()}, true
	}
}

// fit makes a value one of the declared type: null fits every type, a whole number every type of number
// that can hold it, and text an enum.
func fit(value Value, kind string) (Value, string) {
	if kind == "any" || value.IsNull() {
		return value, ""
	}
	element, array := strings.CutSuffix(kind, "[]")
	if array != (value.kind == kindList) {
		return value, value.kind.String()
	}
	if array {
		list := make([]Value, len(value.list))
		for n, one := range value.list {
			var wrong string
			if list[n], wrong = fit(one, element); wrong != "" {
				return value, "an array with " + wrong
			}
		}
		return Value{kind: kindList, list: list}, ""
	}
	if value.kind == KindInteger || value.kind == KindBigint {
		n := value.number
		switch kind {
		case "integer":
			if n < math.MinInt32 || n > math.MaxInt32 {
				return value, fmt.Sprintf("%d, too large a number,", n)
			}
			return Value{kind: KindInteger, number: n}, ""
		case "bigint":
			return Value{kind: KindBigint, number: n}, ""
		case "numeric":
			return Value{kind: KindNumeric, text: strconv.FormatInt(n, 10)}, ""
		case "float":
			return Value{kind: KindFloat, number: int64(math.Float64bits(float64(n)))}, ""
		}
	}
	if value.kind.String() == kind || (value.kind == KindText && strings.HasPrefix(kind, "enum(")) {
		return value, ""
	}
	return value, value.kind.String()
}

// written is a scalar as Postgres reads it, and the type to cast it to.
func (v Value) written() (text, cast string) {
	switch v.kind {
	case KindText:
		return v.text, ""
	case KindInteger, KindBigint:
		return strconv.FormatInt(v.number, 10), v.kind.String()
	case KindFloat:
		f := math.Float64frombits(uint64(v.number))
		switch {
		case math.IsInf(f, 1):
			return "Infinity", "double precision"
		case math.IsInf(f, -1):
			return "-Infinity", "double precision"
		}
		return strconv.FormatFloat(f, 'g', -1, 64), "double precision"
	case KindBoolean:
		return strconv.FormatBool(v.number != 0), "boolean"
	case KindTimestamptz:
		switch v.number {
		case math.MaxInt64:
			return "infinity", "timestamptz"
		case math.MinInt64:
			return "-infinity", "timestamptz"
		}
		return inEra(time.UnixMicro(v.number).UTC(), "-01-02T15:04:05.999999Z"), "timestamptz"
	case KindDate:
		switch v.number {
		case math.MaxInt32:
			return "infinity", "date"
		case math.MinInt32:
			return "-infinity", "date"
		}
		return inEra(time.Unix(v.number*86_400, 0).UTC(), "-01-02"), "date"
	}
	return v.text, v.kind.String()
}

// inEra writes a time as Postgres reads it, also before the year 1 and after 9999.
func inEra(at time.Time, layout string) string {
	year, era := at.Year(), ""
	if year <= 0 {
		year, era = 1-year, " BC"
	}
	return fmt.Sprintf("%04d%s%s", year, at.Format(layout), era)
}

func quoted(text string, mark string) string {
	return mark + strings.ReplaceAll(text, mark, mark+mark) + mark
}

// literal is a value as SQL.
func (v Value) literal() string {
	if v.IsNull() {
		return "NULL"
	}
	text, cast := "", ""
	if v.kind == kindList {
		parts := make([]string, len(v.list))
		for n, element := range v.list {
			if element.IsNull() {
				parts[n] = "NULL"
				continue
			}
			text, cast = element.written()
			parts[n] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
		}
		text = "{" + strings.Join(parts, ",") + "}"
		if cast != "" {
			cast += "[]"
		}
	} else {
		text, cast = v.written()
	}
	if cast != "" {
		cast = "::" + cast
	}
	return quoted(text, "'") + cast
}

// Quote is a value as a SQL literal: text is quoted, so a value never becomes SQL.
func Quote(value any) SQL {
	if sql, already := value.(SQL); already {
		return "(" + sql + ")"
	}
	v, known := valueOf(value)
	if !known {
		panic(fmt.Sprintf("wedflow.Quote: no attribute holds a %T", value))
	}
	return SQL(v.literal())
}
