package identityprocessor

import (
	"fmt"
	"runtime"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"pgregory.net/rapid"
)

// pdata has changed inside where this fails: slab is not used then, and stamping costs more.
func TestPdataFits(t *testing.T) {
	if !pdata.fits {
		t.Error("pdata is not what slab expects")
	}
}

// What a slab makes is what pdata makes, whatever is done with it afterwards, and survives collection.
func TestSlabMakesWhatPdataMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.IntRange(1, 100).Draw(t, "records")
		s := slab{left: rapid.IntRange(0, 100).Draw(t, "left")}
		var got, want []pcommon.Map
		for i := range records {
			had, more := rapid.IntRange(0, 20).Draw(t, "had"), rapid.IntRange(0, 8).Draw(t, "more")
			a, b := pcommon.NewMap(), pcommon.NewMap()
			for j := range had {
				a.PutInt(fmt.Sprint("int", j), int64(i))
				b.PutInt(fmt.Sprint("int", j), int64(i))
			}
			to := s.grow(a, more)
			s.left--
			for j := range more {
				s.put(to, fmt.Sprint("name", j), fmt.Sprint("value", i, j))
				b.PutStr(fmt.Sprint("name", j), fmt.Sprint("value", i, j))
			}
			got, want = append(got, a), append(want, b)
		}
		runtime.GC()
		for i := range got {
			for _, m := range []pcommon.Map{got[i], want[i]} { // neighbours stay as they are
				m.PutStr("name1", "another")
				m.PutStr("later", "yes")
				m.Remove("name0")
				m.PutEmptySlice("name2").AppendEmpty().SetStr("in a list")
			}
		}
		for i := range got {
			if !got[i].Equal(want[i]) {
				t.Fatalf("record %d: %v, pdata makes %v", i, got[i].AsRaw(), want[i].AsRaw())
			}
		}
	})
}

// Where pdata is not as expected everything is stamped all the same.
func TestStampingWithoutSlabs(t *testing.T) {
	stampedBy := func(fits bool) []byte {
		before := pdata.fits
		pdata.fits = fits
		defer func() { pdata.fits = before }()
		p, err := newProcessor(createDefaultConfig().(*Config), processortest.NewNopSettings(Type))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.stop() }()
		if _, err := p.logs(t.Context(), taskFacts(20)); err != nil {
			t.Fatal(err)
		}
		ld, err := p.logs(t.Context(), allocationBatch(20, func(plog.ResourceLogs) {}, func(i int, lr plog.LogRecord) {
			lr.Attributes().PutStr("task_id", fmt.Sprintf("t-%d", i))
		}))
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if with, without := stampedBy(true), stampedBy(false); string(with) != string(without) {
		t.Errorf("with slabs:\n%s\nwithout:\n%s", with, without)
	}
}
