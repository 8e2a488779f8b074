package service

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Certificates tells Prometheus until when the certificates are good that a process shows to its callers. They are read anew for each
// scrape: what was renewed counts.
type Certificates struct {
	desc  *prometheus.Desc
	until map[string]func() (time.Time, error)
}

// NewCertificates knows none yet.
func NewCertificates() *Certificates {
	return &Certificates{
		prometheus.NewDesc("faultline_certificate_expiry_timestamp_seconds", "When a certificate that this process shows to its callers expires; 0 where it cannot be read.", []string{"certificate"}, nil),
		map[string]func() (time.Time, error){},
	}
}

// Add takes one by its name. A zero time is none.
func (c *Certificates) Add(name string, until func() (time.Time, error)) { c.until[name] = until }

// Describe implements prometheus.Collector.
func (c *Certificates) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect implements prometheus.Collector.
func (c *Certificates) Collect(out chan<- prometheus.Metric) {
	for name, until := range c.until {
		at, err := until()
		if err == nil && at.IsZero() {
			continue
		}
		value := 0.0
		if err == nil {
			value = float64(at.Unix())
		}
		out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, value, name)
	}
}
