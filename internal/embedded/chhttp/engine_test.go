package chhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
	"github.com/faultline-io/faultline/internal/embedded/engine"
)

const (
	testUser     = "faultline"
	testPassword = "open sesame/'"
)

// open opens sessions of the test binary's one engine.
var open func(args ...string) (*chdb.Conn, error)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		path, err := engine.Install(context.Background(), "", os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		library, err := chdb.Load(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		dir, err := os.MkdirTemp("", "chhttp")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		config := filepath.Join(dir, "engine.xml")
		err = os.WriteFile(config, []byte(`<clickhouse><max_server_memory_usage>2147483648</max_server_memory_usage>
			<mark_cache_size>67108864</mark_cache_size><timezone>UTC</timezone><logger><level>fatal</level></logger></clickhouse>`), 0o600)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		open = func(args ...string) (*chdb.Conn, error) {
			return library.Connect(append([]string{"--path=" + filepath.Join(dir, "data"), "--config-file=" + config}, args...)...)
		}
		keep, err := open() // the engine lives as long as one connection does
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer keep.Close()
		return m.Run()
	}())
}

// store is a server with a database of its own.
type store struct {
	*Server
	t        *testing.T
	url      string
	database string
}

var databases atomic.Int64

// newStore serves on a loopback address; change may alter the options.
func newStore(t *testing.T, change func(*Options)) *store {
	t.Helper()
	name := fmt.Sprintf("db%d", databases.Add(1))
	c, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec("CREATE DATABASE " + name + " ENGINE = Atomic"); err != nil {
		t.Fatal(err)
	}
	o := Options{Open: open, User: testUser, Password: testPassword, Database: name, Sessions: 4, Stall: 5 * time.Second}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if !s.Close(ctx) {
			t.Error("a session was not given back")
		}
	})
	return &store{Server: s, t: t, url: web.URL, database: name}
}

func (s *store) dsn(query string) string {
	u, _ := url.Parse(s.url)
	u.User, u.Path, u.RawQuery = url.UserPassword(testUser, testPassword), "/"+s.database, query
	return u.String()
}

// connect opens the driver; query is added to the DSN.
func (s *store) connect(query string) driver.Conn {
	s.t.Helper()
	o, err := clickhouse.ParseDSN(s.dsn(query))
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := clickhouse.Open(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// post sends a bare request with the right credentials.
func (s *store) post(query url.Values, body string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.url+"/?"+query.Encode(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Body = readCloser(body)
	}
	r.SetBasicAuth(testUser, testPassword)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}
