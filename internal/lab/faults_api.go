package lab

import (
	"context"
	"errors"
	"net/http"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"

	"log/slog"
)

// crashWords are the last ones of a Go process.
const crashWords = `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x8f3a21]

goroutine 1187 [running]:
fulfillment/internal/allocations.(*Handler).create(0x0, {0xc000124c00, 0x2a})`

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
			Description: "each request that creates something ends the API's process, and whatever it was answering",
			inject: mishap(func(l *lab) func(http.ResponseWriter, *http.Request) (int, error) {
				return func(_ http.ResponseWriter, r *http.Request) (int, error) {
					if r.Method == http.MethodGet {
						return 0, nil
					}
					l.api.says.Log(context.Background(), telemetry.Error, crashWords)
					if l.outlets.api.shut() == nil {
						_ = l.outlets.api.reopen()
						l.api.says.Log(context.Background(), telemetry.Info, "fulfillment-api started")
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
					l.api.says.Log(r.Context(), telemetry.Error, "encode quota snapshot: json: unsupported value: NaN", slog.String(semconv.ErrorType, "internal"))
					return http.StatusInternalServerError, errors.New("internal error")
				}
			}),
		},
	}
}
