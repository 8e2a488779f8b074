package chhttp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
)

// authenticate checks the credentials, wherever a client may put them: ClickHouse's headers, basic authentication, the URL.
// Digests are compared, so that neither content nor length shows in the time taken.
func (s *Server) authenticate(r *http.Request) error {
	user, password := r.Header.Get("X-ClickHouse-User"), r.Header.Get("X-ClickHouse-Key")
	if user == "" && password == "" {
		user, password, _ = r.BasicAuth()
	}
	if user == "" && password == "" {
		v := r.URL.Query()
		user, password = v.Get("user"), v.Get("password")
	}
	same := func(a, b string) int {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return subtle.ConstantTimeCompare(x[:], y[:])
	}
	if same(user, s.o.User)&same(password, s.o.Password) != 1 {
		return refusal(authFailed, "Authentication failed: password is incorrect, or there is no user with such name")
	}
	return nil
}
