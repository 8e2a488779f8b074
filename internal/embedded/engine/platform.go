package engine

import (
	"fmt"
	"os"
	"runtime"
)

// loader is glibc's: where it is missing (Alpine, for one) the library can't be loaded.
const loader = "/lib64/ld-linux-x86-64.so.2"

// platform refuses hosts that the pinned build doesn't run on.
func platform() error { return platformOf(runtime.GOOS, runtime.GOARCH, loader) }

func platformOf(goos, arch, loader string) error {
	if goos != "linux" || arch != "amd64" {
		return fmt.Errorf("the ClickHouse engine is built for linux/amd64, this is %s/%s: run it on such a host, %s", goos, arch, wayOut)
	}
	if _, err := os.Stat(loader); err != nil {
		return fmt.Errorf("the ClickHouse engine needs glibc, and %s is not here: use an image with glibc (Debian, Ubuntu, Fedora …), %s", loader, wayOut)
	}
	return nil
}
