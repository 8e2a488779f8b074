package kubeobject_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/kubeobject"
)

// object is one with these further fields.
func object(kind, fields string) string {
	return `{"apiVersion":"v1","kind":"` + kind + `","metadata":{"name":"x","uid":"1","resourceVersion":"2"},` + fields + `}`
}

// What must not be stored does not come through, and what is needed does.
func TestWithhold(t *testing.T) {
	f := func(name, body string, kept ...string) {
		t.Helper()
		got := kubeobject.WithholdText(body)
		if strings.Contains(got, "hunter2") {
			t.Errorf("%s: stored: %s", name, got)
		}
		for _, part := range kept {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s is gone: %s", name, part, got)
			}
		}
		if again := kubeobject.WithholdText(got); again != got {
			t.Errorf("%s: not the same the second time: %s", name, again)
		}
		if !strings.HasPrefix(got, "[") && !json.Valid([]byte(got)) {
			t.Errorf("%s: no JSON: %s", name, got)
		}
	}
	f("Secret", object("Secret", `"type":"Opaque","data":{"tls.key":"hunter2"},"stringData":{"a":"hunter2"}`), `"Opaque"`, `"tls.key"`)
	f("ConfigMap", object("ConfigMap", `"data":{"config.yaml":"hunter2"},"binaryData":{"a":"hunter2"}`), `"config.yaml"`)
	f("list of Secrets", `{"apiVersion":"v1","kind":"SecretList","metadata":{},"items":[{"metadata":{"name":"a"},"data":{"k":"hunter2"}}]}`, `"a"`)
	f("watched", `{"type":"ADDED","object":`+object("Secret", `"data":{"k":"hunter2"}`)+`}`, `"ADDED"`)
	f("quoted by a controller", `{"level":"info","msg":"updated","old":`+object("Secret", `"data":{"k":"hunter2"}`)+`}`, `"updated"`)
	f("user data of a node", object("VirtualMachine", `"spec":{"volumes":[{"name":"init","cloudInitNoCloud":{"userData":"hunter2","secretRef":{"name":"u"}}}]}`), `"init"`, `"u"`)
	f("user data that stands elsewhere", object("BareMetalHost", `"spec":{"userData":{"name":"w-0","namespace":"m3"},"bmc":{"credentialsName":"w-0-bmc","address":"redfish://root:hunter2@10.0.0.1/"}}`),
		`"userData":{"name":"w-0","namespace":"m3"}`, `"w-0-bmc"`, "10.0.0.1")
	f("template parameters", object("ComputeInstance", `"spec":{"templateID":"small","templateParameters":"{\"admin\":\"hunter2\"}"}`), `"small"`)
	f("environment", object("Pod", `"spec":{"containers":[{"env":[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"MODE","value":"fast"}]}]}`), `"DB_PASSWORD"`, `"fast"`)
	f("cloud-init under any key", object("Widget", `"spec":{"boot":"#cloud-config\nusers:\n- hunter2"}`))
	f("private key under any key", object("Widget", `"spec":{"text":"-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\nrest"}`), "rest")
	f("message", object("Machine", `"status":{"message":"login with password=hunter2 refused"}`), "refused")
	f("cut off", object("Secret", `"data":{"k":"hunter2`)[:90]+`"data":{"k":"hunter2`)
	f("two in one", object("Pod", `"a":1`)+object("Secret", `"data":{"k":"hunter2"}`))
	applied := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":\"hunter2\"}"},
		"managedFields":[{"manager":"kubectl","operation":"Update","time":"2026-02-12T09:58:00Z","fieldsV1":{"f:hunter2":{}}}]}}`
	f("annotation and writers", applied, `"kubectl"`, `"2026-02-12T09:58:00Z"`)
}

// What is no object, and an object without anything to withhold, come back to the byte.
func TestWithholdsNothingElse(t *testing.T) {
	for _, body := range []string{
		"", "plain", `{"msg":"password=secret"}`, `{"apiVersion":"v1","metadata":{},"password":"x"}`, `{ "broken`,
		object("Pod", `"spec":{"automountServiceAccountToken":false,"token":{"expirationSeconds":3600},"n":12345678901234567890,"html":"<a&b>"}`),
	} {
		if d := cmp.Diff(body, kubeobject.WithholdText(body)); d != "" {
			t.Error(d)
		}
	}
}

// The events of an object are the same before and after.
func TestEventsOutliveWithholding(t *testing.T) {
	p := load(t, "osac")
	text := instance("MODIFIED", "osac.openshift.io", `,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}`,
		`{"phase":"Failed","jobs":[{"id":"7","type":"provision","state":"Failed","message":"token=abc refused"}]}`)
	before, _ := p.Objects().Derive(body(text))
	after, _ := p.Objects().Derive(body(kubeobject.WithholdText(text)))
	if d := cmp.Diff(before, after); d != "" || len(before) == 0 {
		t.Error(d)
	}
}

func FuzzWithhold(f *testing.F) {
	f.Add(object("Secret", `"data":{"k":"v"}`))
	f.Add(`{"type":"ADDED","object":` + object("Pod", `"spec":{"env":[{"name":"TOKEN","value":"v"}]}`) + `}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := kubeobject.WithholdText(text)
		if again := kubeobject.WithholdText(got); again != got {
			t.Errorf("%q, then %q", got, again)
		}
	})
}
