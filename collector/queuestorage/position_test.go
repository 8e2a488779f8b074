package queuestorage

import (
	"context"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// What a receiver notes is written when it notes the next one, so that a process that comes after it never begins
// behind what was handed on.
func TestPositions(t *testing.T) {
	t.Parallel()
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = t.TempDir()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	// run is one process; it ends without a word.
	run := func(f func(get func() string, set func(string))) {
		t.Helper()
		e, err := create(context.Background(), extensiontest.NewNopSettings(Type), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(context.Background(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
		c, err := e.(storage.Extension).GetClient(context.Background(), component.KindReceiver, component.MustNewID("journald"), "")
		if err != nil {
			t.Fatal(err)
		}
		f(func() string {
			value, err := c.Get(context.Background(), "cursor")
			if err != nil {
				t.Error(err)
			}
			return string(value)
		}, func(value string) {
			if err := c.Set(context.Background(), "cursor", []byte(value)); err != nil {
				t.Error(err)
			}
		})
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := e.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
	want := func(when, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	run(func(get func() string, set func(string)) {
		want("new", get(), "")
		set("a")
		want("of this process", get(), "a")
	})
	run(func(get func() string, set func(string)) {
		want("the very first", get(), "a")
		set("b")
		want("of this process", get(), "b")
	})
	run(func(get func() string, set func(string)) {
		want("b may not have been handed on", get(), "a")
		set("b")
		set("c")
		set("d")
	})
	run(func(get func() string, _ func(string)) { want("c was", get(), "c") })
}
