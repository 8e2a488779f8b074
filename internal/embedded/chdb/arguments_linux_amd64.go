package chdb

import (
	"runtime"
	"unsafe"
)

// arguments are a statement, its format and its parameters as the C functions take them: pinned until release.
type arguments struct {
	pin                  runtime.Pinner
	text, format         unsafe.Pointer
	textLen, formatLen   uintptr
	names, values        []*byte
	nameLens, valueLens  []uintptr
	pNames, pValues      unsafe.Pointer
	pNameLens, pValueLen unsafe.Pointer
}

func newArguments(text []byte, format string, params map[string]string) *arguments {
	a := &arguments{textLen: uintptr(len(text)), formatLen: uintptr(len(format))}
	a.text, a.format = a.bytes(text), a.bytes([]byte(format))
	for k, v := range params {
		a.names, a.nameLens = append(a.names, (*byte)(a.bytes([]byte(k)))), append(a.nameLens, uintptr(len(k)))
		a.values, a.valueLens = append(a.values, (*byte)(a.bytes([]byte(v)))), append(a.valueLens, uintptr(len(v)))
	}
	if len(params) > 0 {
		a.pin.Pin(&a.names[0])
		a.pin.Pin(&a.values[0])
		a.pin.Pin(&a.nameLens[0])
		a.pin.Pin(&a.valueLens[0])
		a.pNames, a.pValues = unsafe.Pointer(&a.names[0]), unsafe.Pointer(&a.values[0])
		a.pNameLens, a.pValueLen = unsafe.Pointer(&a.nameLens[0]), unsafe.Pointer(&a.valueLens[0])
	}
	return a
}

// bytes pins b and returns where it starts; never NULL, which some functions take for an error.
func (a *arguments) bytes(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		b = make([]byte, 1)
	}
	p := unsafe.SliceData(b)
	a.pin.Pin(p)
	return unsafe.Pointer(p)
}

func (a *arguments) release() { a.pin.Unpin() }
