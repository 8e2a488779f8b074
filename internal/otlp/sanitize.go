package otlp

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Decoder turns pdata into records and counts what it could not leave as it was said. A resource or scope counts once,
// however many records share it.
type Decoder struct {
	// Times beyond the year 2262, which became its last moment. A time before 1970 that somebody sends as a
	// negative number is one of them: OTLP's times have no sign.
	Times int
	// Texts that were no UTF-8, whose bad bytes became U+FFFD, one for each run of them.
	Texts int
	// Numbers within a list or a map that JSON cannot say (NaN and the infinities), which became text.
	Numbers int
}

// Nanos gives a time in Unix nanoseconds. What lies beyond the year 2262 becomes its last moment: later times
// do not fit any of our columns.
func Nanos(t pcommon.Timestamp) int64 {
	if t > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(t)
}

// Text replaces bytes that are no UTF-8: neither JSON nor a column can hold them.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// Nanos is Nanos, and counts.
func (d *Decoder) Nanos(t pcommon.Timestamp) int64 {
	if t > math.MaxInt64 {
		d.Times++
	}
	return Nanos(t)
}

// Text is Text, and counts.
func (d *Decoder) Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	d.Texts++
	return Text(s)
}

// Value is a value as text: lists and maps as JSON, bytes in base64.
func (d *Decoder) Value(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return d.Text(v.Str())
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		numbers := d.Numbers
		if d.look(v); d.Numbers > numbers {
			said := pcommon.NewValueEmpty()
			v.CopyTo(said)
			spell(said)
			v = said
		}
	}
	return v.AsString()
}

// look counts what JSON cannot say in a list or map, however deep: its writer replaces bad bytes in silence, and for the
// sake of one number it writes nothing at all.
func (d *Decoder) look(v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		if !utf8.ValidString(v.Str()) {
			d.Texts++
		}
	case pcommon.ValueTypeDouble:
		if unsayable(v.Double()) {
			d.Numbers++
		}
	case pcommon.ValueTypeSlice:
		for _, one := range v.Slice().All() {
			d.look(one)
		}
	case pcommon.ValueTypeMap:
		for k, one := range v.Map().All() {
			if !utf8.ValidString(k) {
				d.Texts++
			}
			d.look(one)
		}
	}
}

// spell writes such numbers as text: "NaN", "+Inf", "-Inf".
func spell(v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeDouble:
		if unsayable(v.Double()) {
			v.SetStr(strconv.FormatFloat(v.Double(), 'g', -1, 64))
		}
	case pcommon.ValueTypeSlice:
		for _, one := range v.Slice().All() {
			spell(one)
		}
	case pcommon.ValueTypeMap:
		for _, one := range v.Map().All() {
			spell(one)
		}
	}
}

func unsayable(n float64) bool { return math.IsNaN(n) || math.IsInf(n, 0) }
