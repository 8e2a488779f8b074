package chhttp

import (
	"encoding/binary"

	"github.com/ClickHouse/ch-go/proto"
)

// column is one column of a block that we write ourselves.
type column struct {
	name, typ string
	put       func(*proto.Buffer)
}

// block encodes a Native block for a client of the revision; 0 is the bare form that the engine writes.
func block(revision, rows int, columns []column) []byte {
	var b proto.Buffer
	if revision > 0 {
		proto.BlockInfo{BucketNum: -1}.Encode(&b)
	}
	b.PutInt(len(columns))
	b.PutInt(rows)
	for _, c := range columns {
		b.PutString(c.name)
		b.PutString(c.typ)
		if revision >= int(proto.FeatureCustomSerialization) {
			b.PutBool(false)
		}
		if rows > 0 {
			c.put(&b)
		}
	}
	return b.Buf
}

// hello answers the driver's handshake query. The engine writes blocks of revision 0, and the driver reads with the
// revision that it is told here.
func hello(revision int, version string) []byte {
	text := func(v string) func(*proto.Buffer) { return func(b *proto.Buffer) { b.PutString(v) } }
	return block(revision, 1, []column{
		{"displayName()", "String", text(displayName)},
		{"version()", "String", text(version)},
		{"revision()", "UInt32", func(b *proto.Buffer) { b.Buf = binary.LittleEndian.AppendUint32(b.Buf, 0) }},
		{"timezone()", "String", text("UTC")},
	})
}
