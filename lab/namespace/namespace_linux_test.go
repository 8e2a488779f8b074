package namespace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the process that is killed with a network open, and the one that has no rights.
func TestMain(m *testing.M) {
	if as := os.Getenv("NAMESPACE_CHILD"); as != "" {
		if as == "nobody" {
			_ = syscall.Setuid(65534)
		}
		n, err := Open()
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(0)
		}
		fmt.Println(n.Name())
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// open gives a network with an echo server at the gateway, or skips where this user may not make one.
func open(t *testing.T) (n *Network, address string) {
	t.Helper()
	n, err := Open()
	if errors.Is(err, os.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("SKIPPED, nothing is tested: network namespaces take root's rights: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if links := strings.Join(interfaces(t), " "); strings.Contains(links, n.Name()) {
			t.Errorf("%s is still there: %s", n.Name(), links)
		}
	})
	l, err := net.Listen("tcp", n.Gateway().String()+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	return n, l.Addr().String()
}

func interfaces(t *testing.T) (names []string) {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}

// echoes says what becomes of three bytes.
func echoes(c net.Conn) error {
	if _, err := c.Write([]byte("abc")); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 3))
	return err
}

// On a network that is cut, the kernel says that dials and connections time out; mended, it is as before.
func TestCutAndMend(t *testing.T) {
	t.Parallel()
	n, address := open(t)
	dial := func() net.Conn {
		t.Helper()
		c, err := n.Dial(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if err := echoes(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	speaking, silent := dial(), dial()
	if host, _, _ := net.SplitHostPort(speaking.LocalAddr().String()); host != n.self.String() {
		t.Errorf("the connection comes from %s, not from inside (%s)", host, n.self)
	}
	if err := n.Cut(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		began := time.Now()
		if _, err := n.Dial(t.Context(), "tcp", address); !errors.Is(err, syscall.ETIMEDOUT) || !strings.Contains(err.Error(), "connect: connection timed out") {
			t.Errorf("dial: %v, want the kernel's word for a timeout", err)
		}
		if took := time.Since(began); took < patience/2 {
			t.Errorf("a dial failed after %s: packets are not dropped", took)
		}
	})
	all.Go(func() {
		if err := echoes(speaking); !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("a connection in use: %v", err)
		}
	})
	all.Go(func() {
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("a connection that waits: %v", err)
		}
	})
	all.Wait()
	if err := n.Mend(); err != nil {
		t.Fatal(err)
	}
	dial()
}

// A thread that was inside is back when a dial is over, whichever goroutine has it next. What is home is read
// from this test's own thread: /proc/self is the process's first thread, which may be inside for another test's dial.
func TestThreadsComeBack(t *testing.T) {
	t.Parallel()
	home, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	n, address := open(t)
	for range 20 {
		c, err := n.Dial(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	done := make(chan error)
	for range 50 {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			own, err := os.Readlink("/proc/thread-self/ns/net")
			if err == nil && own != home {
				err = fmt.Errorf("a thread is in %s, the process in %s", own, home)
			}
			time.Sleep(time.Millisecond)
			done <- err
		}()
	}
	for range 50 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Networks share no address, and the namespace sees nothing of this machine but the gateway.
func TestApart(t *testing.T) {
	t.Parallel()
	a, _ := open(t)
	b, atB := open(t)
	if a.Gateway() == b.Gateway() || a.Name() == b.Name() {
		t.Errorf("%s %s and %s %s", a.Name(), a.Gateway(), b.Name(), b.Gateway())
	}
	if _, err := a.Dial(t.Context(), "tcp", atB); !errors.Is(err, syscall.ENETUNREACH) {
		t.Errorf("from one network into another: %v", err)
	}
}

func child(t *testing.T, as string) (first string, kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "NAMESPACE_CHILD="+as)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = in.Close()
	}
	t.Cleanup(kill)
	first, _ = bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(first), kill
}

// The kernel takes everything away when the process is killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	open(t)
	name, kill := child(t, "root")
	if !strings.Contains(strings.Join(interfaces(t), " "), name) {
		t.Fatalf("there is no %q", name)
	}
	kill()
	for deadline := time.Now().Add(time.Minute); strings.Contains(strings.Join(interfaces(t), " "), name); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s has outlived its process by a minute", name)
		}
	}
}

// Without rights, the error says what could not be made.
func TestNoRights(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can become somebody else")
	}
	said, _ := child(t, "nobody")
	if want := "error: make network namespace: operation not permitted"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
}
