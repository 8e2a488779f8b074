package queuestorage

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// metadataKey is where the queue keeps its state: a protobuf message PersistentMetadata (exporterhelper's
// internal/queue/meta.proto). TestTheQueueKeepsItsFormat fails where another version keeps it otherwise.
const metadataKey = "qmv0"

// Fields of PersistentMetadata that matter here: all fixed64.
const (
	fieldReadIndex  = 3
	fieldDispatched = 5 // the items under way, packed
)

// resume rewrites the state that a process left behind: instead of a list of items that were under way, for the queue to
// delete and write anew, it says that reading goes on with the first of them. What lies between and was delivered is no
// longer there, and the queue passes over it. It also gives the first item's number; 0 and the message as it is where
// that has another shape.
func resume(message []byte) (resumed []byte, first uint64) {
	var out []byte
	var dispatched []uint64
	read := uint64(0)
	for rest := message; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return message, 0
		}
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if size < 0 {
			return message, 0
		}
		value := rest[n : n+size]
		switch {
		case number == fieldReadIndex && kind == protowire.Fixed64Type:
			read, _ = protowire.ConsumeFixed64(value)
		case number == fieldDispatched && kind == protowire.Fixed64Type:
			one, _ := protowire.ConsumeFixed64(value)
			dispatched = append(dispatched, one)
		case number == fieldDispatched && kind == protowire.BytesType:
			packed, _ := protowire.ConsumeBytes(value)
			for len(packed) > 0 {
				one, n := protowire.ConsumeFixed64(packed)
				if n < 0 {
					return message, 0
				}
				dispatched, packed = append(dispatched, one), packed[n:]
			}
		default:
			out = append(out, rest[:n+size]...)
		}
		rest = rest[n+size:]
	}
	if len(dispatched) == 0 {
		return message, read
	}
	for _, index := range dispatched {
		read = min(read, index)
	}
	out = protowire.AppendTag(out, fieldReadIndex, protowire.Fixed64Type)
	return protowire.AppendFixed64(out, read), read
}
