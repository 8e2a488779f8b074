package store

import (
	"fmt"
	"time"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// keysKept is how long a request may be sent again under its key.
const keysKept = 7 * 24 * time.Hour

// ClaimKey takes an idempotency key for a request, whose fingerprint tells it from others. A key that was
// used for the same request gives the answer that was kept; for another one it is refused. The claim is
// the transaction's: what is rolled back leaves the key free.
func (t *Tx) ClaimKey(actor, key, fingerprint string) (answer string, used bool, err error) {
	now := t.Now()
	if _, err := t.exec(`DELETE FROM idempotency_keys WHERE created_at < ?`, nanos(now.Add(-keysKept))); err != nil {
		return "", false, fmt.Errorf("forget old keys: %w", err)
	}
	// Of two requests at once, the second waits here for the first one's end.
	n, err := t.exec(`INSERT INTO idempotency_keys (actor, request_key, fingerprint, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (actor, request_key) DO NOTHING`,
		actor, key, fingerprint, nanos(now))
	if err != nil {
		return "", false, fmt.Errorf("claim idempotency key: %w", err)
	}
	if n == 1 {
		return "", false, nil
	}
	var have string
	if err := t.row(`SELECT fingerprint, answer FROM idempotency_keys WHERE actor = ? AND request_key = ?`, actor, key).Scan(&have, &answer); err != nil {
		return "", false, wrapNotFound("idempotency key", key, err)
	}
	if have != fingerprint {
		return "", false, lifecycle.Refuse(lifecycle.KeyReused, "idempotency key "+key, "it was used for another request")
	}
	return answer, true, nil
}

// KeepAnswer writes what is answered when the request is sent again.
func (t *Tx) KeepAnswer(actor, key, answer string) error {
	_, err := t.exec(`UPDATE idempotency_keys SET answer = ? WHERE actor = ? AND request_key = ?`, answer, actor, key)
	return err
}
