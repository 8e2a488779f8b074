// Package queuestorage keeps the queues of exporters on disk: the Collector's own file storage, made safe where the
// queue above it is not. The queue (exporterhelper) drops an item when it cannot note on disk that the item is under
// way, and after a restart moves what was under way by deleting it first and writing it anew; on a full disk, or killed
// between the two, it loses what was acknowledged. Here
//
//   - an item is handed out although that could not be noted: at worst it is delivered twice, and counted once by its key;
//   - what was under way at the end of a process is read again where it lies, instead of being moved;
//   - what was delivered and could not be deleted is deleted with a later write;
//   - an item is taken only while the disk has room to spare, so that notes and deletions always find some.
//
// A receiver that keeps its positions here has them written one step late, so that none is ahead of what was handed on.
package queuestorage
