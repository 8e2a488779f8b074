package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// patience is how long a receiver may take.
const patience = 10 * time.Second

// post sends JSON. An error names no password.
func post(ctx context.Context, client *http.Client, address string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "faultline")
	answer, err := client.Do(r)
	if err != nil {
		var request *url.Error
		if errors.As(err, &request) {
			err = request.Err
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 512))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s: %s", answer.Status, strings.TrimSpace(string(said)))
	}
	return nil
}
