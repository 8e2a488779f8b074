package aapsim

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// Fault is a way in which the API fails.
type Fault string

// Faults.
const (
	None        Fault = ""
	Expired     Fault = "expired_token" // 401 to everyone
	Down        Fault = "server_error"  // 500
	Maintenance Fault = "html"          // 200 with a page for people
	Truncated   Fault = "truncated"     // half of the answer, then the end
	Huge        Fault = "huge"          // more than anyone should read
	Slow        Fault = "slow"          // no answer for two seconds
	Limited     Fault = "rate_limited"  // 429 with Retry-After
	LostReply   Fault = "lost_reply"    // it is done, and the connection breaks before the answer
	Gateway     Fault = "gateway"       // it is done, and the proxy before it answers 504
)

// Break has the API fail from now on; None heals it.
func (c *Controller) Break(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = f
}

func (c *Controller) faulty(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		fault := c.fault
		c.mu.Unlock()
		switch fault {
		case Expired:
			send(w, http.StatusUnauthorized, map[string]string{"detail": "Invalid token header."})
		case Down:
			http.Error(w, "<html><body>Server Error (500)</body></html>", http.StatusInternalServerError)
		case Maintenance:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html><body>We will be back soon</body></html>"))
		case Limited:
			w.Header().Set("Retry-After", "1")
			send(w, http.StatusTooManyRequests, map[string]string{"detail": "Request was throttled. Expected available in 1 second."})
		case Huge:
			w.Header().Set("Content-Type", "application/json")
			line := []byte(`"` + strings.Repeat("x", 1<<16) + `",`)
			_, _ = w.Write([]byte("["))
			for range 128 {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		case Truncated:
			record := httptest.NewRecorder()
			inner.ServeHTTP(record, r)
			body := record.Body.Bytes()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(record.Code)
			_, _ = w.Write(body[:len(body)/2])
		case LostReply:
			inner.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case Gateway:
			inner.ServeHTTP(httptest.NewRecorder(), r)
			http.Error(w, "upstream request timeout", http.StatusGatewayTimeout)
		case Slow:
			pause(r.Context(), 2*time.Second)
			inner.ServeHTTP(w, r)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}
