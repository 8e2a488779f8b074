package lab

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/faultline-io/faultline/internal/config"
)

// settings are the configuration of the tenants' API, as its file has it.
type settings struct {
	Region string `yaml:"region"`
	Quota  struct {
		URL string `yaml:"url"` // whom newer versions ask whether a tenant may have more
	} `yaml:"quota"`
}

// settingsFile lies in the lab's data folder. What somebody has changed there stays.
const settingsFile = "api.yaml"

const firstSettings = "# The tenants' API of the lab. Version " + badVersion + " also wants quota.url.\nregion: east\n"

func writeSettings(data string) error {
	path := filepath.Join(data, settingsFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, []byte(firstSettings), 0o600)
}

func readSettings(data string) (settings, error) {
	return config.Load(filepath.Join(data, settingsFile), settings{})
}

var errNoQuota = errors.New("quota.url is not configured")

// checkQuota is what version badVersion does before it changes something.
func (s settings) checkQuota(ctx context.Context, client *http.Client) error {
	if s.Quota.URL == "" {
		return errNoQuota
	}
	_, err := hop{client, s.Quota.URL}.do(ctx, http.MethodGet, "", nil, nil, nil)
	return err
}
