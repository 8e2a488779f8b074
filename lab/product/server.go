package product

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/internal/bearer"
)

// Server is the base URL of a correlator.
type Server string

// DefaultServer is where `faultline up` lets the correlator listen.
const DefaultServer Server = "http://127.0.0.1:8680"

// ErrUnknown says that the correlator knows nothing of what was asked for.
var ErrUnknown = errors.New("not known to the correlator")

// Get reads the answer to a path of the correlator's API.
func (s Server) Get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(string(s), "/")+path, nil)
	if err != nil {
		return err
	}
	token, err := bearer.Token(string(s), "")
	if err == nil {
		err = bearer.Authorize(r, token)
	}
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask the correlator at %s: %w", s, err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", path, ErrUnknown)
	default:
		var p api.Problem
		_ = json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(&p) // whoever stands between may answer anything
		return fmt.Errorf("the correlator at %s answered %s: %s %s", s, answer.Status, p.Title, p.Detail)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", s, err)
	}
	return nil
}
