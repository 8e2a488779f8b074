package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// cluster is a stub of a Kubernetes API server that knows pods, as many as the bench has keys, each on
// a node and with a UID. It lists and watches as client-go asks it to: one list, or a watch that
// begins with what there is and a bookmark; then nothing ever changes.
type cluster struct {
	server *httptest.Server
	folder string
}

// openCluster starts the stub and points client-go's default configuration at it.
func openCluster() (*cluster, error) {
	c := &cluster{server: httptest.NewServer(http.HandlerFunc(serve))}
	var err error
	if c.folder, err = os.MkdirTemp("", "faultline-bench-"); err != nil {
		return nil, err
	}
	file := filepath.Join(c.folder, "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: stub
clusters: [{name: stub, cluster: {server: %q}}]
contexts: [{name: stub, context: {cluster: stub, user: stub}}]
users: [{name: stub, user: {}}]
`, c.server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return c, os.Setenv("KUBECONFIG", file)
}

func (c *cluster) close() {
	c.server.CloseClientConnections()
	c.server.Close()
	_ = os.RemoveAll(c.folder)
}

// podUID is the UID of the i-th pod, as Kubernetes writes them.
func podUID(i int) string { return fmt.Sprintf("b9000564-fe1a-409b-b8cc-%012x", i) }

func pod(i int) corev1.Pod {
	return corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("checkout-5d8f7c9b6-%05d", i), Namespace: fmt.Sprintf("shop-%d", i/1000), UID: types.UID(podUID(i)),
			ResourceVersion: "1", CreationTimestamp: metav1.NewTime(start), Labels: map[string]string{"app": "checkout"},
		},
		Spec: corev1.PodSpec{NodeName: fmt.Sprintf("n-%06d", i/10), Containers: []corev1.Container{{Name: "main", Image: "shop/checkout:1.2.3"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255),
			PodIPs: []corev1.PodIP{{IP: fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)}},
		},
	}
}

func serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	q, out := r.URL.Query(), json.NewEncoder(w)
	pods := strings.HasSuffix(r.URL.Path, "/pods")
	switch {
	case q.Get("watch") != "":
		if pods && q.Get("sendInitialEvents") == "true" {
			for i := range records * batches {
				p := pod(i)
				_ = out.Encode(metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Object: &p}})
			}
			_ = out.Encode(metav1.WatchEvent{Type: "BOOKMARK", Object: runtime.RawExtension{Object: &corev1.Pod{
				TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
				ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}},
			}}})
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case pods:
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
		for i := range records * batches {
			list.Items = append(list.Items, pod(i))
		}
		_ = out.Encode(list)
	default:
		_ = out.Encode(metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"},
		})
	}
}
