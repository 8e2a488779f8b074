package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/k8sattributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"

	"github.com/faultline-io/faultline/processors/identityprocessor"
)

// Names of the contenders.
const (
	attributes    = "attributes, 3 constants"
	transform     = "transform, 3 statements"
	transformBody = "transform, 1 body regexp"
	stampsThree   = "identity, 1 carried, 3 stamped"
	stampsOne     = "identity, 3 carried, 1 stamped"
	withoutLine   = "identity, the same without lines"
	onResource    = "identity, 3 on the resource"
	openstack     = "identity, openstack patterns"
	kubernetes    = "k8sattributes, 3 of a pod"
	resourceTask  = "identity, 1 on the resource, 3 stamped"
)

// contest are contenders that are measured in turn, and the ratios that are asked for.
type contest struct {
	name       string
	contenders []*contender
	ratios     []ratio
}

// ratio of the time of ours to theirs; target is the most that is wanted, "" where nothing is.
type ratio struct{ ours, theirs, target string }

func contests() []contest {
	out := []contest{stamping(), patterns()}
	for _, each := range []int{1, 10, records} {
		out = append(out, resources(each))
	}
	return out
}

// stamping: identifiers on the records.
func stamping() contest {
	insert := func(key, value string) any {
		return map[string]any{"key": key, "value": value, "action": "insert"}
	}
	attrs, trans, ident := attributesprocessor.NewFactory(), transformprocessor.NewFactory(), identityprocessor.NewFactory()
	return contest{
		name: "identifiers on the records",
		contenders: []*contender{
			{name: attributes, factory: attrs, data: carriesOne, config: map[string]any{"actions": []any{
				insert("allocation_id", "a-000001"), insert("workflow_id", "w-000001"), insert("node_id", "n-000001"),
			}}},
			{name: transform, factory: trans, data: carriesOne, config: statements(
				`set(attributes["allocation_id"], "a-000001")`, `set(attributes["workflow_id"], resource.attributes["service.namespace"])`,
				`set(attributes["node_id"], "n-000001") where attributes["http.response.status_code"] == 200`)},
			{name: stampsThree, factory: ident, learn: links, data: carriesOne},
			{name: stampsOne, factory: ident, learn: links, data: carriesThree},
			{name: withoutLine, factory: ident, learn: links, data: without(carriesThree)},
			{name: onResource, factory: ident, learn: links, data: carriesNone},
		},
		ratios: []ratio{
			{stampsOne, attributes, "0.50"}, {stampsThree, attributes, "0.50"}, {stampsThree, transform, "0.33"}, {stampsOne, transform, "0.33"},
			{withoutLine, attributes, "0.50"}, {withoutLine, transform, "0.33"}, {onResource, attributes, ""},
		},
	}
}

// patterns: identifiers in the text.
func patterns() contest {
	return contest{
		name: "identifiers in the text",
		contenders: []*contender{
			{name: transformBody, factory: transformprocessor.NewFactory(), data: lines, config: statements(
				`merge_maps(attributes, ExtractPatterns(body, "(?P<request_id>req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"), "insert")`)},
			{name: openstack, factory: identityprocessor.NewFactory(), data: lines, config: map[string]any{"profile": "openstack"}},
		},
		ratios: []ratio{{openstack, transformBody, "0.50"}},
	}
}

// resources: identifiers on the resources, each with so many records. k8sattributes looks a resource up
// once, whatever hangs on it, and adds to it what is true now; ours asks for every record, whose time
// decides.
func resources(each int) contest {
	ident := identityprocessor.NewFactory()
	three := sync.OnceValue(pods(each, allKeys)) // both read the same batches
	return contest{
		name: fmt.Sprintf("identifiers on the resources, %d records on each, %d different in turn", each, records*batches/each),
		contenders: []*contender{
			{name: kubernetes, factory: k8sattributesprocessor.NewFactory(), data: three, config: map[string]any{
				"auth_type": "kubeConfig", "wait_for_metadata": true, "wait_for_metadata_timeout": 2 * time.Minute,
				"extract":         map[string]any{"metadata": []any{"k8s.pod.name", "k8s.namespace.name", "k8s.node.name"}},
				"pod_association": []any{map[string]any{"sources": []any{map[string]any{"from": "resource_attribute", "name": "k8s.pod.uid"}}}},
			}},
			{name: onResource, factory: ident, learn: links, data: three},
			{name: resourceTask, factory: ident, learn: links, data: pods(each, taskKey)},
		},
		ratios: []ratio{{onResource, kubernetes, "1.20"}, {resourceTask, kubernetes, ""}},
	}
}

func statements(list ...any) map[string]any {
	return map[string]any{"error_mode": "ignore", "log_statements": []any{map[string]any{"context": "log", "statements": list}}}
}

// hold measures a contest, one contender after the other in every round, so that a busy moment hits all
// alike.
func (c contest) hold(rounds int, length time.Duration) error {
	for _, one := range c.contenders {
		if err := one.open(); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	for range rounds {
		for _, one := range c.contenders {
			if err := one.measure(length); err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
		}
	}
	for _, one := range c.contenders {
		if err := one.close(); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}
