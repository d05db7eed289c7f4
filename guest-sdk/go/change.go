package wedflow

import (
	"strings"
)

// Change is what a transition sets. Attributes that are not mentioned keep their value.
type Change struct {
	clause string
	sets   []set
}

type set struct {
	attribute string
	position  uint32
	value     Value
	sql       SQL
	strange   any // a Go value that no attribute holds
}

// Set sets one attribute to a value, or to an expression ([SQL]).
func Set(attribute string, value any) *Change { return (&Change{}).Set(attribute, value) }

// Clause is a SQL SET clause, without the word SET.
func Clause(clause SQL) *Change { return &Change{clause: string(clause)} }

// Set sets one more attribute; a second value for the same attribute replaces the first.
func (c *Change) Set(attribute string, value any) *Change {
	one := set{attribute: attribute}
	if sql, expression := value.(SQL); expression {
		one.sql = sql
	} else if v, known := valueOf(value); known {
		one.value = v
	} else {
		one.strange = value
	}
	for n := range c.sets {
		if c.sets[n].attribute == attribute {
			c.sets[n] = one
			return c
		}
	}
	c.sets = append(c.sets, one)
	return c
}

// fit checks the change against what the transition declares, and turns values into the declared types.
func (c *Change) fit(d *Declared) error {
	if c == nil || (strings.TrimSpace(c.clause) == "" && len(c.sets) == 0) {
		return Failf("the transition set nothing; to commit nothing, abort")
	}
	mixed := d.anything
	for n := range c.sets {
		one := &c.sets[n]
		if one.strange != nil {
			return Failf("attribute `%s` was assigned a %T, which no attribute holds", one.attribute, one.strange)
		}
		mixed = mixed || one.sql != ""
		if d.anything {
			continue
		}
		at := -1
		var known []string
		for position, attribute := range d.writes {
			known = append(known, attribute.Name)
			if attribute.Name == one.attribute {
				at = position
			}
		}
		if at < 0 {
			return Failf("attribute `%s` is not among those that the transition declares to write (%s)",
				one.attribute, strings.Join(known, ", "))
		}
		one.position = uint32(at)
		if one.sql == "" {
			value, wrong := fit(one.value, d.writes[at].Kind)
			if wrong != "" {
				return Failf("attribute `%s` is declared as %s and was assigned %s", one.attribute,
					d.writes[at].Kind, wrong)
			}
			one.value = value
		}
	}
	if mixed && c.clause == "" {
		c.clause = c.String()
	}
	if strings.ContainsRune(c.clause, 0) || c.holdsNUL() {
		return Failf("a text holds a NUL character, which Postgres cannot store")
	}
	return nil
}

func (c *Change) holdsNUL() bool {
	var holds func(Value) bool
	holds = func(v Value) bool {
		for _, element := range v.list {
			if holds(element) {
				return true
			}
		}
		return strings.ContainsRune(v.text, 0)
	}
	for _, one := range c.sets {
		if holds(one.value) {
			return true
		}
	}
	return false
}

// String is the change as a SET clause.
func (c *Change) String() string {
	if c.clause != "" {
		return c.clause
	}
	parts := make([]string, len(c.sets))
	for n, one := range c.sets {
		sql := string(one.sql)
		if sql == "" {
			sql = one.value.literal()
		}
		parts[n] = quoted(one.attribute, `"`) + " = " + sql
	}
	return strings.Join(parts, ", ")
}
