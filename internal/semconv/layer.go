package semconv

// Layers of the default profile. A profile may bring its own list; rules of the default family name
// these.
const (
	LayerClient     = "client"
	LayerDeploy     = "deploy"
	LayerCert       = "cert"
	LayerNetwork    = "network"
	LayerIngress    = "ingress"
	LayerAPIAuth    = "api_auth"
	LayerAPI        = "api"
	LayerDB         = "db"
	LayerOutbox     = "outbox"
	LayerWorkflow   = "workflow"
	LayerProvider   = "provider"
	LayerNodeAgent  = "node_agent"
	LayerNode       = "node"
	LayerProjection = "projection"
)
