package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/faultline-io/faultline/internal/service"
)

// socketFile in the data folder says where a running lab takes orders, and with which token.
const socketFile = "control.json"

type socketNote struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

// ErrNoLab is the error of an order that no lab is there to take.
var ErrNoLab = errors.New("no lab is running")

// On is a fault that is on.
type On struct {
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
	Nodes []string  `json:"nodes,omitempty"`
	Way   string    `json:"way,omitempty"` // how it is made, where there is more than one way
}

// Order is a wish for a fault.
type Order struct {
	Name string        `json:"name"`
	Pool string        `json:"pool,omitempty"`
	For  time.Duration `json:"for,omitempty"` // 0: until it is healed
}

// Lived is what the lab knows of an allocation: how its story went, and which fault it met.
type Lived struct {
	AllocationID string    `json:"allocation_id"`
	Story        string    `json:"story"`
	Began        time.Time `json:"began"`
	Ended        time.Time `json:"ended"` // zero: it goes on
	AsWritten    bool      `json:"as_written"`
	Told         bool      `json:"told"`  // the story itself is one of trouble
	Fault        string    `json:"fault"` // that it met; "": none
	Since        time.Time `json:"since"` // when that was made
	Faults       int       `json:"faults"`
	Cost         bool      `json:"cost"`   // it lost a request, its end, or time
	Late         bool      `json:"late"`   // it takes, or took, longer than such stories do
	Failed       int       `json:"failed"` // requests of its client that were not answered as they should
}

// takeOrders opens the control socket; the returned function serves orders until ctx ends.
func (l *lab) takeOrders(ctx context.Context) (func() error, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	note := socketNote{URL: "http://" + listener.Addr().String(), Token: rand.Text(), PID: os.Getpid()}
	text, err := json.Marshal(note)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(l.config.Data, socketFile)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("write %s: %w", socketFile, err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+note.Token {
			http.Error(w, "the token is in "+socketFile+" of the lab's data folder", http.StatusUnauthorized)
			return
		}
		l.orders().ServeHTTP(w, r)
	})
	return func() error {
		defer func() { _ = os.Remove(path) }()
		return service.ServeOn(ctx, listener, handler, grace)
	}, nil
}

func (l *lab) orders() http.Handler {
	m := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	m.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { answer(w, l.ons(), nil) })
	m.HandleFunc("GET /lives", func(w http.ResponseWriter, _ *http.Request) { answer(w, l.lived(), nil) })
	m.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		var o Order
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&o); err != nil {
			answer(w, nil, err)
			return
		}
		i, err := l.Inject(o.Name, o.Pool, o.For)
		if err != nil {
			answer(w, nil, err)
			return
		}
		answer(w, l.shown(i), nil)
	})
	m.HandleFunc("POST /interruptions", func(w http.ResponseWriter, r *http.Request) {
		var i Interruption
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&i)
		if err == nil {
			err = l.Interrupt(i)
		}
		answer(w, struct{}{}, err)
	})
	m.HandleFunc("DELETE /interruptions", func(w http.ResponseWriter, _ *http.Request) { answer(w, struct{}{}, l.Resume()) })
	m.HandleFunc("DELETE /faults", func(w http.ResponseWriter, r *http.Request) {
		answer(w, struct{}{}, l.Heal(r.URL.Query().Get("name")))
	})
	return m
}

func (l *lab) ons() []On {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []On{}
	for _, i := range l.faults.injections {
		if i.to.IsZero() {
			out = append(out, l.shown(i))
		}
	}
	return out
}

// shown is an injection as orders are answered.
func (l *lab) shown(i *injection) On {
	on := On{Name: i.fault.Name, Since: i.from, Nodes: i.target.nodes}
	if i.fault.way != nil {
		on.Way = i.fault.way(l, i.target)
	}
	return on
}

func (l *lab) lived() []Lived {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []Lived{}
	for _, v := range l.lives {
		i, cost, n := l.injected(v)
		one := Lived{
			AllocationID: v.id, Story: v.story.name, Began: v.began, Ended: v.ended, AsWritten: v.end == v.story.end, Told: v.story.layer != "",
			Faults: n, Cost: cost, Failed: len(v.failed), Late: v.late(v.began, l.config.scaled(normalLife)),
		}
		if i != nil {
			one.Fault, one.Since = i.fault.Name, i.from
		}
		out = append(out, one)
	}
	return out
}

// Remote gives orders to a running lab.
type Remote struct {
	note   socketNote
	client http.Client
}

// Dial finds the lab that keeps its data in a folder. ErrNoLab if none runs there.
func Dial(data string) (*Remote, error) {
	text, err := os.ReadFile(filepath.Join(data, socketFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w with its data in %s: start one with faultline up, or name its folder with --data", ErrNoLab, data)
	}
	if err != nil {
		return nil, err
	}
	r := &Remote{client: http.Client{Timeout: 30 * time.Second}}
	if err := json.Unmarshal(text, &r.note); err != nil {
		return nil, fmt.Errorf("read %s: %w", socketFile, err)
	}
	return r, nil
}

// Inject turns a fault on.
func (r *Remote) Inject(ctx context.Context, o Order) (on On, err error) {
	return on, r.do(ctx, http.MethodPost, "/faults", o, &on)
}

// Heal ends a fault; "" ends all.
func (r *Remote) Heal(ctx context.Context, name string) error {
	return r.do(ctx, http.MethodDelete, "/faults?name="+url.QueryEscape(name), nil, nil)
}

// Interrupt interrupts a part until Resume.
func (r *Remote) Interrupt(ctx context.Context, i Interruption) error {
	return r.do(ctx, http.MethodPost, "/interruptions", i, nil)
}

// Resume ends all interruptions.
func (r *Remote) Resume(ctx context.Context) error {
	return r.do(ctx, http.MethodDelete, "/interruptions", nil, nil)
}

// On lists the faults that are on.
func (r *Remote) On(ctx context.Context) (all []On, err error) {
	return all, r.do(ctx, http.MethodGet, "/faults", nil, &all)
}

// Lives lists the allocations that the lab has made since it runs.
func (r *Remote) Lives(ctx context.Context) (all []Lived, err error) {
	return all, r.do(ctx, http.MethodGet, "/lives", nil, &all)
}

func (r *Remote) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.note.URL+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.note.Token)
	answer, err := r.client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: the one with process id %d is gone", ErrNoLab, r.note.PID)
	}
	if err != nil {
		return fmt.Errorf("ask the lab: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("read the lab's answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(string(bytes.TrimSpace(text)))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// Close ends the connections to the lab.
func (r *Remote) Close() { r.client.CloseIdleConnections() }
