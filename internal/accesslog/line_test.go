package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMappings(t *testing.T) {
	// Every termination state of the table is what a line that carries it comes out with.
	for _, m := range mappings {
		state, rest, _ := strings.Cut(m.says, " ")
		if m.proxy != HAProxy || len(state) != 2 {
			continue
		}
		target, code := "be/s1", "503"
		if rest == noServer {
			target = "be/" + noServer
		} else if rest != "" {
			code = rest
		}
		line := fmt.Sprintf(`10.0.1.2:33317 [06/Feb/2026:12:14:14.655] fe %s 0/0/0/-1/4 %s 216 - - %s-- 1/1/0/0/0 0/0 "GET / HTTP/1.1"`, target, code, state)
		if l, ok := Parse(line); !ok || l.Flags != m.flags {
			t.Errorf("%s: %v, flags %q, want %q", m.says, ok, l.Flags, m.flags)
		}
	}
	seen := map[[2]string]bool{}
	for _, m := range mappings {
		if key := [2]string{m.proxy, m.says}; seen[key] || m.flags == "" || m.why == "" {
			t.Errorf("%v: twice, or without flags or reason", key)
		} else {
			seen[key] = true
		}
	}
}

func TestSizes(t *testing.T) {
	long := strings.Repeat("a", 10<<20)
	for _, line := range []string{
		"", "[", "{", "2026/03/02 10:04:11 [",
		long,
		strings.Repeat("[", 10<<20),
		strings.Repeat(`"`, 10<<20),
		`192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET /` + long + ` HTTP/1.1" 200 12`,
		`{"DownstreamStatus":200,"RequestPath":"` + long + `"}`,
	} {
		begin := time.Now()
		if _, ok := Parse(line); ok {
			t.Errorf("a line of %d bytes is an access line", len(line))
		}
		if _, ok := ParseError(line); ok {
			t.Errorf("a line of %d bytes is an error line", len(line))
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("a line of %d bytes took %v", len(line), took)
		}
	}
	fits := `192.0.2.7 - - [10/Oct/2025:13:55:36 +0000] "GET /` + long[:MaxBytes/2] + ` HTTP/1.1" 200 12`
	if l, ok := Parse(fits); !ok || l.Status != 200 {
		t.Errorf("a line of %d bytes: %v, status %d", len(fits), ok, l.Status)
	}
}

// The lines that a pipeline is full of must cost next to nothing.
var ordinary = []string{
	`2026-03-02T10:04:11.310Z INFO worker: claimed task t-17 of allocation a-4 on node n-1 (attempt 2)`,
	`level=warn ts=2026-03-02T10:04:11Z msg="lease lost" task_id=t-17 node_id=n-1 err="context deadline exceeded"`,
	`{"level":"info","ts":"2026-03-02T10:04:11Z","msg":"reconciled","controller":"cluster","object":{"name":"c-1"},"took":0.12}`,
	`[   12.345678] mlx5_core 0000:3b:00.0: Port module event: module 0, Cable unplugged`,
	`I0302 10:04:11.123456       1 controller.go:42] "Reconciling" node="n-1" [queue=default]`,
	`Mar  2 10:04:11 n-1 systemd[1]: Started node agent. ` + strings.Repeat("x", 800),
}

func TestOrdinaryLinesAllocateNothing(t *testing.T) {
	for _, line := range ordinary {
		if n := testing.AllocsPerRun(100, func() {
			if _, ok := Parse(line); ok {
				t.Errorf("%q is an access line", line)
			}
			if _, ok := ParseError(line); ok {
				t.Errorf("%q is an error line", line)
			}
		}); n != 0 {
			t.Errorf("%q: %v allocations", line, n)
		}
	}
}

func BenchmarkOrdinary(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		line := ordinary[i%len(ordinary)]
		Parse(line)
		ParseError(line)
	}
}

func BenchmarkParse(b *testing.B) {
	for name, line := range map[string]string{
		"envoy":   `[2026-03-02T10:04:13.000Z] "GET /api/v1/nodes HTTP/1.1" 503 UF,URX 0 91 1004 - "-" "curl/8.5" "7c0ffee0-0000-4000-8000-000000000002" "api.example.org" "10.0.2.1:8001"`,
		"ingress": `192.0.2.7 - bob [10/Oct/2025:13:55:36 +0000] "GET /ok HTTP/2.0" 200 12312 "-" "curl/8.5" 462 0.050 [prod-api-9000] [] 10.0.50.80:9000 19437 0.049 200 752178adb17130b291aefd8c386279e7`,
		"haproxy": `10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := Parse(line); !ok {
					b.Fatal("not understood")
				}
			}
		})
	}
}

// Controllers before 0.18 write no alternative upstream.
func TestIngressNginxWithoutAnAlternative(t *testing.T) {
	const line = `203.0.113.77 - - [19/Mar/2026:14:02:31 +0000] "POST /release HTTP/1.1" 202 188 "-" "ctl/1" 1790 3.212 [fleet-api-8080] 10.244.2.9:8080 188 3.211 202 c0ffee`
	l, ok := Parse(line)
	if !ok || l.Proxy != Ingress || l.Duration != 3212*time.Millisecond || l.Upstream != "10.244.2.9:8080" || l.UpstreamStatus != 202 || l.RequestID != "c0ffee" {
		t.Errorf("%+v", l)
	}
}
