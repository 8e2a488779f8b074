package chhttp

import (
	"context"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// appendSize is how much data goes to the engine at once.
const appendSize = 1 << 20

// take runs an INSERT whose data is the body. It commits after the body's last byte and not before: a client that goes
// away, stalls or breaks off leaves nothing.
func (s *session) take(ctx context.Context, st statement, params map[string]string, data *body) (chdb.Stats, error) {
	ins, err := s.Insert([]byte(st.insert), st.format, params)
	if err != nil {
		return chdb.Stats{}, err
	}
	over := false
	defer func() {
		if !over {
			ins.Cancel()
		}
	}()
	buf := make([]byte, appendSize)
	for {
		n, done, err := data.fill(buf)
		if err != nil {
			return chdb.Stats{}, err
		}
		if err := ctx.Err(); err != nil {
			return chdb.Stats{}, err
		}
		if _, err := ins.Write(buf[:n]); err != nil {
			return chdb.Stats{}, err
		}
		if done {
			over = true
			return ins.Done()
		}
	}
}
