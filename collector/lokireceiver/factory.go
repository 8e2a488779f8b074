package lokireceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/confignet"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
)

// Type is the name of the component in a configuration.
var Type = component.MustNewType("faultline_loki")

// NewFactory gives the factory of the receiver.
func NewFactory() receiver.Factory {
	return receiver.NewFactory(Type, createDefaultConfig, receiver.WithLogs(createLogs, component.StabilityLevelBeta))
}

func createDefaultConfig() component.Config {
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr = confignet.NewDefaultAddrConfig()
	server.NetAddr.Transport = confignet.TransportTypeTCP
	server.NetAddr.Endpoint = "127.0.0.1:3100"
	server.MaxRequestBodySize = maxBody
	return &Config{Server: server}
}

func createLogs(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
	return newReceiver(cfg.(*Config), set, next)
}
