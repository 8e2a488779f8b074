package lab

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/faultline-io/faultline/internal/semconv"
)

// What a story is meant to be is the truth only where it went so.
func TestTruthIsWhatHappened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, err := openTruths(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{log: slog.New(slog.DiscardHandler), truths: file}
	expired, _ := storyNamed("cert_expired")
	healthy, _ := storyNamed("healthy")
	ended, stop := context.WithCancel(context.Background())
	stop()
	l.tell(context.Background(), "a-1", expired, semconv.Failed)
	l.tell(context.Background(), "a-2", expired, semconv.Released)
	l.tell(context.Background(), "a-3", healthy, "503")
	l.tell(ended, "a-4", healthy, semconv.Released)
	l.tell(context.Background(), "a-5", healthy, semconv.Released)
	if err := file.close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, TruthFile))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"allocation_id":"a-1","story":"cert_expired","outcome":"attributed","layer":"cert","mechanism":"expired"}
{"allocation_id":"a-5","story":"healthy","outcome":"none","layer":"","mechanism":""}
`
	if string(got) != want {
		t.Errorf("truth is\n%swant\n%s", got, want)
	}
}
