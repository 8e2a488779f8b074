package engine

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"time"
)

// unpack takes libchdb.so, and nothing else, out of the package and checks it.
func (b build) unpack(ctx context.Context, pack, to string, progress io.Writer) (err error) {
	in, err := os.Open(pack)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", path.Base(pack), err)
	}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("unpack %s: no libchdb.so in it", path.Base(pack))
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", path.Base(pack), err)
		}
		if h.Typeflag == tar.TypeReg && path.Base(h.Name) == "libchdb.so" {
			break
		}
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	sum := sha256.New()
	p := &pace{ctx: ctx, to: progress, said: time.Now(), size: b.size}
	// One byte over the size shows a longer file without writing all of it.
	n, err := io.Copy(io.MultiWriter(out, sum, p), io.LimitReader(t, b.size+1))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("unpack libchdb.so: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != b.checksum {
		return fmt.Errorf("libchdb.so of %s (%d bytes) has SHA-256 %s, not %s: the registry served another file", b.pkg, n, got, b.checksum)
	}
	return nil
}

// pace says how far a copy has come, once a second, and ends it with its context.
type pace struct {
	ctx  context.Context
	to   io.Writer
	n    int64
	size int64
	said time.Time
}

func (p *pace) Write(b []byte) (int, error) {
	if err := context.Cause(p.ctx); err != nil {
		return 0, err
	}
	if p.n += int64(len(b)); time.Since(p.said) >= time.Second {
		p.said = time.Now()
		fmt.Fprintf(p.to, "  unpacked %d of %d MB\n", p.n/1e6, p.size/1_000_000)
	}
	return len(b), nil
}
