package aap

import (
	"context"
	"net/http"
	"net/url"

	"github.com/faultline-io/faultline/provisioner/provider"
)

// template is what can be launched.
type template struct {
	id   int64
	kind string
}

func (c *Controller) templateName(operation string) string {
	verb := "create"
	if operation == provider.Deprovision {
		verb = "delete"
	}
	return c.config.Prefix + "-" + verb + "-compute-instance"
}

// template finds a template by name, among the job templates first. Only the controller's own answer
// that there is none makes it missing: an error on the way is that error.
func (c *Controller) template(ctx context.Context, name string) (template, error) {
	c.mu.Lock()
	t, known := c.templates[name]
	c.mu.Unlock()
	if known {
		return t, nil
	}
	for _, kind := range []string{kindJob, kindWorkflow} {
		var page struct {
			Results []struct {
				ID   int64  `json:"id"`
				Name string `json:"name"`
			} `json:"results"`
		}
		if err := c.caller.Call(ctx, "find template "+name, http.MethodGet, "/v2/"+kind+"_templates/?name="+url.QueryEscape(name), nil, &page); err != nil {
			return template{}, err
		}
		for _, r := range page.Results {
			if r.Name == name && r.ID > 0 {
				t := template{r.ID, kind}
				c.mu.Lock()
				c.templates[name] = t
				c.mu.Unlock()
				return t, nil
			}
		}
	}
	return template{}, &provider.Failure{Op: "find template " + name, Kind: provider.TemplateMissing, Detail: "no job template and no workflow job template has this name"}
}

func (c *Controller) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.templates, name)
}
