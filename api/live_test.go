package api_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/faultline-io/faultline/api/web"
)

// incidentStages are an allocation, what happens to it, and how that ends.
var incidentStages = map[string]string{
	"before": `
10:00:00    api           allocation.state allocation_id=a-live tenant=blue to=requested
10:00:00.3  provisioner   workflow.state allocation_id=a-live workflow_id=w-live operation=provision to=running
10:00:00.4  provisioner   node.assigned allocation_id=a-live node_id=n-9
10:00:00.5  provisioner   allocation.state allocation_id=a-live from=reserved to=provisioning
10:00:00.6  provisioner   task.state task_id=k-live workflow_id=w-live node_id=n-9 type=prepare to=queued
`,
	"trouble": `
10:00:00    ingress-proxy error tls.client.subject=CN=n-9 | client certificate of CN=n-9 refused: x509: certificate has expired or is not yet valid
10:00:01    provisioner   task.state task_id=k-live workflow_id=w-live node_id=n-9 type=prepare to=expired
`,
	"healing": `
10:00:00    provisioner   task.state task_id=k-live-2 workflow_id=w-live node_id=n-9 type=prepare to=queued
10:00:00.4  provisioner   task.state task_id=k-live-2 workflow_id=w-live node_id=n-9 type=prepare to=claimed
10:00:00.9  provisioner   task.state task_id=k-live-2 workflow_id=w-live node_id=n-9 type=prepare to=succeeded
10:00:01    provisioner   workflow.state allocation_id=a-live workflow_id=w-live operation=provision to=succeeded
10:00:01.1  provisioner   allocation.state allocation_id=a-live from=provisioning to=active
`,
}

// An open page of an allocation and the first page follow an incident from its beginning to its end, by themselves.
func TestPagesFollowAnIncident(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: a browser and a correlator; the page is NOT tested live")
	}
	if _, err := exec.LookPath("node"); err != nil {
		skip(t, "SKIPPED: no node; the page is NOT tested live")
	}
	if !web.Built() {
		skip(t, "SKIPPED: the page is not built (make page); it is NOT tested live")
	}
	if _, err := os.Stat("web/node_modules/.package-lock.json"); err != nil {
		skip(t, "SKIPPED: the page's packages are not installed (make page); it is NOT tested live")
	}
	there := false
	for _, path := range []string{os.Getenv("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(path); path != "" && err == nil {
			there = true
		}
	}
	if !there {
		skip(t, "SKIPPED: no chromium (Debian: apt-get install chromium); the page is NOT tested live")
	}
	p := newPlatform(t, incidentStages["before"])
	p.settled(t, "a-live", `"outcome":"none"`)
	stage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tale, known := incidentStages[r.URL.Path[1:]]
		if !known {
			http.NotFound(w, r)
			return
		}
		p.write(tale)
	}))
	defer stage.Close()
	cmd := exec.CommandContext(t.Context(), "node", "--import", "tsx", "test/live/incident.ts", p.URL, stage.URL, p.tokens["all"])
	cmd.Dir = "web"
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	must(t, err)
}

// skip says what is lacking; in continuous integration, which installs it, that is a failure.
func skip(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
