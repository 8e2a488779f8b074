package identityprocessor

import (
	"reflect"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// slab makes room for attributes, many records at a time. pdata takes one piece of memory for each value
// and one for each list that grows; stamping is mostly that. A slab takes a piece for a few dozen records.
// What it makes is what pdata would have made: the same types, at other addresses.
//
// pdata keeps its lists to itself, so this looks inside. It is done only where what is inside was found to
// be as expected when the process began (see lookInside); elsewhere attributes are put one by one. A piece
// of memory lives as long as any record that has attributes in it, so pieces are small.
type slab struct {
	pairs  []pair
	values []text
	left   int // records of the batch that have not been stamped
}

// pair is pdata's KeyValue, text its value that is a string.
type (
	pair struct {
		key   string
		value any
		index int32
	}
	text struct{ value string }
	list struct {
		orig  *[]pair
		state unsafe.Pointer
	}
)

const (
	slabPairs  = 512 // 20 kB, the largest pieces that Go takes from where no lock is
	slabValues = 512
)

// grow makes room for n more attributes in a list, none of which may be there, and gives the list.
func (s *slab) grow(m pcommon.Map, n int) *[]pair {
	orig := (*list)(unsafe.Pointer(&m)).orig
	had := *orig
	if cap(had)-len(had) < n {
		need := len(had) + n
		if cap(s.pairs)-len(s.pairs) < need {
			n := max(need, min(slabPairs, need*max(1, s.left)))
			s.pairs = unsafe.Slice((*pair)(reflect.MakeSlice(pdata.pairs, n, n).UnsafePointer()), n)[:0]
		}
		begin := len(s.pairs)
		s.pairs = s.pairs[:begin+need]
		room := s.pairs[begin : begin+len(had) : begin+need]
		copy(room, had)
		*orig = room
	}
	if cap(s.values)-len(s.values) < n {
		n := max(n, min(slabValues, n*max(1, s.left)))
		s.values = unsafe.Slice((*text)(reflect.MakeSlice(pdata.texts, n, n).UnsafePointer()), n)[:0]
	}
	return orig
}

// put adds one attribute; there is room.
func (s *slab) put(to *[]pair, name, value string) {
	s.values = s.values[:len(s.values)+1]
	v := &s.values[len(s.values)-1]
	v.value = value
	p := pdata.sample // the type; what it points at follows
	(*[2]unsafe.Pointer)(unsafe.Pointer(&p))[1] = unsafe.Pointer(v)
	*to = append(*to, pair{key: name, value: p})
}

// pdata is what was found inside pdata.
var pdata = lookInside()

type inside struct {
	fits         bool
	pairs, texts reflect.Type // slices of KeyValue, and of its values that are strings
	sample       any          // one of those
}

// lookInside compares what is inside pdata with what slab expects, type by type.
func lookInside() (in inside) {
	m := pcommon.NewMap()
	m.PutStr("name", "value")
	outer := reflect.TypeOf(m)
	if outer.Kind() != reflect.Struct || outer.NumField() != 2 || outer.Size() != unsafe.Sizeof(list{}) {
		return in
	}
	orig := outer.Field(0).Type
	if orig.Kind() != reflect.Pointer || orig.Elem().Kind() != reflect.Slice || outer.Field(1).Type.Kind() != reflect.Pointer {
		return in
	}
	in.pairs = orig.Elem()
	kv := in.pairs.Elem()
	if kv.Kind() != reflect.Struct || kv.NumField() != 3 || kv.Size() != unsafe.Sizeof(pair{}) ||
		kv.Field(0).Type.Kind() != reflect.String || kv.Field(2).Type.Kind() != reflect.Int32 || kv.Field(1).Offset != unsafe.Offsetof(pair{}.value) {
		return in
	}
	value := kv.Field(1).Type
	if value.Kind() != reflect.Struct || value.NumField() != 1 || value.Field(0).Type.Kind() != reflect.Interface || value.Field(0).Type.NumMethod() != 0 {
		return in
	}
	in.sample = (*(*list)(unsafe.Pointer(&m)).orig)[0].value
	sample := reflect.TypeOf(in.sample)
	if sample == nil || sample.Kind() != reflect.Pointer || sample.Elem().Kind() != reflect.Struct || sample.Elem().NumField() != 1 ||
		sample.Elem().Field(0).Type.Kind() != reflect.String {
		return in
	}
	in.texts = reflect.SliceOf(sample.Elem())
	in.fits = true
	return in
}
