package embeddedtest

import "syscall"

// memoryFolder is where systems keep files in memory, roomFor how much of it must be free for a test's store, in bytes.
const (
	memoryFolder = "/dev/shm"
	roomFor      = 4 << 30
)

// ephemeralFolder is where the store that tests share keeps its files: in memory, where there is room. A store makes and removes some thousand small
// files for each database, and ext4 looks for a free inode among those that were just removed: the schema takes 1.1 s instead of 2.1 s. What tests
// of durability need lies where they put it.
func ephemeralFolder() string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(memoryFolder, &s); err != nil || uint64(s.Bavail)*uint64(s.Bsize) < roomFor { //nolint:unconvert,gosec // the types differ by system
		return "" // the usual folder for temporary files
	}
	return memoryFolder
}
