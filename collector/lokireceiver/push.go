package lokireceiver

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"
)

// retryAfter is what senders are told to wait, seconds, where what comes after the receiver takes nothing.
const retryAfter = "1"

// push takes one request. Senders of Loki drop what is answered with 400, and keep what is answered with 429 or 5xx.
func (r *lokiReceiver) push(w http.ResponseWriter, req *http.Request) {
	ctx := r.report.StartLogsOp(req.Context())
	form := "protobuf"
	if isJSON(req) {
		form = "json"
	}
	streams, err := read(req, r.cfg.Server.MaxRequestBodySize)
	if err != nil {
		r.report.EndLogsOp(ctx, form, 0, err)
		status := http.StatusBadRequest
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) || errors.Is(err, errTooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, err.Error(), status)
		return
	}
	ld, refused := convert(streams, time.Now())
	n := ld.LogRecordCount()
	if n > 0 {
		err = r.next.ConsumeLogs(ctx, ld)
	}
	r.report.EndLogsOp(ctx, form, n, err)
	switch {
	case err != nil && consumererror.IsPermanent(err):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case len(refused) > 0: // as Loki: the others are taken
		text := fmt.Sprintf("%d of %d streams refused, the others are taken: %s", len(refused), len(streams), strings.Join(refused[:min(len(refused), 10)], "; "))
		r.set.Logger.Warn("streams of a push are refused", zap.String("sender", req.RemoteAddr), zap.String("why", text))
		http.Error(w, text, http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
