package bearer

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/faultline-io/faultline/internal/access"
)

// Environment.
const (
	Variable     = "FAULTLINE_TOKEN"      // the token
	FileVariable = "FAULTLINE_TOKEN_FILE" // a file that holds it
)

// Token is the one for a server: that of file, else of the file that FAULTLINE_TOKEN_FILE names, else FAULTLINE_TOKEN,
// else what a server that runs on this machine left for its user. "" where there is none.
func Token(server, file string) (string, error) {
	if file == "" {
		file = os.Getenv(FileVariable)
	}
	token := strings.TrimSpace(os.Getenv(Variable))
	if file == "" && token == "" {
		return left(server), nil
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		token = strings.TrimSpace(string(text))
	}
	return token, plausible(token)
}

func plausible(token string) error {
	if strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return errors.New("the token has blanks or other characters that no token has")
	}
	return nil
}

// left is the token that a server of this machine left. Whatever is wrong there is nothing that was asked for: the server
// will say that it wants one.
func left(server string) string {
	all, err := readServers()
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(all[normal(server)])
	if token := strings.TrimSpace(string(text)); err == nil && plausible(token) == nil {
		return token
	}
	return ""
}

// Safe reports whether a token may be sent to a server: over TLS, or to this machine.
func Safe(server *url.URL) error {
	if server.Scheme == "https" || server.Scheme == "http" && access.Loopback(server.Host) {
		return nil
	}
	return fmt.Errorf("a token is not sent over plain http to %s: use https, or a tunnel to this machine", server.Host)
}

// Authorize has a request show a token, where there is one.
func Authorize(r *http.Request, token string) error {
	if token == "" {
		return nil
	}
	if err := Safe(r.URL); err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return nil
}
