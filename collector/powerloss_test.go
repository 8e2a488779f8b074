package collector

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// The power goes while the store is away: what the disk itself has by then is all that a new start finds. A copy of the
// file under a mounted file system is just that: pages that the kernel holds are not in it. As shipped, everything that
// was acknowledged is there. Not synced, the backlog is gone (opentelemetry-collector-contrib#50102; a restart alone:
// TestUpstreamFaults), which also shows that this test would see it.
func TestLossOfPower(t *testing.T) {
	for _, c := range []struct {
		name, setting string
		lost          bool
	}{
		{name: "as shipped"},
		{name: "not synced", setting: "extensions: {faultline_queue: {fsync: false}}", lost: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := embeddedtest.Config(t.TempDir())
			cfg.Listen = ports(t, 1)[0]
			store, err := embeddedtest.Start(t, cfg)
			if err != nil {
				t.Fatal(err)
			}
			image := filepath.Join(t.TempDir(), "disk")
			disk := mountImage(t, image, true)
			p := newProcess(t, store.DSN, disk)
			if c.setting != "" {
				p.stop()
				p.setting(c.setting)
				p.start()
			}
			conn := connect(t, store.DSN)
			s := &sender{c: p}
			s.send(3)
			p.eventually("the store has the first", func() error { return s.missing(conn) })
			if err := store.Kill(); err != nil {
				t.Fatal(err)
			}
			s.send(50)
			if len(s.acked) != 53 {
				t.Fatalf("%d batches were acknowledged", len(s.acked))
			}
			after := filepath.Join(t.TempDir(), "disk")
			if out, err := exec.CommandContext(t.Context(), "cp", "--sparse=always", image, after).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			p.kill()

			if _, err := embeddedtest.Start(t, cfg); err != nil {
				t.Fatal(err)
			}
			p = newProcess(t, store.DSN, mountImage(t, after, false))
			if !c.lost {
				p.eventually("every acknowledged record is there", func() error { return s.missing(conn) })
				return
			}
			last := &sender{c: p, batch: 1000}
			last.send(1)
			p.eventually("the queue is empty", func() error { return last.missing(conn) })
			if s.missing(conn) == nil {
				t.Error("nothing was lost without syncing: this test shows nothing")
			}
		})
	}
}

// mountImage mounts a file as a disk, made anew where fresh.
func mountImage(t *testing.T, image string, fresh bool) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED here: a loss of power needs a disk of its own, which only root can mount")
	}
	if fresh {
		f, err := os.Create(image)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(256 << 20); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", image).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED here: no file system can be made: %v: %s", err, out)
		}
	}
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop,commit=600", image, dir).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED here: no file can be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
			_ = syscall.Unmount(dir, syscall.MNT_DETACH)
		}
	})
	return dir
}
