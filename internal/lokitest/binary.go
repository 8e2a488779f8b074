package lokitest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Version of Loki, and the checksum of its module; a change of either is another binary.
const (
	Version  = "v3.7.8"
	checksum = "h1:bJ0WFWVOjgvG/jYmT9fIX15SYXXDwuEu/IMgTwMA97U="
)

// pushVersion is the version of pkg/push that Loki's go.mod names. In its repository it is replaced by a folder that its module
// does not have.
const (
	pushVersion = "v0.0.0-20250630054201-94c0ba7b0952"
	pushSums    = "github.com/grafana/loki/pkg/push " + pushVersion + " h1:rLzoJGDnoXsZV2j/2atL6OVk9AHluTbDOD8Ls9trtIA=\n" +
		"github.com/grafana/loki/pkg/push " + pushVersion + "/go.mod h1:ny/0bFitf8KNZkZfweaI4hmwb5XPhaFD2d0kVcyKmjo=\n"
)

// BinaryVariable names a Loki to use instead of the one in the cache.
const BinaryVariable = "FAULTLINE_LOKI_BINARY"

// ErrAbsent is the error of a machine where Loki was not built.
var ErrAbsent = errors.New("Loki " + Version + " is not built on this machine (make loki: minutes, once)") //nolint:staticcheck // a name

// Binary is the path of the server.
func Binary() (string, error) {
	path := os.Getenv(BinaryVariable)
	if path == "" {
		var err error
		if path, err = cached(); err != nil {
			return "", err
		}
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: %w", ErrAbsent, err)
	}
	return path, nil
}

// cached is where the binary is kept, by version, checksum and platform.
func cached() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache: %w", err)
	}
	name := fmt.Sprintf("loki-%s-%x-%s-%s", Version, checksum[3:9], runtime.GOOS, runtime.GOARCH)
	return filepath.Join(dir, "faultline", "loki", name), nil
}
