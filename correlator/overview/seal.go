package overview

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"

	"github.com/faultline-io/faultline/correlator/query"
)

// seal keeps what a cursor says to ourselves: it tells of allocations that who holds it may not see, and of replicas. All
// replicas, and the next process, have the same secret, so that a reader goes on at any of them.
type seal struct{ cipher.AEAD }

func newSeal(secret string) seal {
	key := sha256.Sum256([]byte("faultline cursor " + secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return seal{} // the key is of the right length
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return seal{} // the block is of the right size
	}
	return seal{aead}
}

func (s seal) close(text []byte) string {
	nonce := make([]byte, s.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return base64.RawURLEncoding.EncodeToString(s.Seal(nonce, nonce, text, nil))
}

// open is ErrCursor for what we did not close.
func (s seal) open(cursor string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < s.NonceSize() {
		return nil, query.ErrCursor
	}
	text, err := s.Open(nil, raw[:s.NonceSize()], raw[s.NonceSize():], nil)
	if err != nil {
		return nil, query.ErrCursor
	}
	return text, nil
}
