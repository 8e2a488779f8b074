// Package web is the page: TypeScript built by Vite into dist, embedded into whoever serves it. Without Node.js there is no
// build, and a placeholder says how to get one.
package web

import (
	"bytes"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed all:dist
var dist embed.FS

// policy lets the page run its own scripts and ask its own server, nothing else: what telemetry says is hostile.
//
//go:embed policy.txt
var policy string

const (
	index       = "dist/index.html"
	placeholder = "dist/placeholder.html"
)

// encodings are the forms that the build writes beside each file, the smaller first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// Built says whether the page itself is embedded.
func Built() bool {
	_, err := fs.Stat(dist, index)
	return err == nil
}

// Handler serves everything under /ui/: files of the build, and index.html for every other path, since paths are the page's own.
func Handler() http.Handler { return handler(dist) }

func handler(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", strings.TrimSpace(policy))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
			return
		}
		name := path.Clean("/" + strings.TrimPrefix(r.URL.Path, "/ui/"))[1:]
		if strings.HasPrefix(name, "assets/") {
			// A name has the hash of its content, so that it never changes; one that is not there must not become a page.
			if !serve(w, r, files, "dist/"+name, "public, max-age=31536000, immutable") {
				h.Set("Cache-Control", "no-store")
				http.NotFound(w, r)
			}
			return
		}
		if serve(w, r, files, index, "no-cache") {
			return
		}
		if !serve(w, r, files, placeholder, "no-store") {
			http.NotFound(w, r)
		}
	})
}

// serve writes a file in the best form that the caller takes, and says whether there is one.
func serve(w http.ResponseWriter, r *http.Request, files fs.FS, name, caching string) bool {
	plain, err := fs.ReadFile(files, name)
	if err != nil {
		return false
	}
	h := w.Header()
	h.Set("Cache-Control", caching)
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Add("Vary", "Accept-Encoding")
	for _, e := range encodings {
		if !accepts(r, e.name) {
			continue
		}
		if small, err := fs.ReadFile(files, name+e.suffix); err == nil {
			h.Set("Content-Encoding", e.name)
			h.Set("Content-Length", strconv.Itoa(len(small)))
			if r.Method == http.MethodGet {
				_, _ = w.Write(small) // the caller is gone: nobody to tell
			}
			return true
		}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(plain))
	return true
}

func accepts(r *http.Request, encoding string) bool {
	for _, one := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(one), ";")
		if name == encoding {
			return strings.ReplaceAll(q, " ", "") != "q=0"
		}
	}
	return false
}
