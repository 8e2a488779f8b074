package embedded

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Database is the one that the store creates: Atomic, unlike the engine's own "default".
const Database = "faultline"

// User is the only user.
const User = "faultline"

// Config is the store's part of a configuration.
type Config struct {
	// Listen is a loopback address; port 0 takes a free one.
	Listen string `yaml:"listen"`
	// DataDir holds everything that lasts. One process at a time.
	DataDir string `yaml:"data_dir"`
	// PasswordFile is made where it is missing; "" is password in DataDir.
	PasswordFile string `yaml:"password_file"`
	// CacheDir is where the engine's library is kept; "" is the user's cache folder.
	CacheDir string `yaml:"cache_dir"`

	// MemoryLimit caps what the engine takes (max_server_memory_usage). A query beyond it fails, the process stays.
	MemoryLimit Size `yaml:"memory_limit"`
	// MarkCache, UncompressedCache and IndexCache cap the engine's caches; IndexCache is that of each kind of index.
	MarkCache         Size `yaml:"mark_cache"`
	UncompressedCache Size `yaml:"uncompressed_cache"`
	IndexCache        Size `yaml:"index_cache"`

	// Connections is how many statements run at once.
	Connections int `yaml:"connections"`
	// Wait is how long a request waits for a free connection.
	Wait time.Duration `yaml:"wait"`
	// Stall ends a request whose client neither sends nor reads for so long.
	Stall time.Duration `yaml:"stall"`
	// MaxStatement and MaxInsert limit a statement's text and an INSERT's data, after decompression.
	MaxStatement Size `yaml:"max_statement"`
	MaxInsert    Size `yaml:"max_insert"`

	// Wrap, where it is set, goes around everything that is served.
	Wrap func(http.Handler) http.Handler `yaml:"-"`

	// Fsync makes an acknowledged insert survive a loss of power, not just the death of the process.
	Fsync bool `yaml:"fsync"`
}

// DefaultConfig works as it is wherever a home folder is known.
func DefaultConfig() Config {
	return Config{
		Listen: "127.0.0.1:9123", DataDir: defaultDataDir(),
		MemoryLimit: 2 * GiB, MarkCache: 128 * MiB, UncompressedCache: 32 * MiB, IndexCache: 64 * MiB,
		Connections: 8, Wait: 10 * time.Second, Stall: time.Minute, MaxStatement: 16 * MiB, MaxInsert: GiB,
		Fsync: true,
	}
}

func defaultDataDir() string {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "faultline", "store")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "faultline", "store")
}

// Validate names the keys that can't be.
func (c Config) Validate() error {
	var errs []error
	if err := loopback(c.Listen); err != nil {
		errs = append(errs, fmt.Errorf("listen: %w", err))
	}
	if c.DataDir == "" {
		errs = append(errs, errors.New("data_dir: no home folder is known, name one"))
	}
	atLeast := func(key string, v, least Size) {
		if v < least {
			errs = append(errs, fmt.Errorf("%s: %s is less than %s", key, v, least))
		}
	}
	atLeast("memory_limit", c.MemoryLimit, 256*MiB)
	atLeast("mark_cache", c.MarkCache, MiB)
	atLeast("uncompressed_cache", c.UncompressedCache, 0)
	atLeast("index_cache", c.IndexCache, MiB)
	atLeast("max_statement", c.MaxStatement, KiB)
	atLeast("max_insert", c.MaxInsert, KiB)
	if sum := c.MarkCache + c.UncompressedCache + c.IndexCache; sum > c.MemoryLimit/2 {
		errs = append(errs, fmt.Errorf("mark_cache, uncompressed_cache and index_cache: together %s, more than half of memory_limit", sum))
	}
	if c.Connections < 1 || c.Connections > 256 {
		errs = append(errs, fmt.Errorf("connections: %d is not within 1 and 256", c.Connections))
	}
	if c.Wait <= 0 {
		errs = append(errs, fmt.Errorf("wait: %s is not positive", c.Wait))
	}
	if c.Stall < time.Second {
		errs = append(errs, fmt.Errorf("stall: %s is less than a second", c.Stall))
	}
	return errors.Join(errs...)
}

func (c Config) passwordFile() string {
	if c.PasswordFile != "" {
		return c.PasswordFile
	}
	return filepath.Join(c.DataDir, "password")
}

// loopback refuses an address that another host could reach: the engine has one user, who may do everything.
func loopback(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: want host:port", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("address %q: %q is not a port", address, port)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("address %q: only loopback addresses (127.0.0.1, ::1, localhost) are served: the store has one user who may do everything; for other hosts run a ClickHouse server and set FAULTLINE_CLICKHOUSE_DSN", address)
	}
	return nil
}
