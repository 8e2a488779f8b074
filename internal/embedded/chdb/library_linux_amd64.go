package chdb

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a loaded libchdb. Function fields are the C functions of the same name (chdb.h of chdb-core 26.7).
type Library struct {
	connect     func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	closeConn   func(conn unsafe.Pointer)
	query       func(conn uintptr, q unsafe.Pointer, qn uintptr, f unsafe.Pointer, fn uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	streamQuery func(conn uintptr, q unsafe.Pointer, qn uintptr, f unsafe.Pointer, fn uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	fetch       func(conn, stream uintptr) uintptr
	cancelQuery func(conn, stream uintptr)
	insert      func(conn uintptr, q unsafe.Pointer, qn uintptr, f unsafe.Pointer, fn uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) uintptr
	appendData  func(stream uintptr, p unsafe.Pointer, n uintptr) int32
	done        func(stream uintptr) uintptr
	cancelIns   func(stream uintptr)
	insertError func(stream uintptr) string
	destroyIns  func(stream uintptr)
	classify    func(conn uintptr, q unsafe.Pointer, qn uintptr, db unsafe.Pointer, dbn uintptr, out unsafe.Pointer) int32

	destroy      func(result uintptr)
	buffer       func(result uintptr) unsafe.Pointer
	length       func(result uintptr) uintptr
	resultError  func(result uintptr) string
	resultRows   func(result uintptr) uint64
	resultBytes  func(result uintptr) uint64
	storageRows  func(result uintptr) uint64
	storageBytes func(result uintptr) uint64
	rowsWritten  func(result uintptr) uint64
	bytesWritten func(result uintptr) uint64

	setSignals func(enabled int32)
	shutdown   func() int32
	version    func() string
	sigaction  func(sig int32, act, old unsafe.Pointer) int32
}

// Load opens the library at path and keeps it from installing signal handlers. Call it once per process:
// the engine can't be unloaded.
func Load(path string) (*Library, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		return nil, fmt.Errorf("load libc: %w", err)
	}
	l := &Library{}
	var errs []error
	bind := func(handle uintptr, name string, fn any) {
		p, err := purego.Dlsym(handle, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("symbol %s: %w", name, err))
			return
		}
		purego.RegisterFunc(fn, p)
	}
	bind(libc, "sigaction", &l.sigaction)
	for name, fn := range map[string]any{
		"chdb_connect": &l.connect, "chdb_close_conn": &l.closeConn,
		"chdb_query_with_params_n":        &l.query,
		"chdb_stream_query_with_params_n": &l.streamQuery, "chdb_stream_fetch_result": &l.fetch, "chdb_stream_cancel_query": &l.cancelQuery,
		"chdb_stream_insert_with_params_n": &l.insert, "chdb_stream_append": &l.appendData, "chdb_stream_done": &l.done,
		"chdb_stream_cancel_insert": &l.cancelIns, "chdb_stream_insert_error": &l.insertError, "chdb_destroy_insert_stream": &l.destroyIns,
		"chdb_classify_query_n":     &l.classify,
		"chdb_destroy_query_result": &l.destroy, "chdb_result_buffer": &l.buffer, "chdb_result_length": &l.length,
		"chdb_result_error": &l.resultError, "chdb_result_rows_read": &l.resultRows, "chdb_result_bytes_read": &l.resultBytes,
		"chdb_result_storage_rows_read": &l.storageRows, "chdb_result_storage_bytes_read": &l.storageBytes,
		"chdb_result_rows_written": &l.rowsWritten, "chdb_result_bytes_written": &l.bytesWritten,
		"chdb_set_signal_handlers_enabled": &l.setSignals, "chdb_shutdown": &l.shutdown, "chdb_version": &l.version,
	} {
		bind(lib, name, fn)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("bind %s: %w", path, err)
	}
	// Before the first connection, or a recovered nil dereference in Go hangs the process.
	h := l.handlers()
	l.setSignals(0)
	l.restore(h)
	return l, nil
}

// Version returns the library's version, "26.7.0".
func (l *Library) Version() string { return l.version() }

// Shutdown joins the engine's threads. Every connection must be closed. No connection can be opened afterwards.
func (l *Library) Shutdown() error {
	if l.shutdown() != 0 {
		return errors.New("shut the engine down: a connection is still open, or a thread did not stop")
	}
	return nil
}

// Connect opens a session. Server options ("--path=…", "--config-file=…") count in the first call only; query settings
// ("--max_threads=2") hold for the connection.
func (l *Library) Connect(args ...string) (*Conn, error) {
	args = append([]string{"clickhouse"}, args...)
	var pin runtime.Pinner
	defer pin.Unpin()
	argv := make([]*byte, len(args)+1) // ends in NULL as main's does
	for i, a := range args {
		b := append([]byte(a), 0)
		argv[i] = &b[0]
		pin.Pin(argv[i])
	}
	pin.Pin(&argv[0])
	h := l.handlers()
	p := l.connect(int32(len(args)), unsafe.Pointer(&argv[0]))
	l.restore(h)
	if p == nil {
		return nil, errors.New("connect to the engine: refused (its own message is on standard error)")
	}
	return &Conn{lib: l, p: p}, nil
}
