package lokireceiver

import (
	"errors"

	"go.opentelemetry.io/collector/config/confighttp"
)

// Config of the receiver.
type Config struct {
	// Server has endpoint, tls, auth, max_request_body_size (also of what a body unpacks to), cors …
	Server confighttp.ServerConfig `mapstructure:",squash"`
}

// maxBody is Loki's own default for what a push may unpack to.
const maxBody = 100 << 20

// Validate names the key that is wrong.
func (c *Config) Validate() error {
	var errs []error
	if c.Server.NetAddr.Endpoint == "" {
		errs = append(errs, errors.New("endpoint: it is needed, such as 0.0.0.0:3100"))
	}
	if c.Server.MaxRequestBodySize < 0 {
		errs = append(errs, errors.New("max_request_body_size: it is negative"))
	}
	return errors.Join(errs...)
}
