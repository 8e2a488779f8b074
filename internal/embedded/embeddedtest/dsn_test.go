package embeddedtest

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestDSN(t *testing.T) {
	defer goleak.VerifyNone(t)
	a, b := DSN(t), DSN(t)
	if a == b {
		t.Error("two tests would share a database")
	}
	if err := run(a, "CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	if err := run(b, "SELECT * FROM t"); err == nil {
		t.Error("one database sees the other's table")
	}
}

func TestStoreEndsWithItsParent(t *testing.T) {
	dir := t.TempDir()
	p, err := start(Config(dir), dir+"/stderr", dir)
	if err != nil {
		t.Fatal(err)
	}
	p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir + "/store"); err == nil {
		t.Error("its data is still there")
	}
}

func TestStartReportsWhatTheStoreSaid(t *testing.T) {
	cfg := Config(t.TempDir())
	cfg.Listen = "0.0.0.0:0"
	_, err := Start(t, cfg)
	if err == nil || !strings.Contains(err.Error(), "only loopback addresses") {
		t.Errorf("%v", err)
	}
}

func TestKillIsFinal(t *testing.T) {
	p, err := Start(t, Config(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Second); !errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH); {
		if time.Now().After(end) {
			t.Fatal("it still lives")
		}
	}
}
