package provisioner

import (
	"context"
	"net/http"
)

// interruptible ends requests that wait for something to happen when stop ends: a long poll would
// otherwise hold up the shutdown for as long as it likes.
func interruptible(stop context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		if r.Method == http.MethodGet { // reports, which write, are finished
			defer context.AfterFunc(stop, cancel)()
		}
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}
