package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"

	"log/slog"
)

// usage is what a tenant has of what it may have.
type usage struct{ used, limit float64 }

// snapshot is how the API writes it down: with a bug where a tenant may have nothing.
func (u *usage) snapshot() ([]byte, error) {
	return json.Marshal(map[string]float64{"share": u.used / u.limit})
}

// lastWords does something that ends a goroutine, and gives what Go says of that: the reason, and where it was,
// without the files' names.
func lastWords(do func()) (words string) {
	defer func() {
		if reason := recover(); reason != nil {
			lines := slices.DeleteFunc(strings.Split(string(debug.Stack()), "\n"), func(line string) bool { return strings.HasPrefix(line, "\t") })
			words = fmt.Sprintf("panic: %v\n\n%s", reason, strings.Join(lines[:min(len(lines), 6)], "\n"))
		}
	}()
	do()
	return ""
}

func apiFaults() []Fault {
	mishap := func(f func(l *lab) func(http.ResponseWriter, *http.Request) (int, error)) func(*lab, target) (func() error, error) {
		return func(l *lab, _ target) (func() error, error) {
			m := f(l)
			l.api.mishap.Store(&m)
			return func() error { l.api.mishap.Store(nil); return nil }, nil
		}
	}
	return []Fault{
		{
			Name: "api_crash", Layer: "api", Mechanism: "crash", Expected: expectAttributed, ShowsIn: []string{"api", "ingress", "client"},
			Description: "each request that changes something ends the API, with whatever it was answering, and it is started anew",
			inject: mishap(func(l *lab) func(http.ResponseWriter, *http.Request) (int, error) {
				return func(_ http.ResponseWriter, r *http.Request) (int, error) {
					if r.Method == http.MethodGet {
						return 0, nil
					}
					var tenant *usage // nobody has looked it up
					l.api.emitter.Log(context.Background(), telemetry.Error, lastWords(func() { _, _ = tenant.snapshot() }))
					if l.listeners.api.shut() == nil {
						_ = l.listeners.api.reopen()
						l.api.emitter.Log(context.Background(), telemetry.Info, "fulfillment-api started")
					}
					panic(http.ErrAbortHandler)
				}
			}),
		},
		{
			Name: "api_5xx", Layer: "api", Mechanism: "error", Expected: expectAttributed, ShowsIn: []string{"api", "ingress", "client"},
			Description: "the API answers 500 to whatever changes something",
			inject: mishap(func(l *lab) func(http.ResponseWriter, *http.Request) (int, error) {
				return func(_ http.ResponseWriter, r *http.Request) (int, error) {
					if r.Method == http.MethodGet {
						return 0, nil
					}
					if _, err := new(usage).snapshot(); err != nil {
						l.api.emitter.Log(r.Context(), telemetry.Error, "encode quota snapshot: "+err.Error(), slog.String(semconv.ErrorType, "internal"))
					}
					return http.StatusInternalServerError, errors.New("internal error")
				}
			}),
		},
	}
}
