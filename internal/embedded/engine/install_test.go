package engine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const library = "the library\n"

// testBuild is a library of a few bytes; a shell script plays npm.
func testBuild() build {
	sum := sha256.Sum256([]byte(library))
	return build{pkg: "@test/lib@1", checksum: hex.EncodeToString(sum[:]), size: int64(len(library)), packed: 1000}
}

// pack makes a package with one file beside the library.
func pack(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range [][2]string{{"package/other.so", "other"}, {"package/" + name, content}} {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pack.tgz")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// npm puts a script of that name first in PATH; $to is the pack destination. It returns a file with a line per run.
func npm(t *testing.T, script string) (runs string) {
	t.Helper()
	dir := t.TempDir()
	runs = filepath.Join(dir, "runs")
	text := "#!/bin/sh\necho \"$@\" >> " + runs + "\nto=$6\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return runs
}

func TestInstall(t *testing.T) {
	runs := npm(t, "cp "+pack(t, "libchdb.so", library)+" $to/lib.tgz")
	cache := t.TempDir()
	var said bytes.Buffer
	path, err := testBuild().install(t.Context(), cache, &said)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != library {
		t.Errorf("%q, %v", b, err)
	}
	if found, err := testBuild().find(cache); err != nil || found != path {
		t.Errorf("found %q, %v", found, err)
	}
	args, _ := os.ReadFile(runs)
	if !strings.HasPrefix(string(args), "pack --silent --cache ") || !strings.HasSuffix(string(args), " @test/lib@1\n") {
		t.Errorf("npm %s", args)
	}
	for _, want := range []string{"fetching @test/lib@1", "is installed: " + path} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("progress lacks %q: %s", want, &said)
		}
	}
	wantOnly(t, filepath.Dir(path), "libchdb.so", "lock")
}

// wantOnly fails if the folder holds anything else.
func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %v, want %v", dir, got, names)
	}
}

func TestInstallFails(t *testing.T) {
	for name, f := range map[string]struct{ script, want string }{
		"npm fails":      {"echo 'code E404' >&2; exit 3", "exit status 3: code E404"},
		"npm is silent":  {"exit 1", "it said nothing"},
		"no package":     {"true", "npm left 0 packages"},
		"another file":   {"cp " + pack(t, "libchdb.so", "another\n") + " $to/lib.tgz", "the registry served another file"},
		"a longer file":  {"cp " + pack(t, "libchdb.so", library+"more") + " $to/lib.tgz", "the registry served another file"},
		"no library":     {"cp " + pack(t, "readme", "x") + " $to/lib.tgz", "no libchdb.so in it"},
		"not a package":  {"echo x > $to/lib.tgz", "unpack lib.tgz: "},
		"half a package": {"head -c 60 " + pack(t, "libchdb.so", library) + " > $to/lib.tgz", "unpack lib"},
	} {
		t.Run(name, func(t *testing.T) {
			npm(t, f.script)
			b, cache := testBuild(), t.TempDir()
			_, err := b.install(t.Context(), cache, &bytes.Buffer{})
			if err == nil {
				t.Fatal("it succeeded")
			}
			for _, want := range []string{f.want, "FAULTLINE_CLICKHOUSE_DSN", cache} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nlacks %q", err, want)
				}
			}
			wantOnly(t, filepath.Dir(b.path(cache)), "lock")
		})
	}
	t.Run("no npm", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := testBuild().install(t.Context(), t.TempDir(), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "npm is not installed") || !strings.Contains(err.Error(), "FAULTLINE_CLICKHOUSE_DSN") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no room", func(t *testing.T) {
		if err := pinned().enough("/x", 1e9); err == nil || !strings.Contains(err.Error(), "1000 MB are free") || !strings.Contains(err.Error(), "cache_dir") {
			t.Errorf("%v", err)
		}
	})
	t.Run("another platform", func(t *testing.T) {
		for _, f := range [][3]string{{"darwin", "arm64", "/"}, {"linux", "arm64", "/"}, {"linux", "amd64", "/no/such/loader"}} {
			if err := platformOf(f[0], f[1], f[2]); err == nil || !strings.Contains(err.Error(), "FAULTLINE_CLICKHOUSE_DSN") {
				t.Errorf("%v: %v", f, err)
			}
		}
	})
}

func TestTwoInstallationsDoItOnce(t *testing.T) {
	runs := npm(t, "sleep 0.3; cp "+pack(t, "libchdb.so", library)+" $to/lib.tgz")
	cache := t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := testBuild().install(t.Context(), cache, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if b, _ := os.ReadFile(runs); strings.Count(string(b), "\n") != 1 {
		t.Errorf("npm ran %d times", strings.Count(string(b), "\n"))
	}
}

func TestInstallAfterOneThatWasKilled(t *testing.T) {
	npm(t, "cp "+pack(t, "libchdb.so", library)+" $to/lib.tgz")
	b, cache := testBuild(), t.TempDir()
	dir := filepath.Dir(b.path(cache))
	if err := os.MkdirAll(filepath.Join(dir, "fetch-1", "npm"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fetch-1", "libchdb.so"), []byte("the lib"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := b.find(cache); !errors.Is(err, errMissing) {
		t.Errorf("half an engine counts as one: %v", err)
	}
	if _, err := b.install(t.Context(), cache, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, dir, "libchdb.so", "lock")
}

func TestInstallEndsWithItsContext(t *testing.T) {
	npm(t, "exec sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
	defer cancel()
	var said bytes.Buffer
	b, cache := testBuild(), t.TempDir()
	if _, err := b.install(ctx, cache, &said); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if !strings.Contains(said.String(), "  0 of 0 MB\n") {
		t.Errorf("nothing was said for a second: %s", &said)
	}
	wantOnly(t, filepath.Dir(b.path(cache)), "lock")
}
